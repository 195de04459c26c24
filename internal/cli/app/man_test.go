package app

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/local"
	"github.com/label-state/label-state/internal/setup"
)

// TestManPage: the page has every command, and troff, where there is one, has no complaint and shows it all.
func TestManPage(t *testing.T) {
	app := cli.NewApp(cli.Terminal{Commands: commands, Out: io.Discard, Err: io.Discard, Env: setup.OS()})
	page := local.ManPage(app)
	for path := range leaves(app.Commands, "") {
		if !strings.Contains(page, ".SS label\\-state "+local.Troff(path)) {
			t.Errorf("no part about %q", path)
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

func TestTroff(t *testing.T) {
	for text, want := range map[string]string{
		"plain":              "plain",
		"--ttl":              `\-\-ttl`,
		`a\b`:                `a\eb`,
		".TH x\n'quoted\nok": "\\&.TH x\n\\&'quoted\nok",
	} {
		if got := local.Troff(text); got != want {
			t.Errorf("troff(%q) = %q, want %q", text, got, want)
		}
	}
}
