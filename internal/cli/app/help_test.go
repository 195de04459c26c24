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

// helpOf is what a command line that asks for help prints, of at most so many lines of 80 columns.
func helpOf(t *testing.T, most int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	term := cli.Terminal{Verbs: Verbs(), Out: &out, Err: &out, Env: setup.OS()}
	if err := cli.Execute(t.Context(), append([]string{"label-state"}, args...), term); err != nil {
		t.Fatalf("%q: %v", args, err)
	}

	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) > most {
		t.Errorf("%q: %d lines, want at most %d:\n%s", args, len(lines), most, out.String())
	}

	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%q: %d columns: %s", args, n, line)
		}
	}

	return out.String()
}

// TestHelpFitsOneScreen: the help of the program, and of each command, is at most 24 lines of 80
// columns; with all options at most 40. The program's names every command once
// among the groups; a group's names all of its commands. What is more than its
// name has examples, and what agents may call has words.
func TestHelpFitsOneScreen(t *testing.T) {
	text := helpOf(t, 24, "--help")
	_, groups, _ := strings.Cut(text, "ALL COMMANDS, BY GROUP:\n")
	groups, _, _ = strings.Cut(groups, "\n\n")
	words := strings.Fields(strings.ReplaceAll(groups, ",", " "))
	for _, v := range Verbs() {
		helpOf(t, 24, append(v.Words(), "--help")...)
		helpOf(t, 40, append(v.Words(), "--help-all")...)
		if v.Does() && v.Examples == "" && !slices.Contains([]string{"demo", "help", "version"}, v.Name) {
			t.Errorf("%s: its help lacks examples", v.Name)
		}

		if strings.Contains(v.Name, " ") {
			continue
		}

		if len(v.Tools) > 0 && v.About == "" {
			t.Errorf("%s: its help lacks words", v.Name)
		}

		if n := len(words) - len(slices.DeleteFunc(slices.Clone(words),
			func(w string) bool { return w == v.Name })); n != 1 {
			t.Errorf("%s is %d times among the groups", v.Name, n)
		}

		if family := helpOf(t, 24, "help", v.Group); !strings.Contains(family, "   "+v.Name) {
			t.Errorf("help %s does not name %s:\n%s", v.Group, v.Name, family)
		}
	}
}

// TestHelpShowsOptions: an option that is advanced is only in the help with all options; of next
// the ten others are in the short one.
func TestHelpShowsOptions(t *testing.T) {
	for _, v := range Verbs() {
		short, all := helpOf(t, 24, append(v.Words(), "--help")...), helpOf(t, 40, append(v.Words(), "--help-all")...)
		own := 0
		for _, p := range v.Params() {
			row := "   " + p.Row()[0] + " "
			switch {
			case p.Arg != "":
			case !strings.Contains(all, row):
				t.Errorf("%s --help-all lacks %s:\n%s", v.Name, row, all)
			case (p.Show == "") != strings.Contains(short, row):
				t.Errorf("%s --help: %s is shown as %q:\n%s", v.Name, row, p.Show, short)
			case p.Show == "":
				own++
			}
		}

		if v.Name == "next" && own != 10 {
			t.Errorf("next --help explains %d options, want 10", own)
		}
	}
}
