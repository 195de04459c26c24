package agenthost

import (
	"bytes"
	_ "embed" // the skill and opencode's plugin
	"encoding/json"
	"fmt"
	"strings"
)

var (
	//go:embed files/SKILL.md
	skill string
	//go:embed files/opencode.js
	openCodePlugin string
)

// Skill is what every host gives its model to read when it works on issues.
func Skill() string { return skill }

// Command is the command line of a host's hooks. It never changes: Codex trusts a hook by the hash
// of its line. A host whose machine does not have the program goes on, where some would deny every
// call.
func Command(h Host) string {
	return "command -v label-state >/dev/null || exit 0; label-state agent event " + string(h)
}

// A Hook is one event of a host that its hooks hand over.
type Hook struct {
	Event   string
	Matcher string // of tools; empty is all
	Seconds int    // after which the host goes on without an answer
	Async   bool   // the host need not wait, where it can
}

// Hooks returns the events that a host's hooks hand over; opencode has a plugin instead.
func Hooks(h Host) (out []Hook) {
	p := h.Profile()
	for _, event := range p.events {
		kind := kindOf(event)
		k := Hook{
			Event:   event,
			Seconds: map[Kind]int{SessionStart: 10, BeforeTool: 10, AfterTool: 20, Turn: 20, SessionEnd: 3}[kind],
			Async:   kind == AfterTool,
		}
		if event == p.fence {
			k.Matcher = p.tools
		}

		out = append(out, k)
	}

	return out
}

// An Entry is what stands below an event in a host's file of hooks.
type Entry struct {
	Event string
	Value json.RawMessage
}

// Entries returns a host's hooks as its file has them: one entry below each event.
func Entries(h Host) []Entry {
	var out []Entry
	for _, k := range Hooks(h) {
		out = append(out, Entry{k.Event, encode(h.Profile().entry(Command(h), k))})
	}
	return out
}

// An entry is a hook, or a group of them, by the names of all hosts.
type entry struct {
	Name       string  `json:"name,omitempty"`
	Type       string  `json:"type,omitempty"`
	Command    string  `json:"command,omitempty"`
	Matcher    string  `json:"matcher,omitempty"`
	Bash       string  `json:"bash,omitempty"`
	Timeout    int     `json:"timeout,omitempty"`
	TimeoutSec int     `json:"timeoutSec,omitempty"`
	Async      bool    `json:"async,omitempty"`
	Hooks      []entry `json:"hooks,omitempty"`
}

// grouped is the form of Claude Code.
func grouped(command string, k Hook) entry {
	hook := entry{
		Type:    "command",
		Command: command,
		Timeout: k.Seconds,
		Async:   k.Async,
	}
	return entry{Matcher: k.Matcher, Hooks: []entry{hook}}
}

// encode writes JSON as people would type it, with > and & as they are.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return json.RawMessage("null")
	}

	return bytes.TrimRight(b.Bytes(), "\n")
}

// HookFile is a file that has hooks and nothing else, as Copilot has them in a folder.
func HookFile(h Host) string {
	var events []string
	for _, e := range Entries(h) {
		events = append(events, fmt.Sprintf("%q:[%s]", e.Event, e.Value))
	}

	text := `"hooks":{` + strings.Join(events, ",") + "}"
	if h.Profile().Version {
		text = `"version":1,` + text
	}

	var b bytes.Buffer
	if json.Indent(&b, []byte("{"+text+"}"), "", "  ") != nil {
		return ""
	}

	return b.String() + "\n"
}
