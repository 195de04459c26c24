package setup

import (
	"github.com/label-state/label-state/internal/agenthost"
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
