// Package agenthost knows the hosts that coding agents run in: how each reports its events to a
// hook, what an event means for the holds of a worktree, and how the answer is written so that this
// host understands it.
//
// It is pure: an event, the hold records and the time go in, a decision comes out. Whoever calls it
// reads the records, asks GitHub where the decision says so, and prints the answer.
package agenthost

import (
	"slices"
	"strings"
)

// A Host is a program that coding agents run in, by the name that the command line uses.
type Host string

// The hosts. Plugin is not a host: it is the package that Claude Code, Codex and Copilot CLI share,
// whose events say themselves which of them sent them.
const (
	ClaudeCode Host = "claude-code"
	Codex      Host = "codex"
	Gemini     Host = "gemini"
	Cursor     Host = "cursor"
	Copilot    Host = "copilot"
	OpenCode   Host = "opencode"
	Plugin     Host = "plugin"
)

// Hosts returns every host, in the order in which they are listed.
func Hosts() []Host { return []Host{ClaudeCode, Codex, Gemini, Cursor, Copilot, OpenCode} }

// Parse returns the host of that name; ok is false for any other word.
func Parse(name string) (h Host, ok bool) {
	h = Host(name)
	return h, h == Plugin || slices.Contains(Hosts(), h)
}

// A Session is one conversation in a host. The zero value is no session.
type Session struct {
	Host Host   `json:"host,omitempty"`
	ID   string `json:"session,omitempty"` // as the host says it
}

// IsZero reports whether s is no session.
func (s Session) IsZero() bool { return s == Session{} }

// String returns host:id.
func (s Session) String() string { return string(s.Host) + ":" + s.ID }

// maxRun leaves room in a firing id of 64 characters for a dash and a word of eight.
const maxRun = 55

// Run returns what the firing ids of the session's claims begin with: its id in the letters that a
// firing id may have. It is empty for a session without a usable id.
func (s Session) Run() string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, s.ID)
	id = strings.TrimLeft(id, "._-")

	return id[:min(len(id), maxRun)]
}

// Made reports whether the session made that firing id.
func (s Session) Made(firingID string) bool {
	run := s.Run()
	rest, ok := strings.CutPrefix(firingID, run+"-")
	return ok && run != "" && rest != "" && !strings.Contains(rest, "-")
}

// Made reports whether one of the sessions made that firing id.
func Made(all []Session, firingID string) bool {
	return slices.ContainsFunc(all, func(s Session) bool { return s.Made(firingID) })
}

// Nameless returns the host whose programs say which host they run in, but not in which session:
// commands of Gemini CLI, and servers of opencode. It is empty where there is none, or where the
// environment names sessions.
func Nameless(getenv func(string) string) Host {
	if len(Sessions(getenv)) > 0 {
		return ""
	}

	for _, h := range Hosts() {
		if getenv(h.Profile().Inside) != "" {
			return h
		}
	}

	return ""
}

// SessionVariable is what our opencode plugin gives to commands, as HOST:ID; other programs may set
// it as well.
const SessionVariable = "LABEL_STATE_SESSION"

// ParseSession reads HOST:ID; ok is false without a host that is known and an id.
func ParseSession(text string) (s Session, ok bool) {
	name, id, _ := strings.Cut(text, ":")
	h, known := Parse(name)
	s = Session{h, strings.TrimSpace(id)}
	return s, known && h != Plugin && s.Run() != ""
}

// Within is the environment of a program that runs in the session and in no other.
func Within(s Session, getenv func(string) string) func(string) string {
	values := map[string]string{SessionVariable: s.String()}
	for _, p := range profiles() {
		if p.Session != "" {
			values[p.Session] = ""
		}
	}

	return func(name string) string {
		if value, set := values[name]; set {
			return value
		}
		return getenv(name)
	}
}

// Sessions returns the sessions that the environment of a command names, without duplicates. Hosts
// nest: an agent that was started by another one's command inherits its variables, and which of two
// is the inner one cannot be told.
func Sessions(getenv func(string) string) []Session {
	var out []Session
	add := func(h Host, id string) {
		s := Session{h, strings.TrimSpace(id)}
		if s.Run() != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}

	if s, ok := ParseSession(getenv(SessionVariable)); ok {
		add(s.Host, s.ID)
	}

	for _, h := range Hosts() {
		add(h, getenv(h.Profile().Session))
	}

	return out
}
