package app

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/setup"
)

// TestHelpFitsOneScreen: the program's help is at most 24 lines of 80 columns, and names every
// command once among the groups; a group's help names all of its commands.
func TestHelpFitsOneScreen(t *testing.T) {
	help := func(args ...string) string {
		var out bytes.Buffer
		if code := Run(t.Context(), append([]string{"label-state"}, args...), setup.Build{}, strings.NewReader(""),
			&out, &out, setup.OS()); code != 0 {
			t.Fatalf("%q: exit %d\n%s", args, code, out.String())
		}
		return out.String()
	}

	text := help("--help")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines, want at most 24:\n%s", len(lines), text)
	}

	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}

	_, groups, _ := strings.Cut(text, "ALL COMMANDS, BY GROUP:\n")
	groups, _, _ = strings.Cut(groups, "\n\n")
	words := strings.Fields(strings.ReplaceAll(groups, ",", " "))
	for _, c := range commands(cli.Terminal{}) {
		if n := len(words) - len(slices.DeleteFunc(slices.Clone(words),
			func(w string) bool { return w == c.Name })); n != 1 {
			t.Errorf("%s is %d times among the groups", c.Name, n)
		}

		if family := help("help", c.Category); !strings.Contains(family, "   "+c.Name) {
			t.Errorf("help %s does not name %s:\n%s", c.Category, c.Name, family)
		}
	}
}
