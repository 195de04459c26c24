package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/smallfile"
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
	Worktrees []string // tops of the worktrees in which it has claimed or keeps a hold
}

type sessionFile struct {
	Format    int      `json:"format"`
	Host      string   `json:"host"`
	Session   string   `json:"session"`
	Worktrees []string `json:"worktrees"`
}

// Sessions are those of agent hosts that have sent an event, one small file each in this user's state folder: that their hooks
// run, and in which worktrees they hold issues. The folder is made by the first write. The zero value has none: every call but Prune and Some fails.
type Sessions struct{ dir string }

// OpenSessions returns the sessions kept below a user's state folder. It touches nothing.
func OpenSessions(state string) Sessions { return Sessions{filepath.Join(state, "sessions")} }

// Load returns what is kept of a session; ok is false when nothing is.
func (s Sessions) Load(id agenthost.Session) (out Session, ok bool, err error) {
	name, err := s.name(id)
	if err != nil {
		return out, false, err
	}
	data, err := smallfile.Read(name, largestSession)
	var f sessionFile
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return out, false, nil
	case err != nil:
		return out, false, fmt.Errorf("read session %s: %s", name, smallfile.Reason(err))
	case f.Format != sessionFormat:
		return out, false, fmt.Errorf("read session %s: format %d, this version reads %d", name, f.Format, sessionFormat)
	case f.Host != string(id.Host) || f.Session != id.ID:
		return out, false, nil
	}
	return Session{id, f.Worktrees}, true, nil
}

// Some reports whether any session of the host has sent events and has not ended, or was killed within a week.
func (s Sessions) Some(h agenthost.Host) bool {
	found, err := filepath.Glob(filepath.Join(s.dir, string(h)+"@*.json"))
	return err == nil && len(found) > 0
}

// Add notes that the session sends events and, unless worktree is empty, that it has a hold there. What is known already is not
// written again.
func (s Sessions) Add(id agenthost.Session, worktree string) error {
	have, ok, err := s.Load(id)
	if err == nil && ok && (worktree == "" || slices.Contains(have.Worktrees, worktree)) {
		return nil
	}
	if worktree != "" {
		have.Worktrees = append(have.Worktrees, worktree)
	}
	name, err := s.name(id)
	if err != nil {
		return err
	}
	data, err := json.Marshal(sessionFile{sessionFormat, string(id.Host), id.ID, have.Worktrees})
	if err == nil {
		err = os.MkdirAll(s.dir, 0o700)
	}
	if err == nil {
		err = Replace(name, append(data, '\n'), 0o600)
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

// Prune forgets sessions of which nothing was written for a week. What goes wrong is left for the next time.
func (s Sessions) Prune(now time.Time) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".json" && now.Sub(info.ModTime()) > staleSession {
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
