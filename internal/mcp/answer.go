package mcp

import (
	"encoding/json"
)

// An answer is the structured result of every tool. Result and results are the JSON objects of the
// command line (docs/cli.md), unchanged.
type answer struct {
	Answer    string            `json:"answer"`
	Code      int               `json:"exit_code"`
	Error     string            `json:"error,omitempty"`
	Hint      string            `json:"hint,omitempty"`
	Result    json.RawMessage   `json:"result,omitempty"`
	Results   []json.RawMessage `json:"results,omitempty"`
	Notes     []string          `json:"notes,omitempty"`
	Untrusted []string          `json:"untrusted,omitempty"`
}

// The answers, by exit code (cli.md#exit-codes): no work is a no.
var answers = [...]string{"yes", "no", "wrong", "unknown", "no"}

const (
	codeYes    = 0
	codeCalled = 2
)

// answerTo is what a tool says to an outcome.
func answerTo(t tool, o Outcome) answer {
	a := answer{Answer: "unknown", Code: o.Code, Error: o.Problem, Hint: o.Hint, Notes: o.Notes}
	if o.Code >= 0 && o.Code < len(answers) {
		a.Answer = answers[o.Code]
	}
	switch {
	case t.many && o.Code == codeYes:
		a.Results = append([]json.RawMessage{}, o.Objects...)
		a.Untrusted = below("results.", t.untrusted)
	case len(o.Objects) > 0:
		a.Result = o.Objects[len(o.Objects)-1]
		a.Untrusted = below("result.", t.untrusted)
	}
	if a.Code != codeYes && (a.Error != "" || a.Result != nil) {
		a.Untrusted = []string{"error", "result"}
	}
	if len(a.Notes) > 0 {
		a.Untrusted = append(a.Untrusted, "notes")
	}
	var said struct {
		Answer string `json:"answer"`
	}
	if t.waits != "" && a.Answer == "unknown" && json.Unmarshal(a.Result, &said) == nil && said.Answer == t.waits { // neither a no nor trouble
		a.Answer, a.Hint = waiting, "nobody has decided yet: call "+t.name+" again"
	}
	return a
}

// waiting is the answer when a call has waited for others and they have not decided.
const waiting = "waiting"

func below(prefix string, paths []string) []string {
	var out []string
	for _, p := range paths {
		out = append(out, prefix+p)
	}
	return out
}

// json is the answer on the wire, with nothing in it that does not show.
func (a answer) json() (json.RawMessage, error) {
	data, err := json.Marshal(a)
	return visible(data), err
}
