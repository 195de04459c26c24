package agenthost

import (
	"bytes"
	_ "embed" // the skill and opencode's plugin
	"encoding/json"
)

var (
	//go:embed files/SKILL.md
	skill string
	//go:embed files/opencode.js
	openCodePlugin string
)

// Skill is what every host gives its model to read when it works on issues.
func Skill() string { return skill }

// OpenCodePlugin is the plugin file that hands opencode's events over.
func OpenCodePlugin() string { return openCodePlugin }

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

// Before a call of these tools the fence is asked, by the names of every host.
const (
	fencedClaude  = "Bash|Edit|Write|MultiEdit|NotebookEdit|apply_patch|.*pull_request|.*push_files"
	fencedGemini  = "run_shell_command|write_file|replace|.*pull_request|.*push_files"
	fencedCopilot = "bash|edit|create|apply_patch|.*pull_request|.*push_files"
	fencedCursor  = "Shell|Write|Edit|Delete"
)

// Hooks returns the events that a host's hooks hand over; opencode has a plugin instead.
func Hooks(h Host) []Hook {
	switch h {
	case ClaudeCode, Plugin:
		return []Hook{
			{"SessionStart", "", 10, false},
			{"UserPromptSubmit", "", 20, false},
			{"PreToolUse", fencedClaude, 10, false},
			{"PostToolUse", "", 20, true},
			{"PostToolUseFailure", "", 20, true},
			{"Stop", "", 20, false},
			{"SessionEnd", "", 3, false},
		}

	case Codex:
		return []Hook{
			{"SessionStart", "", 10, false},
			{"UserPromptSubmit", "", 20, false},
			{"PreToolUse", fencedClaude, 10, false},
			{"PostToolUse", "", 20, true},
			{"Stop", "", 20, false},
			{"SessionEnd", "", 3, false},
		}

	case Gemini:
		return []Hook{
			{"SessionStart", "", 10, false},
			{"BeforeAgent", "", 20, false},
			{"BeforeTool", fencedGemini, 10, false},
			{"AfterTool", "", 20, false},
			{"AfterAgent", "", 20, false},
			{"SessionEnd", "", 3, false},
		}

	case Copilot:
		return []Hook{
			{"sessionStart", "", 10, false},
			{"userPromptSubmitted", "", 20, false},
			{"preToolUse", fencedCopilot, 10, false},
			{"postToolUse", "", 20, false},
			{"agentStop", "", 20, false},
			{"sessionEnd", "", 3, false},
		}

	case Cursor:
		return []Hook{
			{"sessionStart", "", 10, false},
			{"preToolUse", fencedCursor, 10, false},
			{"beforeMCPExecution", "", 10, false},
			{"postToolUse", "", 20, false},
			{"stop", "", 20, false},
			{"sessionEnd", "", 3, false},
		}
	}

	return nil
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
		out = append(out, Entry{k.Event, encode(k.entry(h))})
	}
	return out
}

func (k Hook) entry(h Host) object {
	command := Command(h)
	switch h {
	case Cursor:
		return object{{"command", command}, {"matcher", k.Matcher}, {"timeout", k.Seconds}}.whole()
	case Copilot:
		return object{{"type", "command"}, {"matcher", k.Matcher}, {"bash", command}, {"timeoutSec", k.Seconds}}.whole()
	case Gemini:
		hook := object{
			{"name", "label-state"},
			{"type", "command"},
			{"command", command},
			{"timeout", 1000 * k.Seconds},
		}
		return object{{"matcher", k.Matcher}, {"hooks", []any{hook}}}.whole()
	}

	hook := object{{"type", "command"}, {"command", command}, {"timeout", k.Seconds}, {"async", k.Async}}.whole()
	return object{{"matcher", k.Matcher}, {"hooks", []any{hook}}}.whole()
}

// An object is a JSON object whose keys keep their order.
type object []member

type member struct {
	key   string
	value any
}

// whole leaves out what is empty or false.
func (o object) whole() object {
	var out object
	for _, m := range o {
		if m.value != "" && m.value != false {
			out = append(out, m)
		}
	}

	return out
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for n, m := range o {
		b.WriteByte("{,"[min(n, 1)])
		b.Write(encode(m.key))
		b.WriteByte(':')
		b.Write(encode(m.value))
	}

	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')

	return b.Bytes(), nil
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

// pretty is a whole file.
func pretty(v any) string {
	var b bytes.Buffer
	if json.Indent(&b, encode(v), "", "  ") != nil {
		return ""
	}
	return b.String() + "\n"
}

// HookFile is a file that has hooks and nothing else, as Copilot has them in a folder.
func HookFile(h Host) string {
	var events object
	for _, k := range Hooks(h) {
		events = append(events, member{k.Event, []any{k.entry(h)}})
	}

	file := object{{"hooks", events}}
	if h == Copilot || h == Cursor {
		file = object{{"version", 1}, {"hooks", events}}
	}

	return pretty(file)
}
