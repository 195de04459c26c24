package ledger_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
)

// TestFence: a push may take a minute, and begins only when more than that, and the margin, is
// left.
func TestFence(t *testing.T) {
	for _, c := range []struct {
		lease, slow time.Duration
		want        string // of the error; empty is none
	}{
		{ttl, 0, ""},
		{72 * time.Second, 0, ""},
		{70 * time.Second, 0, "after a slow answer 59s is left of the lease"},
		{69 * time.Second, 0, "a push may take 1m0s, and a lease of 1m9s is good for 59s"},
		{72 * time.Second, 3 * time.Second, "after a slow answer 58s is left of the lease"},
		{claim.NoExpiry, 0, ""},
	} {
		alone(t, func(t *testing.T, w *world) {
			plain, f := w.ledger(nil)
			h, err := plain.Claim(t.Context(), issue,
				ledger.Request{Worker: claim.Worker{Codename: "ann"}, TTL: c.lease})
			if err != nil {
				t.Fatal(err)
			}

			l := ledger.New(over(&slow{f, c.slow}), virtual{}, w.words(), ledger.DefaultSettings())
			got, may, err := l.Fence(t.Context(), issue, h.Record.Worker, h.Token)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("lease %s, answer after %s: %v, want %q", c.lease, c.slow, err, c.want)
			}

			if err == nil && (may != time.Minute || !l.Owns(got) || got.Record.Heartbeat != 1) {
				t.Errorf("lease %s: may take %s, owns %t, %+v", c.lease, may, l.Owns(got), got)
			}

			if step, strict, err := l.Step(t.Context(), got); strict || err != nil {
				t.Errorf("the log has no step: %+v, %v", step, err)
			}
		})
	}
}

// TestWithin: a push ends when its time is over, and one that was answered later says that the
// hold is lost, unless it was refused anyway.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		want string
		push func(context.Context) error
	}{
		{"in time", func(context.Context) error { return nil }},
		{"no answer within 1m0s; the push was abandoned", func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}},
		{"refused", func(context.Context) error {
			time.Sleep(ttl)
			return errors.New("refused")
		}},
		{"pushed, but the answer came after the lease ended", func(context.Context) error {
			time.Sleep(ttl)
			return nil
		}},
	} {
		alone(t, func(t *testing.T, w *world) {
			l, _ := w.ledger(nil)
			h := take(t, l, "ann")
			h, may, err := l.Fence(t.Context(), issue, h.Record.Worker, h.Token)
			if err == nil {
				err = l.Within(t.Context(), h, may, c.push)
			}

			if said := fmt.Sprint(cmp.Or(err, errors.New("in time"))); !strings.Contains(said, c.want) {
				t.Errorf("%s, want %s", said, c.want)
			}
			var lost *ledger.LostError
			if errors.As(err, &lost) && (lost.Issue != issue || lost.Worker != h.Record.Worker) {
				t.Errorf("%v lost %v, want %v", lost.Worker, lost.Issue, h.Record.Worker)
			}
		})
	}
}

// slow is a forge whose edits take their time.
type slow struct {
	*forge
	by time.Duration
}

func (s *slow) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	time.Sleep(s.by)
	return s.forge.EditComment(ctx, i, id, body)
}

// stepping is a store whose leases move together with a push.
type stepping struct {
	table
	asked lease.Lease
	err   error
}

func (s *stepping) Push(_ context.Context, l lease.Lease) (lease.Step, error) {
	s.asked = l
	return lease.Step{Ref: "refs/x", Before: "b", Message: "m"}, s.err
}

// TestStep: a hold that such a store decided has a step, with its token; one that the log decided
// before has none.
func TestStep(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		old, _ := w.ledger(nil)
		before := take(t, old, "ann")
		store := &stepping{}
		w.store = store
		l, _ := w.ledger(nil)
		h, _, err := l.Fence(t.Context(), issue, before.Record.Worker, before.Token)
		if _, strict, stepErr := l.Step(t.Context(), h); strict || stepErr != nil || err != nil {
			t.Errorf("of the log's hold: %t, %v, %v", strict, stepErr, err)
		}

		if _, _, err := l.Force(t.Context(), issue, "olga", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		own := take(t, l, "bob")
		h, _, err = l.Fence(t.Context(), issue, own.Record.Worker, own.Token)
		step, strict, stepErr := l.Step(t.Context(), h)
		if err != nil || stepErr != nil || !strict || step.Ref != "refs/x" || store.asked.Token != own.Token ||
			store.asked.Worker != own.Record.Worker {
			t.Errorf("of the store's: %+v for %+v, %t, %v, %v", step, store.asked, strict, stepErr, err)
		}

		var lost *ledger.LostError
		var unknown *ledger.UnknownError
		if store.err = lease.ErrLost; !errors.As(stepOf(t, l, h), &lost) || lost.Worker != own.Record.Worker {
			t.Errorf("lost: %v", stepOf(t, l, h))
		}

		if store.err = errLost; !errors.As(stepOf(t, l, h), &unknown) || errors.As(stepOf(t, l, h), &lost) {
			t.Errorf("no answer: %v", stepOf(t, l, h))
		}
	})
}

func stepOf(t *testing.T, l *ledger.Ledger, h ledger.Hold) error {
	t.Helper()
	_, _, err := l.Step(t.Context(), h)
	return err
}
