package local

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/setup"
)

// TestKept: what somebody has made in the meantime stays, also when init is undone.
func TestKept(t *testing.T) {
	var out bytes.Buffer
	c := &cli.Call{Terminal: cli.Terminal{Out: &out, Env: setup.OS()}}
	kept := func(context.Context) error { return &KeptError{Why: "it is there"} }
	did, err := takeSteps(t.Context(), c, []InitStep{{Kind: "file", Name: "a", Status: stepMissing, Do: kept}})
	if got := out.String(); err != nil || len(did) > 0 || got != "kept      file a  it is there\n" {
		t.Errorf("%q, %v, undoes %v", got, err, did)
	}
}

// TestCosts: a lost claim has an end of its own where the configuration wants it said aloud.
func TestCosts(t *testing.T) {
	call := &cli.Call{Session: &setup.Session{}}
	call.Session.Config = config.Default()
	call.Session.Config.Claim.Comments = "all"
	got := costLines(call, &initParams{})
	if !strings.HasSuffix(got[1], ", and 2 for a claim that loses a race") {
		t.Errorf("%q", got)
	}
}
