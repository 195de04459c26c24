package app

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/setup"
)

// TestHookEndedBySignal: a push is not let go by a hook that a signal has ended, whatever it has
// found out by then.
func TestHookEndedBySignal(t *testing.T) {
	for _, ended := range []bool{false, true} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		if ended {
			stop()
		}

		var out bytes.Buffer
		env := setup.Nothing(&out)
		env.Dir, env.HTTP = t.TempDir(), http.DefaultTransport
		args := []string{"label-state", "hook", "pre-push", "origin", "https://github.com/acme/app.git"}
		code := cli.Run(ctx, args, cli.Terminal{
			Verbs: Verbs(),
			In:    strings.NewReader(""),
			Out:   &out,
			Err:   &out,
			Env:   env,
		})

		if want := map[bool]int{false: answer.ExitYes, true: answer.ExitNo}[ended]; code != want {
			t.Errorf("ended %t: exit code %d, want %d\n%s", ended, code, want, &out)
		}
	}
}
