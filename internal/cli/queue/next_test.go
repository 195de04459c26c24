package queue

import (
	"flag"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// TestRunNeedsGitHub: --run with a source that has no issues is refused, whichever source it is.
func TestRunNeedsGitHub(t *testing.T) {
	flags := flag.NewFlagSet("next", flag.ContinueOnError)
	flags.Bool("run", true, "")
	if err := flags.Parse([]string{"true"}); err != nil {
		t.Fatal(err)
	}
	_, err := commandLine(&cli.Call{Flags: urfave.NewContext(nil, flags, nil)}, desk{})
	if err == nil || !strings.Contains(err.Error(), "--run claims on GitHub") {
		t.Error(err)
	}
}
