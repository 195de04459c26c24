package app

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
)

// A fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestAnswerUnwritten: of an answer that nobody can read it is said that what was done is not undone;
// a claim's hold stands.
func TestAnswerUnwritten(t *testing.T) {
	for _, format := range []string{"--json", "--no-color"} {
		w := embedded(t)
		term := quiet(t, t.TempDir(), w.Transport(), nil)
		var told bytes.Buffer
		term.Out, term.Err = fullDisk{}, &told
		code := cli.Run(context.Background(),
			[]string{"label-state", "claim", "acme/app#1", "--codename", "lucius", "--firing-id", "l1", format}, term)

		want := "label-state: claim acme/app#1: the answer could not be written: no space left on device; what " +
			"was done is not undone\n" +
			"hint: see where it stands: label-state status acme/app#1\n"
		if code != answer.ExitUnknown || !strings.HasSuffix(told.String(), want) {
			t.Errorf("%s: exit %d\n%s\nwant\n%s", format, code, told.String(), want)
		}

		if labels, err := w.Labels("acme/app", 1); err != nil ||
			!strings.Contains(strings.Join(labels, " "), "agent:in-flight") {
			t.Errorf("labels %v, %v", labels, err)
		}
	}
}
