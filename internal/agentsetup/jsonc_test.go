package agentsetup

import (
	"bytes"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/agenthost"
)

// TestAnyText: whatever object a file holds, it is still one with our hooks, comments included, and
// without them again.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := []byte(rapid.StringMatching(`( |\n)?\{( |\n|/\*c\*/)?("hooks": ?\{("PreToolUse": ?\[(1(,2)?,?( // e\n)?)?\],?)?\},?)?( |// d\n)?\}\n?`).Draw(r, "text"))
		with, err := withHooks(text, agenthost.Codex)
		if err != nil {
			r.Fatal(err)
		}

		if n := bytes.Count(with, []byte(mark)); n != len(agenthost.Hooks(agenthost.Codex)) {
			r.Errorf("%d hooks", n)
		}
		without, found, err := withoutHooks(with, agenthost.Codex)
		if err != nil || !found || bytes.Contains(without, []byte(mark)) {
			r.Fatalf("%v, %v\n%s", found, err, without)
		}

		for _, out := range [][]byte{with, without} {
			if _, err := hujson.Parse(out); err != nil {
				r.Fatalf("%v\n%s", err, out)
			}

			for _, comment := range []string{"/*c*/", "// d", "// e"} {
				if bytes.Contains(text, []byte(comment)) && !bytes.Contains(out, []byte(comment)) {
					r.Errorf("%s is gone:\n%s", comment, out)
				}
			}
		}
	})
}
