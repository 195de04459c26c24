package labelstate_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	labelstate "github.com/label-state/label-state"
)

// TestClaimPersonRace: programs of one person that claim at once all get the one hold; another
// person gets none.
func TestClaimPersonRace(t *testing.T) {
	d := served(t)
	holds, errs := make([]labelstate.Hold, 4), make([]error, 4)
	var running sync.WaitGroup
	for n := range holds {
		c := d.as("ada")
		running.Go(func() {
			holds[n], errs[n] = c.Claim(t.Context(), 1, labelstate.ClaimOptions{Person: true})
			if errs[n] == nil {
				errs[n] = c.Owns(holds[n])
			}
		})
	}

	running.Wait()
	for n, h := range holds {
		if errs[n] != nil || h.URL != holds[0].URL || h.Person != "ada" || h.Title != "Retry the upload" ||
			!h.Until.IsZero() {
			t.Errorf("%d: %+v, %v", n, h, errs[n])
		}
	}

	if _, err := d.as("bot").Claim(t.Context(), 1, labelstate.ClaimOptions{Person: true}); !errors.Is(err,
		labelstate.ErrHeld) {
		t.Errorf("another person: %v", err)
	}

	if s, err := d.as("bot").Status(t.Context(), 1); err != nil || s.Holder == nil || s.Holder.Person != "ada" ||
		!s.Holder.Confirmed {
		t.Errorf("%+v, %v", s.Holder, err)
	}
}

// TestReleaseOfAPerson: a person's hold ends without an outcome, by the person and by nobody else,
// and the issue is ready again.
func TestReleaseOfAPerson(t *testing.T) {
	d := served(t)
	ada := d.as("ada")
	hold, err := ada.Claim(t.Context(), 1, labelstate.ClaimOptions{Person: true})
	if err != nil {
		t.Fatal(err)
	}

	for _, o := range []labelstate.ReleaseOptions{
		{Outcome: labelstate.OutcomeSuccess},
		{PR: d.url + "/acme/app/pull/7"},
	} {
		if err := ada.Release(t.Context(), hold, o); !errors.Is(err, labelstate.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}

	if err := d.as("bot").Release(t.Context(), hold, labelstate.ReleaseOptions{}); !errors.Is(err, labelstate.ErrLost) {
		t.Errorf("by somebody else: %v", err)
	}

	if err := ada.Owns(hold); err != nil {
		t.Error(err)
	}
	again := d.as("ada") // another process of the person's
	if hold, err = again.Claim(t.Context(), 1, labelstate.ClaimOptions{Person: true}); err != nil {
		t.Fatal(err)
	}

	if err := again.Release(t.Context(), hold, labelstate.ReleaseOptions{Reason: "done for today"}); err != nil {
		t.Error(err)
	}

	if err := again.Check(t.Context(), 1); err != nil {
		t.Error(err)
	}
	comments, err := d.Comments("acme/app", 1)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range comments { // only what somebody else writes for the person says by whom it is
		if strings.Contains(c.Body, " by=") {
			t.Errorf("a person's own record: %s", c.Body)
		}
	}
}

// TestClaimPersonOfAnApp: an app is not a person.
func TestClaimPersonOfAnApp(t *testing.T) {
	d := served(t)
	if _, err := d.as("fleet[bot]").Claim(t.Context(), 1, labelstate.ClaimOptions{Person: true}); !errors.Is(err,
		labelstate.ErrInvalid) {
		t.Error(err)
	}
}
