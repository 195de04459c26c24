package setup

import (
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/process"
	"github.com/label-state/label-state/internal/state"
)

// Session is the session of an agent host that the program runs in: the one whose host's process is
// the nearest above this program, else the one that the environment names. It is the zero Session
// when there is none, and when several are around it, which all names, and nothing says which one
// asks. LABEL_STATE_CODENAME with a host's name does.
func (e Environment) Session() (one agenthost.Session, all []agenthost.Session) {
	all = agenthost.Sessions(e.Getenv)
	if near, ok := e.nearest(all); ok {
		if !slices.Contains(all, near) {
			all = append(all, near)
		}
		return near, all
	}
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

// recording is the session that a hold is recorded for: the one that the program runs in. Of a
// server, which may outlive the session that its environment names, it is the one whose host's
// process is the nearest. Where it is the zero Session, the next event about the worktree tells.
func (e Environment) recording() agenthost.Session {
	if e.Server {
		near, _ := e.nearest(agenthost.Sessions(e.Getenv))
		return near
	}
	one, _ := e.Session()
	return one
}

// nearest is the session that the nearest process above this program is the host of. A process may
// host several: of those it is the one that the environment names. Sub-agents, and servers that a
// host started for an earlier session, are told by their process alone.
func (e Environment) nearest(named []agenthost.Session) (agenthost.Session, bool) {
	if e.Processes == nil {
		return agenthost.Session{}, false
	}

	files, _ := e.SessionFiles() // without a state folder none is known
	known := slices.DeleteFunc(files.All(), func(s state.Session) bool {
		// Cursor is an editor, which people's terminals are below as well
		return s.Process.IsZero() || !s.Ended.IsZero() || s.Host == agenthost.Cursor
	})

	if len(known) == 0 {
		return agenthost.Session{}, false
	}

	for p := range e.Processes.Above() {
		var here []agenthost.Session
		for _, s := range known {
			if s.Process == p.ID {
				here = append(here, s.Session)
			}
		}

		if len(here) == 0 {
			continue
		}

		if len(here) > 1 {
			here = slices.DeleteFunc(here, func(s agenthost.Session) bool { return !slices.Contains(named, s) })
		}

		if len(here) != 1 || !e.Server && overruled(here[0].Host, named) {
			return agenthost.Session{}, false
		}

		return here[0], true
	}

	return agenthost.Session{}, false
}

// overruled reports whether a host's commands name their session, and the environment of this one
// has only others' names: somebody has set them.
func overruled(h agenthost.Host, named []agenthost.Session) bool {
	p := h.Profile()
	return p.Session != "" && p.Inside == "" && len(named) > 0 &&
		!slices.ContainsFunc(named, func(s agenthost.Session) bool { return s.Host == h })
}

// Whose says who may act under a hold that this worktree has recorded.
type Whose int

// The answers. The zero value is that whoever asks may.
const (
	Own    Whose = iota // the session that asks, or there is none, and no live one has it
	Others              // another session, which is at work as far as this machine knows
	Left                // nobody: the session that had it has ended
	Either              // a session of the host, whose commands do not tell theirs: the one that asks, or one before it
)

// Whose tells whether a recorded hold is of the session that asks (docs/agents.md#live-sessions). A
// hold belongs to the session that claimed it. Who asks outside of every session is the person
// whose worktree it is.
func (e Environment) Whose(h state.Hold) Whose {
	its := h.Session
	_, around := e.Session()
	nameless := agenthost.Nameless(e.Getenv)
	others := Others
	if len(around) == 0 && nameless == its.Host {
		others = Either
	}

	switch {
	case its.IsZero(), slices.Contains(around, its):
		return Own
	case !h.Ended.IsZero():
		return Left
	}

	files, err := e.SessionFiles()
	if err != nil {
		return others
	}

	kept, known, err := files.Load(its)
	switch {
	case err != nil:
		return others
	case !known && len(around) == 0 && nameless == "": // it has never sent an event
		return Own
	case e.Processes == nil || kept.Process.IsZero():
		return others
	case e.Server && e.below(kept.Process): // a server serves every session of its host
		return Own
	case e.Processes.Gone(kept.Process):
		return Left
	}

	return others
}

// below reports whether the process is one of those above this program.
func (e Environment) below(p process.ID) bool {
	for above := range e.Processes.Above() {
		if above.ID == p {
			return true
		}
	}
	return false
}

// InSession reports whether the program runs in a session of an agent host, whichever that is.
func (e Environment) InSession() bool {
	_, around := e.Session()
	return len(around) > 0 || agenthost.Nameless(e.Getenv) != ""
}

// CheckSession refuses a LABEL_STATE_SESSION that is set and names no session of a host that is
// known. The error is an answer.Config.
func (e Environment) CheckSession() error {
	text := strings.TrimSpace(e.Getenv(agenthost.SessionVariable))
	if _, ok := agenthost.ParseSession(text); ok || text == "" {
		return nil
	}

	var hosts []string
	for _, h := range agenthost.Hosts() {
		hosts = append(hosts, string(h))
	}

	return unusable(agenthost.SessionVariable, "unset "+agenthost.SessionVariable,
		"%q names no session: expected HOST:ID, and a host of %s", text, strings.Join(hosts, ", "))
}

// SessionFiles is where this user's sessions of agent hosts are kept.
func (e Environment) SessionFiles() (state.Sessions, error) {
	dir, err := e.StateDir()
	if err != nil {
		return state.Sessions{}, err
	}
	return state.OpenSessions(dir), nil
}

// Heartbeats reports whether the session's host sends its events, so that a lease is renewed
// without being asked for.
func (e Environment) Heartbeats(s agenthost.Session) bool {
	files, _ := e.SessionFiles() // without a state folder none is known
	_, ok, err := files.Load(s)
	return ok && err == nil
}

// HostName is the host that the program runs in, when it is inside a session and nothing leaves
// open which; else it is empty.
func (e Environment) HostName() string {
	if s, _ := e.Session(); !s.IsZero() {
		return string(s.Host)
	}
	return string(agenthost.Nameless(e.Getenv))
}
