package app

import (
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/local"
	"github.com/label-state/label-state/internal/setup"
)

// TestManPage: the page has every command, and troff, where there is one, has no complaint and
// shows it all.
func TestManPage(t *testing.T) {
	app := cli.NewApp(cli.Terminal{
		Commands: commands,
		Out:      io.Discard,
		Err:      io.Discard,
		Env:      setup.OS(),
	})
	page, err := local.ManPage(app)
	if err != nil {
		t.Fatal(err)
	}

	for path := range leaves(app.Commands, "") {
		name := path[strings.LastIndexByte(path, ' ')+1:]
		if !regexp.MustCompile(`(?m)^\.S[SH] ` + strings.ReplaceAll(name, "-", `\\?-`) + `\b`).MatchString(page) {
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
