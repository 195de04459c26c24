package agenthost

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Kind is what an event means here.
type Kind string

// The kinds. Ignored is an event that nothing follows from.
const (
	Ignored      Kind = "ignored"
	SessionStart Kind = "session-start"
	BeforeTool   Kind = "before-tool"
	AfterTool    Kind = "after-tool"
	Turn         Kind = "turn" // a heartbeat that is neither: a prompt, the end of a turn, a sub-agent
	SessionEnd   Kind = "session-end"
)

// A Call is what a tool call does.
type Call string

// The calls. Reads is every call that the fence lets through.
const (
	Reads     Call = "reads"
	Edits     Call = "edits"     // writes files
	Runs      Call = "runs"      // runs a command
	Publishes Call = "publishes" // pushes, or opens or merges a pull request
)

// An Event is one message of a host.
type Event struct {
	Host    Host
	Name    string // as the host says it; empty for Copilot's own form, which has none
	Kind    Kind
	Session Session
	Parent  string // the agent that this one is a sub-agent of, where the host gives each an id of its own
	Dir     string // where the agent works; may be empty
	Source  string // of a session's start
	Reason  string // of a session's end
	Tool    string
	Call    Call
	Vague   bool     // it publishes as far as the words go, and what it does is not known
	Changes bool     // the tool call may change something; what is not known may
	Paths   []string // files that an edit writes, as the host says them
	Dirs    []string // folders that a command works in, relative to Dir unless absolute; "" is Dir itself
}

// wire is an event as hosts send it. Text of prompts, files and results is not read.
type wire struct {
	SessionID      string          `json:"session_id"`
	SessionIDCamel string          `json:"sessionId"`
	Conversation   string          `json:"conversation_id"`
	AgentID        string          `json:"agentId"` // Copilot's, whose sub-agents have ids of their own
	ParentAgentID  string          `json:"parentAgentId"`
	Name           string          `json:"hook_event_name"`
	Cwd            string          `json:"cwd"`
	Roots          []string        `json:"workspace_roots"`
	Source         string          `json:"source"`
	Tool           string          `json:"tool_name"`
	ToolCamel      string          `json:"toolName"`
	Input          json.RawMessage `json:"tool_input"`
	Args           json.RawMessage `json:"toolArgs"`
	Command        string          `json:"command"` // Cursor's events of a shell
	File           string          `json:"file_path"`

	// Only whether they are there is looked at.
	Timestamp  json.RawMessage `json:"timestamp"`
	Transcript json.RawMessage `json:"transcript_path"`
	TurnID     json.RawMessage `json:"turn_id"`
	Model      json.RawMessage `json:"model"`
	Mode       json.RawMessage `json:"permission_mode"`
	Result     json.RawMessage `json:"toolResult"`
	Initial    json.RawMessage `json:"initialPrompt"`
	Reason     json.RawMessage `json:"reason"`
	Prompt     json.RawMessage `json:"prompt"`
	StopReason json.RawMessage `json:"stopReason"`
}

// Read returns the event that a host has sent. The name is the host that the hook was installed
// for; an event that is evidently another host's is that one's, because hosts read each other's
// files. Fields and events that are not known are ignored; the error says that the text is no event
// at all.
func Read(name Host, text []byte) (Event, error) {
	var w wire
	err := json.Unmarshal(text, &w)
	var kind *json.UnmarshalTypeError
	switch { // a decoder quotes the text
	case errors.As(err, &kind) && kind.Field != "":
		return Event{}, fmt.Errorf("read the event: %s has the wrong type", kind.Field)
	case err != nil:
		return Event{}, errors.New("read the event: it is not one JSON object")
	}

	h := w.host(name)
	if h == Cursor && len(w.Roots) > 0 {
		w.Cwd = w.Roots[0] // its cwd is not the repository
	}

	e := Event{
		Host:   h,
		Name:   w.Name,
		Dir:    w.Cwd,
		Source: w.Source,
		Reason: word(w.Reason),
		Tool:   cmp.Or(w.Tool, w.ToolCamel),
		Call:   Reads,
	}
	e.Session = Session{h, strings.TrimSpace(cmp.Or(w.SessionID, w.SessionIDCamel, w.Conversation))}
	if parent := strings.TrimSpace(w.ParentAgentID); parent != "" {
		e.Session.ID, e.Parent = cmp.Or(strings.TrimSpace(w.AgentID), e.Session.ID), parent
	}

	e.Kind = w.kind(h)
	if e.Kind == BeforeTool || e.Kind == AfterTool {
		e.call(w)
	}

	return e, nil
}

