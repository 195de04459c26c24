package local

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/setup"
)

// TestVersion: the version of a build from a changed checkout says so, and of which day its commit
// is.
func TestVersion(t *testing.T) {
	var out bytes.Buffer
	code := cli.Run(t.Context(), []string{"label-state", "version"}, cli.Terminal{
		Verbs: []cli.Verb{Version()},
		Out:   &out,
		Err:   &out,
		Env:   setup.Nothing(&out),
		Build: setup.Build{
			Version: "v1.2.3",
			Commit:  "afba776",
			Date:    time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
			Changed: true,
		},
	})
	const want = "label-state v1.2.3 (commit afba776 of 2026-11-30 and changes, go"
	if code != 0 || !strings.HasPrefix(out.String(), want) {
		t.Errorf("exit code %d, %q, want %q", code, &out, want)
	}
}
