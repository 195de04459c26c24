package cli_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
)

// TestHintRunsAgain wants the command line that failed in a hint, as a shell takes it and without a
// token.
func TestHintRunsAgain(t *testing.T) {
	again := cli.Advise(errors.New("x"), answer.Call("then", answer.Again))
	say := cli.Advise(errors.New("x"), answer.Call("say who", answer.Again, "--codename", "codex"))
	longer := cli.Advise(errors.New("x"), answer.Call("then", answer.AgainLonger))
	newID := cli.Advise(errors.New("x"), answer.Call("then", answer.AgainNewID))
	for _, row := range []struct {
		err   error
		typed string // words divided by |
		want  string
	}{
		{
			again, "/usr/bin/label-state|claim|acme/app#1|--codename|lucius",
			"then: label-state claim acme/app#1 --codename lucius",
		},
		{
			again, "label-state|reject|7|--reason|too large, it's two",
			`then: label-state reject 7 --reason 'too large, it'\''s two'`,
		},
		{again, "label-state|run|7|--|deploy|--password|hunter2", "then: label-state run 7 -- …"}, // another program's secrets
		{say, "label-state|run|7|--|make|-k", "say who: label-state run 7 --codename codex -- …"},
		{again, "label-state|reject|7|--reason|", "then: label-state reject 7 --reason ''"},
		{again, "label-state|claim|#7", "then: label-state claim '#7'"},
		{
			again, "label-state|claim|https://x:secret@github.com/acme/app/issues/1",
			"then: label-state claim https://github.com/acme/app/issues/1",
		},
		{longer, "label-state|claim|7|--timeout|30s", "then: label-state claim 7 --timeout 2m"},
		{longer, "label-state|claim|--timeout=200ms|7", "then: label-state claim --timeout=1m 7"},
		{longer, "label-state|run|7|-timeout|1m|--|make|--timeout|1m", "then: label-state run 7 -timeout 4m -- …"},
		{newID, "label-state|claim|7|--firing-id|f1|--ttl|1h", "then: label-state claim 7 --ttl 1h"},
		{newID, "label-state|run|-firing-id=f1|7|--|make|--firing-id|x", "then: label-state run 7 -- …"},
		{newID, "label-state|next", "then: label-state next"},
		{errors.New("nobody knows it"), "label-state|next", "fix the cause, then run: label-state next"},
	} {
		if got := (cli.Terminal{Typed: strings.Split(row.typed, "|")}).Hint(row.err); got != row.want {
			t.Errorf("%s: %q, want %q", row.typed, got, row.want)
		}
	}
}
