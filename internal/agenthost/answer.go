package agenthost

// An Answer is what a host is told. The zero Answer lets everything go on in silence.
type Answer struct {
	Deny    string   // why a tool call may not be made
	Context string   // for the model
	Notes   []string // for the reader of standard error, one line each
}

// Text returns the answer as the event's host understands it, with a line break, or nothing. A host
// drops an answer with a key that it does not know, so each has exactly its own.
func (a Answer) Text(e Event) string {
	var v any
	switch {
	case a.Deny != "":
		v = denied(e, "label-state: "+a.Deny)
	case a.Context != "":
		v = context(e, a.Context)
	}

	if v == nil {
		return ""
	}

	return string(encode(v)) + "\n"
}

// nested is the form of Claude Code, which Codex shares and Copilot reads.
type nested struct {
	Output specific `json:"hookSpecificOutput"`
}

type specific struct {
	Event    string `json:"hookEventName,omitempty"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

func denied(e Event, why string) any {
	switch e.Host {
	case Gemini:
		return map[string]string{"decision": "deny", "reason": why}
	case Cursor:
		return map[string]string{"permission": "deny", "user_message": why, "agent_message": why}
	case OpenCode:
		return map[string]string{"deny": why}
	case Copilot:
		if e.Name == "" {
			return map[string]string{"permissionDecision": "deny", "permissionDecisionReason": why}
		}
	}

	return nested{specific{Event: e.Name, Decision: "deny", Reason: why}}
}

// TakesContext reports whether the answer to the event may hold text for the model.
func (e Event) TakesContext() bool { return context(e, "text") != nil }

// context is nil where the host takes none for the event: what it does not expect may void the
// answer.
func context(e Event, text string) any {
	switch e.Host {
	case ClaudeCode, Codex:
		if e.Kind == SessionStart || e.Kind == BeforeTool || e.Kind == AfterTool || e.Name == "UserPromptSubmit" {
			return nested{specific{Event: e.Name, Context: text}}
		}

	case Gemini:
		if e.Kind == SessionStart && !e.Clears() || e.Kind == AfterTool || e.Name == "BeforeAgent" {
			return nested{specific{Event: e.Name, Context: text}}
		}

	case Copilot:
		if e.Kind == SessionStart || e.Kind == AfterTool {
			return map[string]string{"additionalContext": text}
		}

	case Cursor:
		if e.Kind == SessionStart {
			return map[string]string{"additional_context": text}
		}
	case OpenCode: // whose plugin adds to the system's text and to results
		if e.Kind == SessionStart || e.Kind == AfterTool {
			return map[string]string{"context": text}
		}
	}

	return nil
}
