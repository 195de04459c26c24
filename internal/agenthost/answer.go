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

// refusal is the denial of most hosts.
func refusal(e Event, why string) any {
	return nested{specific{Event: e.Name, Decision: "deny", Reason: why}}
}

func denied(e Event, why string) any {
	if deny := e.Host.Profile().denial; deny != nil {
		return deny(e, why)
	}
	return refusal(e, why)
}

// TakesContext reports whether the answer to the event may hold text for the model: what a host
// does not expect may void the answer.
func (e Event) TakesContext() bool {
	listens := e.Host.Profile().listens
	return listens != nil && listens(e)
}

// context is nil where the host takes none for the event.
func context(e Event, text string) any {
	key := e.Host.Profile().context
	switch {
	case !e.TakesContext():
		return nil
	case key != "":
		return map[string]string{key: text}
	}

	return nested{specific{Event: e.Name, Context: text}}
}
