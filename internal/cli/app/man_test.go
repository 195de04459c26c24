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
