package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestLimits: what is longer than anybody could mean is refused with a short error, and nothing is
// run.
func TestLimits(t *testing.T) {
	many := make([]string, 101)
	for n := range many {
		many[n] = "x"
	}

	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string // of the error; empty when it is run
	}{
		{"claim", map[string]any{"issue": strings.Repeat("a", 4096)}, ""},
		{
			"claim",
			map[string]any{"issue": strings.Repeat("a", 4097)},
			`claim: argument "issue": 4097 bytes, at most 4096 are allowed`,
		},
		{"list", map[string]any{"label": many[:100]}, ""},
		{"list", map[string]any{"label": many}, `list: argument "label": 101 values, at most 100 are allowed`},
		{
			"list",
			map[string]any{"label": []string{strings.Repeat("a", 5000)}},
			`list: argument "label": 5000 bytes, at most 4096 are allowed`,
		},
		{"plan", map[string]any{"issue": "1", "body": strings.Repeat("a", 256<<10)}, ""},
		{
			"plan",
			map[string]any{"issue": "1", "body": strings.Repeat("a", 256<<10+1)},
			`plan: argument "body": 262145 bytes, at most 262144 are allowed`,
		},
		{"claim", map[string]any{"issue": "1", strings.Repeat("a", 5000): 1}, `unknown argument "` +
			strings.Repeat("a", 80) + `…"`},
	} {
		var s stand
		r, err := connect(t, s.options()).CallTool(t.Context(),
			&sdk.CallToolParams{Name: c.tool, Arguments: c.arguments})
		if err != nil {
			t.Fatal(err)
		}

		got := read(t, r)
		if !strings.Contains(got.Error, c.want) || (c.want == "") != (got.Error == "") ||
			(s.words == nil) != (c.want != "") || len(got.Error) > 300 {
			t.Errorf("%s: %.200q, want %q; ran %v", c.tool, got.Error, c.want, s.words != nil)
		}
	}
}
