package agentsetup_test

import (
	"os"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/agentsetup"
)

// TestOwnHookBesideOurs: a hook that its user has put into our group, or that only speaks of our command, stays when ours are installed once
// more, upgraded or taken away.
func TestOwnHookBesideOurs(t *testing.T) {
	const own = `{"type": "command", "command": "my-linter"}, `
	spoken := func(command string) string { return strings.Replace(own, "my-linter", command, 1) }
	for _, h := range []agenthost.Host{agenthost.ClaudeCode, agenthost.Codex, agenthost.Gemini, agenthost.Cursor} {
		for name, text := range map[string]string{
			"own": own, "speaks of ours": spoken("echo run label-state agent event later"),
			"begins as ours": spoken(agenthost.Command(h) + " >>log"), "not a command": `"label-state agent event ` + string(h) + `", `,
		} {
			p := place(t, true)
			file := install(t, p, h)[0].Path
			first := tree(t, file)[file]
			at := strings.LastIndex(first[:strings.Index(first, agenthost.Command(h))], "{")
			edited := first[:at] + text + first[at:]
			put(t, file, edited)
			if steps := install(t, p, h); steps[0].Kind != agentsetup.Same {
				t.Errorf("%s, %s: installed again: %s", h, name, steps[0].Kind)
			}
			if got := tree(t, file)[file]; got != edited {
				t.Errorf("%s, %s: installed again:\n%s", h, name, got)
			}
			uninstall(t, p, h) // untouched since it was noted
			left := tree(t, file)[file]
			if strings.Contains(left, `"`+agenthost.Command(h)+`"`) || !strings.Contains(left, strings.TrimRight(text, ", ")) {
				t.Errorf("%s, %s: uninstalled:\n%s", h, name, left)
			}
			put(t, file, strings.Replace(edited, "SessionEnd", "Elsewhere", 1)) // as another version would write it
			install(t, p, h)
			got := tree(t, file)[file]
			if n := strings.Count(got, `"`+strings.ReplaceAll(agenthost.Command(h), `"`, `\"`)+`"`); n != len(agenthost.Hooks(h)) || !strings.Contains(got, strings.TrimRight(text, ", ")) {
				t.Errorf("%s, %s: upgraded, %d hooks of ours:\n%s", h, name, n, got)
			}
			if err := os.RemoveAll(p.State); err != nil { // without a note of what was there
				t.Fatal(err)
			}
			uninstall(t, p, h)
			if left := tree(t, file)[file]; strings.Contains(left, `"`+agenthost.Command(h)+`"`) || !strings.Contains(left, strings.TrimRight(text, ", ")) {
				t.Errorf("%s, %s: uninstalled without notes:\n%s", h, name, left)
			}
		}
	}
}