// host tells the host by what only its events have, where the name leaves it open.
func (w wire) host(name Host) Host {
	switch {
	case name != Plugin && name != ClaudeCode:
		return name
	case w.Conversation != "" && w.SessionID == "":
		return Cursor
	case w.Timestamp != nil && w.Transcript == nil, w.SessionIDCamel != "":
		return Copilot
	case w.TurnID != nil, w.Model != nil && w.Mode != nil:
		return Codex
	}

	return ClaudeCode
}

// kindOf is what an event means, by the names of all hosts.
func kindOf(name string) Kind {
	switch strings.ToLower(name) {
	case "sessionstart":
		return SessionStart
	case "sessionend":
		return SessionEnd
	case "pretooluse", "beforetool", "beforeshellexecution", "beforemcpexecution":
		return BeforeTool
	case "posttooluse", "posttoolusefailure", "aftertool", "aftershellexecution", "aftermcpexecution", "afterfileedit":
		return AfterTool
	case "userpromptsubmit", "userpromptsubmitted", "beforeagent", "beforesubmitprompt", "stop", "agentstop",
		"afteragent",
		"subagentstart", "subagentstop", "posttoolbatch":
		return Turn
	}

	return Ignored
}

// kind is the event's kind; Copilot's own form has no name and is told by its fields.
func (w wire) kind(h Host) Kind {
	switch {
	case w.Name != "" || h != Copilot:
		return kindOf(w.Name)
	case w.ToolCamel != "" && w.Result != nil:
		return AfterTool
	case w.ToolCamel != "":
		return BeforeTool
	case w.Source != "" || w.Initial != nil:
		return SessionStart
	case w.StopReason != nil || w.Prompt != nil:
		return Turn
	case w.Reason != nil:
		return SessionEnd
	}

	return Ignored
}

// call fills in what the tool call does. Cursor's events name no tool, and pull requests are opened
// by many.
func (e *Event) call(w wire) {
	in := read(w.Input)
	if w.Input == nil {
		in = read(w.Args)
	}

	command := cmp.Or(in["command"], in["cmd"], w.Command)
	name := strings.ToLower(e.Tool)
	switch name {
	case "edit", "write", "multiedit", "notebookedit", "replace",
		"write_file", "create", "delete", "patch", "str_replace_editor", "apply_patch":
		e.Call, e.Changes = Edits, true
		e.Paths = append(list(in["file_path"], in["filePath"], in["path"], in["notebook_path"]),
			patched(cmp.Or(command, in["patchText"]))...)
		return
	case "bash", "shell", "run_shell_command", "exec_command", "local_shell", "powershell":
		e.runs(command)
		return
	}

	e.Changes = !onlyReads(name)
	switch {
	case strings.EqualFold(e.Name, "beforeShellExecution"), strings.EqualFold(e.Name, "afterShellExecution"):
		e.runs(w.Command)
	case strings.EqualFold(e.Name, "afterFileEdit"):
		e.Call, e.Paths = Edits, list(w.File)
	case strings.HasSuffix(name, "create_pull_request"), strings.HasSuffix(name,
		"merge_pull_request"), strings.HasSuffix(name, "push_files"):
		e.Call = Publishes
	}
}

func (e *Event) runs(command string) {
	line := parseLine(command)
	e.Call, e.Dirs, e.Changes = Runs, line.dirs(), line.changes()
	switch {
	case line.harmless(), line.putsAside(): // also where it looks for "git push"
		e.Call = Reads
	case line.publishes():
		e.Call = Publishes
	case line.mayPublish():
		e.Call, e.Vague = Publishes, true
	case strings.Contains(command, patchStart):
		e.Call, e.Paths = Edits, patched(command)
	}
}

// read reads the texts among a tool's arguments, as far as they have the shape that is known.
func read(raw json.RawMessage) map[string]string {
	in := map[string]string{}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
		in["command"] = text // a patch without an object around it
	}

	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return in
	}

	for key, value := range all {
		if json.Unmarshal(value, &text) == nil {
			in[key] = text
		}
	}

	return in
}

// word is a JSON text, and empty for anything else.
func word(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// clears reports whether the event ends a session, or starts one, because a person has emptied the
// conversation: the same person goes on in the same process.
func (e Event) clears() bool {
	return e.Kind == SessionEnd && e.Reason == cleared || e.Kind == SessionStart && e.Source == cleared
}

// cleared is the word of the hosts that have such a command.
const cleared = "clear"

// list is the texts that are not empty.
func list(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// What a patch begins with, and what comes before its files.
const (
	patchStart = "*** Begin Patch"
	patchFile  = "*** "
)

// patched returns the files that a patch adds, changes, deletes or moves to.
func patched(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), patchFile)
		what, file, named := strings.Cut(rest, ": ")
		if !ok || !named {
			continue
		}

		switch what {
		case "Add File", "Update File", "Delete File", "Move to":
			out = append(out, list(strings.TrimSpace(file))...)
		}
	}

	return out
}
