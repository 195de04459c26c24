package setup

import (
	"cmp"
	"errors"
	"path/filepath"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/state"
)

// Session is the session of an agent host that the program runs in; the zero Session when there is none, and when several are
// around it, which all names, and nothing says which one asks. LABEL_STATE_CODENAME with a host's name does.
func (e Environment) Session() (one agenthost.Session, all []agenthost.Session) {
	all = agenthost.Sessions(e.Getenv)
	if len(all) == 1 {
		return all[0], all
	}
	for _, s := range all {
		if string(s.Host) == e.Getenv("LABEL_STATE_CODENAME") {
			return s, all
		}
	}
	return agenthost.Session{}, all
}

// SessionFiles is where this user's sessions of agent hosts are kept.
func (e Environment) SessionFiles() (state.Sessions, error) {
	dir, err := e.StateDir()
	if err != nil {
		return state.Sessions{}, err
	}
	return state.OpenSessions(dir), nil
}

// Heartbeats reports whether the session's host sends its events, so that a lease is renewed without being asked for.
func (e Environment) Heartbeats(s agenthost.Session) bool {
	files, err := e.SessionFiles()
	if err != nil || s.IsZero() {
		return false
	}
	_, ok, err := files.Load(s)
	return ok && err == nil
}

// HostName is the host that the program runs in, when it is inside a session and nothing leaves open which; else it is empty.
func (e Environment) HostName() string {
	if s, _ := e.Session(); !s.IsZero() {
		return string(s.Host)
	}
	return string(agenthost.Nameless(e.Getenv))
}

// inSession are a configuration's settings for who asks from within a session: its name in the firing ids it makes, and
// a short lease where the host's events renew it.
func (e Environment) inSession(c config.Config) ledger.Settings {
	set := c.Settings()
	s, _ := e.Session()
	set.Run = s.Run()
	nameless := agenthost.Nameless(e.Getenv) // a host that does not say in which session
	files, err := e.SessionFiles()
	if e.Heartbeats(s) || nameless != "" && err == nil && files.Some(nameless) {
		set.Lease = min(c.Sessions.TTL, c.Claim.MaxTTL)
	}
	return set
}

// remember records a hold. A new claim of a worktree takes the place of those that were lost there.
func (e Environment) remember(store state.Holds, h ledger.Hold) error {
	now := time.Now()
	renewed := h.Extended()
	if renewed.IsZero() {
		renewed = now
	}
	beat := state.Beat{Claimed: now, Renewed: renewed}
	known, again, _ := store.Load(h.Issue) // one that cannot be read is replaced
	again = again && known.Worker == h.Record.Worker
	if again {
		beat.Host, beat.Session = known.Beat.Host, known.Beat.Session
		beat.Claimed = cmp.Or(known.Beat.Claimed, beat.Claimed)
	}
	if s, _ := e.Session(); !s.IsZero() && !e.Server {
		beat.Host, beat.Session = string(s.Host), s.ID
	}
	err := store.Save(state.Hold{
		Issue: h.Issue, Worker: h.Record.Worker, Comment: h.Comment, URL: h.URL, Token: h.Token,
		TTL: cmp.Or(h.Lease(), h.Record.TTL), Branch: h.Record.Branch, Until: h.Until, Beat: beat,
	})
	if err != nil {
		return err
	}
	if !again {
		err = forgetLost(store, h.Issue, now)
	}
	// The worktree is noted for a session whose host sends events. That it cannot be noted costs heartbeats from other folders, and is
	// no reason to fail.
	s := agenthost.Session{Host: agenthost.Host(beat.Host), ID: beat.Session}
	files, missing := e.SessionFiles()
	if missing != nil || s.IsZero() || !e.Heartbeats(s) {
		return err
	}
	if top, outside := state.Top(e.Dir); outside == nil {
		_ = files.Add(s, filepath.Clean(top))
	}
	return err
}

// forgetLost removes the records of holds that are known to be lost or expired, but for the issue's own.
func forgetLost(store state.Holds, but claim.Issue, now time.Time) error {
	holds, _ := store.All() // what cannot be read stays, and is said elsewhere
	var errs []error
	for _, h := range holds {
		over := h.Beat.Lost != "" || h.TTL >= 0 && !h.Beat.Renewed.IsZero() && now.After(h.Beat.Renewed.Add(h.TTL))
		if over && !h.Issue.Same(but) {
			errs = append(errs, store.Remove(h.Issue))
		}
	}
	return errors.Join(errs...)
}
