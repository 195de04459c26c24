package mcp

import (
	"encoding/json"

	"github.com/label-state/label-state/internal/printable"
)

// A result is the structured result of every tool. Result and results are what the verb answered,
// whose JSON is that of the command line (docs/cli.md).
type result struct {
	Answer    string   `json:"answer"`
	Code      int      `json:"exit_code"`
	Error     string   `json:"error,omitempty"`
	Hint      string   `json:"hint,omitempty"`
	Result    any      `json:"result,omitempty"`
	Results   []any    `json:"results,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Untrusted []string `json:"untrusted,omitempty"`
}

// The answers, by exit code (cli.md#exit-codes): no work is a no.
var answers = [...]string{"yes", "no", refused, "unknown", "no"}

// refused is the answer to a wrong call, in the word of the command line.
const refused = "refused"

// waiting is the answer when a call has waited for others and they have not decided.
const waiting = "waiting"

// json is the answer on the wire, with nothing in it that does not show.
func (a result) json() (json.RawMessage, error) {
	data, err := json.Marshal(a)
	return printable.JSON(data), err
}
