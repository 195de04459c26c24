package labelstate_test

import (
	"strconv"
	"strings"
	"testing"

	labelstate "github.com/label-state/label-state"
)

// TestReleaseOfMergedPull: a held pull request was merged, and the sweep ended the hold as success.
// So says the worker.
func TestReleaseOfMergedPull(t *testing.T) {
	d := served(t)
	c := d.as("bot")
	url := d.pull(t, "bot", "no keyword")
	n, _ := strconv.Atoi(url[strings.LastIndexByte(url, '/')+1:])
	hold, err := c.Claim(t.Context(), n, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	if err := d.MergePull("acme/app", n, "ada"); err != nil {
		t.Fatal(err)
	}

	if _, err := d.as("ada").Sweep(t.Context(), labelstate.SweepOptions{}); err != nil {
		t.Fatal(err)
	}

	for _, o := range []labelstate.ReleaseOptions{{Outcome: labelstate.OutcomeSuccess}, {PR: url}} {
		if err := c.Release(t.Context(), hold, o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
