package app

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/local"
)

// TestManPage: the page has every command, and troff, where there is one, has no complaint and
// shows it all.
func TestManPage(t *testing.T) {
	page, err := local.ManPage(cli.Terminal{Verbs: Verbs()})
	if err != nil {
		t.Fatal(err)
	}

	for _, v := range Verbs() {
		path := v.Name
		name := path[strings.LastIndexByte(path, ' ')+1:]
		if !regexp.MustCompile(`(?m)^\.S[SH] ` + strings.ReplaceAll(name, "-", `\\?-`) + `\b`).MatchString(page) {
			t.Errorf("no part about %q", path)
		}
	}

	for _, part := range []string{
		"\n.SH SYNOPSIS\n\\fBlabel\\-state\\fP COMMAND [options] [arguments]\n",
		"\n.SH ENVIRONMENT\n.TP\n\\fBLABEL_STATE_CODENAME, LABEL_STATE_FIRING_ID\\fP\n",
		"\n.SH FILES\n.TP\n\\fB.github/label\\-state.yml\\fP\n",
		"\n\\fBclaim.max_ttl\\fP\n\\&Longest lease that may be asked for.\n",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q", part)
		}
	}

	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skipf("shown by nobody: %v", err)
	}

	cmd := exec.Command(groff, "-man", "-ww", "-z", "-Tutf8")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

// TestVariables: docs/cli.md and the manual page say the same of each variable.
func TestVariables(t *testing.T) {
	_, section, _ := strings.Cut(fileText(manual), "\n## Environment\n\n| variable | means |\n|---|---|\n")
	section, _, _ = strings.Cut(section, "\n\n")
	section = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(section, "$1")

	var want strings.Builder
	for _, row := range local.Variables() {
		want.WriteString("| " + row[0] + " | " + row[1] + " |\n")
	}

	if got := strings.ReplaceAll(section, "`", "") + "\n"; got != want.String() {
		t.Errorf("docs/cli.md has\n%s\nand the manual page\n%s", got, &want)
	}
}
