package labelstate_test

import (
	"errors"
	"strings"
	"testing"

	labelstate "github.com/label-state/label-state"
)

// TestReleaseWithoutAPull: a success that nothing shows is a warning, the loop that said so is not
// offered the issue again at once, and Done closes it.
func TestReleaseWithoutAPull(t *testing.T) {
	d := served(t)
	var warned []string
	o := d.options("bot")
	o.Warn = func(text string) { warned = append(warned, text) }
	c, err := labelstate.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}

	item, hold, err := c.Next(t.Context(), labelstate.NextOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	if err := c.Release(t.Context(), hold, labelstate.ReleaseOptions{Outcome: labelstate.OutcomeSuccess}); err != nil {
		t.Fatal(err)
	}

	if all := strings.Join(warned, "\n"); !strings.Contains(all, "success was recorded without a pull request") {
		t.Errorf("warned: %q", all)
	}

	if again, _, err := c.Next(t.Context(), labelstate.NextOptions{Codename: "lucius"}); err == nil &&
		again.ID == item.ID {
		t.Errorf("the same issue again: %+v", again)
	}

	hold, err = c.Claim(t.Context(), hold.Number, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	for _, o := range []labelstate.ReleaseOptions{
		{Done: true, PR: d.url + "/acme/app/pull/7"},
		{Done: true, Outcome: labelstate.OutcomeFailure},
	} {
		if err := c.Release(t.Context(), hold, o); !errors.Is(err, labelstate.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}

	if err := c.Release(t.Context(), hold, labelstate.ReleaseOptions{Done: true}); err != nil {
		t.Fatal(err)
	}

	if i, err := d.Issue("acme/app", hold.Number); err != nil || i.State != "closed" {
		t.Errorf("%+v, %v", i, err)
	}
}
