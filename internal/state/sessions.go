package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/process"
)

// sessionFormat is the version of the file. A newer one is refused.
const sessionFormat = 1

// staleSession is how long the file of a session that never said that it ended is kept.
const staleSession = 7 * 24 * time.Hour

// largestSession is the size of a file above which it is not ours.
const largestSession = 1 << 16

// A Session is what is kept of one.
type Session struct {
	agenthost.Session
	// tops of the worktrees in which it has claimed or keeps a hold
	Worktrees []string   `json:"worktrees"`
	Process   process.ID `json:"process,omitzero"` // of the host; zero when that is not known
	Ended     time.Time  `json:"ended,omitzero"`   // with holds that are left, while the process may go on
	// its events came from several processes, none of which is the host's for sure
	Scattered bool     `json:"scattered,omitempty"`
	Agents    []string `json:"agents,omitempty"` // ids by which its host names the session's sub-agents
}

type sessionFile struct {
	Format int `json:"format"`
	Session
}

// Sessions are those of agent hosts that have sent an event, one small file each in this user's
// state folder: that their hooks run, in which process, and in which worktrees they hold issues.
// The folder is made by the first write. The zero value has none: every call but Prune, Some and
// All fails.
type Sessions struct{ dir string }

// OpenSessions returns the sessions kept below a user's state folder. It touches nothing.
func OpenSessions(state string) Sessions { return Sessions{filepath.Join(state, "sessions")} }

// Load returns what is kept of a session; ok is false when nothing is.
func (s Sessions) Load(id agenthost.Session) (out Session, ok bool, err error) {
	name, err := s.name(id)
	if err == nil {
		out, err = readSession(name)
	}

	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Session{}, false, nil
	case err != nil:
		return Session{}, false, err
	case out.Session != id: // of another session whose id has the same letters
		return Session{}, false, nil
	}

	return out, true, nil
}

// readSession reads one file. Of errors fs.ErrNotExist is told apart.
func readSession(name string) (Session, error) {
	var f sessionFile
	err := readJSON(name, largestSession, &f)
	if err == nil && f.Format != sessionFormat {
		err = fmt.Errorf("format %d, this version reads %d", f.Format, sessionFormat)
	}

	if err != nil {
		return Session{}, fmt.Errorf("read session %s: %w", name, err)
	}

	return f.Session, nil
}

// All returns the sessions that have sent events and have not ended, or were killed within a week.
// What cannot be read is left out.
func (s Sessions) All() []Session {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil
	}

	var out []Session
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		if one, err := readSession(filepath.Join(s.dir, e.Name())); err == nil {
			out = append(out, one)
		}
	}

	return out
}

// Root returns the session that the agent with that id acts for: the session itself, or the one
// whose sub-agent it is. An id that nobody has named is a session.
func (s Sessions) Root(id agenthost.Session) agenthost.Session {
	if _, known, _ := s.Load(id); known {
		return id
	}

	for _, one := range s.All() {
		if one.Host == id.Host && slices.Contains(one.Agents, id.ID) {
			return one.Session
		}
	}

	return id
}

// Some reports whether any session of the host has sent events and has not ended, or was killed
// within a week.
func (s Sessions) Some(h agenthost.Host) bool {
	found, err := filepath.Glob(filepath.Join(s.dir, string(h)+"@*.json"))
	return err == nil && len(found) > 0
}

// Add notes that the session sends events and, unless worktree is empty, that it has a hold there.
func (s Sessions) Add(id agenthost.Session, worktree string) error {
	return s.Change(id, func(one *Session) {
		if worktree != "" && !slices.Contains(one.Worktrees, worktree) {
			one.Worktrees = append(one.Worktrees, worktree)
		}
	})
}

// Change notes what do changes of the session, which it is given as it is kept, or new: lists grow
// or are replaced. Nothing is written when nothing changes.
func (s Sessions) Change(id agenthost.Session, do func(*Session)) error {
	have, ok, err := s.Load(id)
	if err != nil {
		return err
	}

	have.Session = id
	now := have
	do(&now)
	if ok && reflect.DeepEqual(have, now) {
		return nil
	}

	name, _ := s.name(id) // as Load has it
	err = os.MkdirAll(s.dir, 0o700)
	if err == nil {
		err = writeJSON(name, sessionFile{sessionFormat, now})
	}

	if err != nil {
		return fmt.Errorf("note session: %w", err)
	}

	return nil
}

// Remove forgets a session; nothing kept is a success.
func (s Sessions) Remove(id agenthost.Session) error {
	name, err := s.name(id)
	if err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget session: %w", err)
	}

	return nil
}

// Prune forgets sessions of which nothing was written for a week. What goes wrong is left for the
// next time.
func (s Sessions) Prune(now time.Time) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}

	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".json" &&
			now.Sub(info.ModTime()) > staleSession {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

// name is the file of a session. A session's id leads to no other folder, because Run has no slash.
func (s Sessions) name(id agenthost.Session) (string, error) {
	run := id.Run()
	if s.dir == "" {
		return "", errors.New("no state folder is known")
	}
	if run == "" || strings.ContainsAny(string(id.Host), `/\.`) {
		return "", fmt.Errorf("session %q has no id", id)
	}

	return filepath.Join(s.dir, string(id.Host)+"@"+run+".json"), nil
}
