package gitref_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
)

// TestBatch takes two leases on the embedded GitHub with one update of its references, which a
// third that somebody has makes impossible.
func TestBatch(t *testing.T) {
	t.Parallel()
	server := simulated(t)
	store := gitref.New(client(t, server, "tok-bot", 0), gitref.Options{Sleep: hurry})
	asks := func(name string, numbers ...int) (out []lease.Ask) {
		for _, n := range numbers {
			out = append(out, lease.Ask{
				Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: n},
				Worker: claim.Worker{Codename: name, FiringID: name + "1"}, TTL: 30 * time.Minute,
			})
		}

		return out
	}

	got, err := store.AcquireAll(t.Context(), asks("ann", 1, 2))
	if err != nil || len(got) != 2 {
		t.Fatalf("acquired %+v, %v", got, err)
	}

	updates := 0
	for _, r := range server.Requests() {
		if strings.HasPrefix(r.GraphQL, "mutation") {
			updates++
		}
	}

	if updates != 1 {
		t.Errorf("%d updates of references, want 1", updates)
	}
	var held *lease.HeldError
	if _, err := store.AcquireAll(t.Context(), asks("bob", 3, 2)); !errors.As(err, &held) ||
		held.Lease.Issue.Number != 2 {
		t.Errorf("one is held: %v", err)
	}

	if _, held, err := store.Look(t.Context(), asks("bob", 3)[0].Issue); held || err != nil {
		t.Errorf("the other: %t, %v", held, err)
	}

	for _, l := range got {
		if err := store.Release(t.Context(), l); err != nil {
			t.Error(err)
		}
	}

	server.GraphQLOff = true
	off := gitref.New(client(t, server, "tok-bot", 0), gitref.Options{Sleep: hurry})
	if _, err := off.AcquireAll(t.Context(), asks("bob", 3, 2)); err == nil {
		t.Error("acquired without GraphQL")
	}
}
