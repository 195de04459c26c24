package hookfile

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWithScript: lines are added to a lefthook.yml where it is certain what they mean, and every
// line of a person's stays.
func TestWithScript(t *testing.T) {
	const block = "pre-push:\n  scripts:\n    label-state:\n      use_stdin: true\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", block},
		"only a comment":     {"# lefthook\n", "# lefthook\n" + block},
		"nothing for pushes": {"pre-commit:\n  commands: {}\n", "pre-commit:\n  commands: {}\n" + block},
		"no last line break": {"min_version: 1.0.0", "min_version: 1.0.0\n" + block},
		"a block at the end": {"x:\n  run: |\n    one\n    two\n", "x:\n  run: |\n    one\n    two\n" + block},
		"Windows's lines":    {"x: 1\r\n", "x: 1\r\n" + strings.ReplaceAll(block, "\n", "\r\n")},
		"commands for pushes": {
			"pre-push: # ours\n    # before\n    commands:\n        a: {run: b}\nx: 1\n",
			"pre-push: # ours\n    scripts:\n      label-state:\n        use_stdin: true\n    # before\n    commands:\n        a: {run: b}\nx: 1\n",
		},
		"another script": {
			"pre-push:\n  scripts:\n    other:\n      use_stdin: true\n",
			"pre-push:\n  scripts:\n    label-state:\n      use_stdin: true\n    other:\n      use_stdin: true\n",
		},
		"no line break after what follows": {
			"pre-push:\n  scripts:\n    other:\n      use_stdin: true",
			"pre-push:\n  scripts:\n    label-state:\n      use_stdin: true\n    other:\n      use_stdin: true",
		},
		"without its input": {
			"pre-push:\n  scripts:\n    label-state:\n      runner: sh\n",
			"pre-push:\n  scripts:\n    label-state:\n      use_stdin: true\n      runner: sh\n",
		},
		"no value": {
			"pre-push:\npre-commit:\n",
			"pre-push:\n  scripts:\n    label-state:\n      use_stdin: true\npre-commit:\n",
		},

		"it has it":          {block, ""},
		"it says no":         {"pre-push:\n  scripts:\n    label-state:\n      use_stdin: false\n", ""},
		"in braces":          {"pre-push: {commands: {a: {run: b}}}\n", ""},
		"all in braces":      {"{pre-push: {}}\n", ""},
		"a script in braces": {"pre-push:\n  scripts: {other: {}}\n", ""},
		"an anchor's":        {"a: &a\n  commands: {}\npre-push: *a\n", ""},
		"a merged key":       {"a: &a\n  scripts: {o: {}}\npre-push:\n  <<: *a\n", ""},
		"several documents":  {"a: 1\n---\nb: 1\n", ""},
		"an end":             {"a: 1\n...\n", ""},
		"a list":             {"- a\n", ""},
		"no YAML":            {"pre-push: [\n", ""},
		"twice":              {"pre-push:\n  scripts: {}\npre-push:\n  parallel: true\n", ""},
		"indented":           {"  pre-commit: {}\n", ""},
	} {
		if got := withScript(c.text, "label-state"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestWithScriptKeepsLines: whatever is edited, the lines of before are all there, in their order.
func TestWithScriptKeepsLines(t *testing.T) {
	parts := []string{
		"pre-push:\n", "  scripts:\n", "    other: {use_stdin: true}\n", "    label-state:\n",
		"  commands:\n    a: {run: b}\n", "# note\n", "\n", "pre-commit: {}\n",
		"  # note\n", "x: |\n  y\n", "\tz: 1\n", "---\n", "'pre-push':\n", "  parallel: true\n", "pre-push: {}\n",
	}

	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 6).Draw(t, "lines"), "")
		edited := withScript(text, "label-state")
		if edited == "" {
			return
		}

		rest := edited
		for line := range strings.Lines(text) {
			_, after, found := strings.Cut(rest, strings.TrimSuffix(line, "\n"))
			if !found {
				t.Fatalf("line %q of\n%s\nis not in\n%s", line, text, edited)
			}
			rest = after
		}

		if again := withScript(edited, "label-state"); again != "" {
			t.Fatalf("edited twice:\n%s", again)
		}
	})
}
