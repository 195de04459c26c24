package agentsetup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/agentsetup"
)

// TestOwnHookBesideOurs: a hook that its user has put into our group, or that only speaks of our
// command, stays when ours are installed once more, upgraded or taken away.
func TestOwnHookBesideOurs(t *testing.T) {
	const own = `{"type": "command", "command": "my-linter"}, `
	spoken := func(command string) string { return strings.Replace(own, "my-linter", command, 1) }
	for _, h := range []agenthost.Host{agenthost.ClaudeCode, agenthost.Codex, agenthost.Gemini, agenthost.Cursor} {
		for name, text := range map[string]string{
			"own": own, "speaks of ours": spoken("echo run label-state agent event later"),
			"begins as ours": spoken(agenthost.Command(h) + " >>log"), "not a command": `"label-state agent event ` +
				string(h) + `", `,
		} {
			p := place(t, true)
			file := install(t, p, h)[0].Path
			first := tree(t, file)[file]
			at := strings.LastIndex(first[:strings.Index(first, agenthost.Command(h))], "{")
			edited := first[:at] + text + first[at:]
			put(t, file, edited)

			for range 2 { // the second has the notes of the first
				if steps := install(t, p, h); steps[0].Kind != agentsetup.Same {
					t.Errorf("%s, %s: installed again: %s", h, name, steps[0].Kind)
				}
			}

			if got := tree(t, file)[file]; got != edited {
				t.Errorf("%s, %s: installed again:\n%s", h, name, got)
			}
			uninstall(t, p, h) // untouched since it was noted
			left := tree(t, file)[file]
			if strings.Contains(left, `"`+agenthost.Command(h)+`"`) ||
				!strings.Contains(left, strings.TrimRight(text, ", ")) {
				t.Errorf("%s, %s: uninstalled:\n%s", h, name, left)
			}

			put(t, file, strings.Replace(edited, "SessionEnd", "Elsewhere", 1)) // as another version would write it
			install(t, p, h)
			got := tree(t, file)[file]
			if n := strings.Count(got, `"`+strings.ReplaceAll(agenthost.Command(h), `"`, `\"`)+
				`"`); n != len(agenthost.Hooks(h)) || !strings.Contains(got, strings.TrimRight(text, ", ")) {
				t.Errorf("%s, %s: upgraded, %d hooks of ours:\n%s", h, name, n, got)
			}

			if err := os.RemoveAll(p.State); err != nil { // without a note of what was there
				t.Fatal(err)
			}
			uninstall(t, p, h)
			if left := tree(t, file)[file]; strings.Contains(left, `"`+agenthost.Command(h)+`"`) ||
				!strings.Contains(left, strings.TrimRight(text, ", ")) {
				t.Errorf("%s, %s: uninstalled without notes:\n%s", h, name, left)
			}
		}
	}
}

// TestHookTwice: of a hook of ours that is in a file twice, and so runs twice, one is left.
func TestHookTwice(t *testing.T) {
	for _, h := range []agenthost.Host{agenthost.ClaudeCode, agenthost.Cursor} {
		p := place(t, true)
		file := install(t, p, h)[0].Path
		first := tree(t, file)[file]
		at := strings.LastIndex(first[:strings.Index(first, agenthost.Command(h))], "{")
		end := at + strings.Index(first[at:], "}") + 1
		put(t, file, first[:end]+", "+first[at:])

		install(t, p, h)
		if got := strings.Count(tree(t, file)[file], agenthost.Command(h)); got != len(agenthost.Hooks(h)) {
			t.Errorf("%s: %d hooks of ours", h, got)
		}

		if err := os.RemoveAll(p.State); err != nil { // without a note of what was there
			t.Fatal(err)
		}
		uninstall(t, p, h)
		if left := tree(t, file)[file]; strings.Contains(left, "hooks") {
			t.Errorf("%s: left: %s", h, left)
		}
	}
}

// TestKeyTwice: of a key that stands twice in an object a host reads one, and nobody says which.
// Such a file is left alone.
func TestKeyTwice(t *testing.T) {
	for name, text := range map[string]string{
		"at the top": `{"hooks":{"PreToolUse":[]},"hooks":{"PreToolUse":[]}}`,
		"an event":   `{"hooks":{"PreToolUse":[],"Pre\u0054oolUse":[]}}`,
		"in a group": `{"hooks":{"PreToolUse":[{"hooks":[],"hooks":[]}]}}`,
	} {
		p := place(t, false)
		file := filepath.Join(p.Root, ".claude", "settings.json")
		put(t, file, text)

		for verb, look := range map[string]func(agenthost.Host) ([]agentsetup.Step, error){
			"install":   p.Install,
			"uninstall": p.Uninstall,
		} {
			if steps, err := look(agenthost.ClaudeCode); err == nil ||
				!strings.Contains(err.Error(), "settings.json: the key ") ||
				!strings.Contains(err.Error(), "appears twice in one object") {
				t.Errorf("%s, %s: %d steps, %v", name, verb, len(steps), err)
			}
		}
	}
}

// TestSwitchedOff: Claude Code's hooks are off where the first of its files that has the setting
// says so.
func TestSwitchedOff(t *testing.T) {
	const off, on = `{"disableAllHooks": true}`, "{\"disableAllHooks\": false} // mine\n"
	for name, c := range map[string]struct{ local, project, user, want string }{
		"nothing said":     {"{}", "{", "", ""},
		"by the user":      {"", "{}", off, "home/.claude/settings.json"},
		"by the project":   {"", off, on, "app/.claude/settings.json"},
		"by this clone":    {off, on, on, "app/.claude/settings.local.json"},
		"on in this clone": {on, off, off, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := place(t, false)
			dir := filepath.Dir(p.Home)
			put(t, filepath.Join(p.Root, ".claude", "settings.local.json"), c.local)
			put(t, filepath.Join(p.Root, ".claude", "settings.json"), c.project)
			put(t, filepath.Join(p.Home, ".claude", "settings.json"), c.user)
			want := c.want
			if want != "" {
				want = filepath.Join(dir, filepath.FromSlash(want))
			}

			if got := p.SwitchedOff(agenthost.ClaudeCode); got != want {
				t.Errorf("%q, want %q", got, want)
			}

			if got := p.SwitchedOff(agenthost.Codex); got != "" {
				t.Errorf("Codex: %q", got)
			}
			p.Root = "" // of a user, outside a clone
			if got := p.SwitchedOff(agenthost.ClaudeCode); (got != "") != (c.user == off) {
				t.Errorf("outside a clone: %q", got)
			}
		})
	}
}
