package setup

import (
	"fmt"
	"strings"

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

// CheckSession refuses a LABEL_STATE_SESSION that is set and names no session of a host that is known. The error is a *SettingError.
func (e Environment) CheckSession() error {
	text := strings.TrimSpace(e.Getenv(agenthost.SessionVariable))
	if _, ok := agenthost.ParseSession(text); ok || text == "" {
		return nil
	}
	var hosts []string
	for _, h := range agenthost.Hosts() {
		hosts = append(hosts, string(h))
	}
	err := fmt.Errorf("%q names no session: want HOST:ID, and a host of %s", text, strings.Join(hosts, ", "))
	return &SettingError{Setting: agenthost.SessionVariable, Err: err, Do: "unset " + agenthost.SessionVariable}
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
