package local

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/setup"
)

// TestKept: what somebody has made in the meantime stays, also when init is undone.
func TestKept(t *testing.T) {
	var out bytes.Buffer
	c := &cli.Call{Terminal: cli.Terminal{Out: &out, Env: setup.OS()}}
	is := &KeptError{Why: "it is there"}
	kept := func(context.Context) error { return is }
	did, err := takeSteps(t.Context(), c, []InitStep{{Kind: "file", Name: "a", Status: stepMissing, Do: kept}})
	if got := out.String(); err != nil || len(did) > 0 || got != "kept      file a  it is there\n" ||
		is.Error() != is.Why {
		t.Errorf("%q, %v, undoes %v", got, err, did)
	}
}

// TestUndoLines: the commands name what was made, also where a name has a blank.
func TestUndoLines(t *testing.T) {
	got := undoLines("acme/app", []InitStep{
		{Kind: "file", Name: "a b.yml", File: "a b.yml"},
		{Kind: "label", Name: "agent:blocked"},
		{Kind: "label", Name: "in flight"},
	})
	want := []string{
		"rm 'a b.yml'",
		`for label in agent:blocked 'in flight'; do gh label delete "$label" --yes --repo acme/app; done`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAsk: a yes is one in any case, and nothing else is.
func TestAsk(t *testing.T) {
	for line, want := range map[string]bool{
		"y\n": true, "Y\n": true, " Yes \r\n": true, "yes": true,
		"": false, "\n": false, "n\n": false, "yep\n": false, "\ny\n": false,
	} {
		c := &cli.Call{Terminal: cli.Terminal{In: strings.NewReader(line), Out: io.Discard}}
		if got := ask(c, "go on?"); got != want {
			t.Errorf("%q is a yes: %t", line, got)
		}
	}
}

// TestPreview: what something is for is shown whole.
func TestPreview(t *testing.T) {
	long := strings.Repeat("what it means ", 10) + "at the end"
	got := previewSteps("acme/app", []InitStep{{Kind: "label", Name: "agent:done", Status: stepMissing, Detail: long}})
	if want := "acme/app\n  + label agent:done  " + long + "\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
