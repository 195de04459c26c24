package leasetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/lease"
)

// patience is how long an answer may take that has to come: a server that is being restarted, or a
// cluster that is choosing a leader.
const patience = 20 * time.Second

// An exam is a bench in use.
type exam struct {
	Bench
	times  int // how often something that is left to chance is played
	issues int // handed out so far
}

// issue returns one that no part of the exam has seen.
func (x *exam) issue() claim.Issue {
	x.issues++
	return claim.Issue{Owner: "acme", Repo: "app", Number: x.issues}
}

// pass lets a lease that nobody renews run out.
func (x *exam) pass() { x.Advance(x.TTL + x.Grace + time.Second) }

// A worker is a client with a name, at one issue.
type worker struct {
	lease.Store
	ask lease.Ask
}

func (x *exam) worker(i claim.Issue, name string) worker { return x.skewed(i, name, 0) }

func (x *exam) skewed(i claim.Issue, name string, skew time.Duration) worker {
	return worker{x.Client(skew), lease.Ask{
		Issue: i, Worker: claim.Worker{Codename: name, FiringID: "f-" + name},
		TTL: x.TTL,
	}}
}

// pair is ann and bob at a new issue.
func (x *exam) pair() (ann, bob worker) {
	i := x.issue()
	return x.worker(i, "ann"), x.worker(i, "bob")
}

// twin is another process of the same worker.
func (x *exam) twin(w worker, nonce string) worker {
	w.Store, w.ask.Nonce = x.Client(0), nonce
	return w
}

// mustWin acquires and holds the answer against the question.
func (w worker) mustWin(t *testing.T) lease.Lease {
	t.Helper()
	l, err := w.acquire(t.Context())
	if err != nil {
		t.Fatalf("%s: acquire: %v, want the lease", w.name(), err)
	}

	w.check(t, l)
	return l
}

func (w worker) name() string { return w.ask.Worker.Codename }

func (w worker) check(t *testing.T, l lease.Lease) {
	t.Helper()
	if !w.ask.Of(l) || !l.Issue.Same(w.ask.Issue) || l.TTL != w.ask.TTL || l.Token < 1 {
		t.Fatalf("lease = %+v, want one for %+v with a token", l, w.ask)
	}
}

// mustLose asks and must be told who has it.
func (w worker) mustLose(t *testing.T, to lease.Lease) {
	t.Helper()
	got, err := w.acquire(t.Context())
	var held *lease.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("%s: acquire: %+v, %v, want no: %s has it", w.name(), got, err, to.Worker)
	}

	if held.Lease.Worker != to.Worker || held.Lease.Nonce != to.Nonce || held.Lease.Token != to.Token {
		t.Fatalf("%s: held by %s with token %d, want %s with %d", w.name(), held.Lease.Worker, held.Lease.Token,
			to.Worker, to.Token)
	}
}

// mustRenew extends the lease; the token stays.
func (w worker) mustRenew(t *testing.T, l lease.Lease) lease.Lease {
	t.Helper()
	got, err := w.renew(t.Context(), l)
	if err != nil {
		t.Fatalf("%s: renew: %v", w.name(), err)
	}

	w.check(t, got)
	if got.Token != l.Token {
		t.Fatalf("%s: token %d after renewal, was %d", w.name(), got.Token, l.Token)
	}

	return got
}

// mustHaveLost is what a stale holder meets: no renewal, and a release that touches nothing.
func (w worker) mustHaveLost(t *testing.T, l lease.Lease) {
	t.Helper()
	if got, err := w.renew(t.Context(), l); !errors.Is(err, lease.ErrLost) {
		t.Fatalf("%s: renew of a lease that is over: %+v, %v, want that it is lost", w.name(), got, err)
	}
	w.mustRelease(t, l)
}

func (w worker) mustRelease(t *testing.T, l lease.Lease) {
	t.Helper()
	if err := w.release(t.Context(), l); err != nil {
		t.Fatalf("%s: release: %v", w.name(), err)
	}
}

// mustStand is what everybody sees while the lease stands.
func (w worker) mustStand(t *testing.T, l lease.Lease) {
	t.Helper()
	got, held, err := w.look(t.Context())
	if err != nil || !held || got.Worker != l.Worker || got.Nonce != l.Nonce || got.Token != l.Token {
		t.Fatalf("look = %+v, %t, %v, want %s with token %d", got, held, err, l.Worker, l.Token)
	}
}

func (w worker) mustBeFree(t *testing.T) {
	t.Helper()
	if got, held, err := w.look(t.Context()); err != nil || held {
		t.Fatalf("look = %+v, %t, %v, want nobody", got, held, err)
	}
}

// unsure reports whether err leaves open what happened; then one asks again.
func unsure(err error) bool {
	var held *lease.HeldError
	return err != nil && !errors.As(err, &held) && !errors.Is(err, lease.ErrLost)
}

// decided repeats do until its answer is one, for as long as a server may need to come back.
func decided(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for n := 0; ; n++ {
		err := do(ctx)
		if !unsure(err) {
			return err
		}
		if (clock.Machine{}).Sleep(ctx, min(time.Duration(n)*5*time.Millisecond, 100*time.Millisecond)) != nil {
			return fmt.Errorf("no answer within %s: %w", patience, err)
		}
	}
}

// acquire asks until there is an answer.
func (w worker) acquire(ctx context.Context) (l lease.Lease, err error) {
	err = decided(ctx, func(ctx context.Context) error { l, err = w.Acquire(ctx, w.ask); return err })
	return l, err
}

func (w worker) renew(ctx context.Context, l lease.Lease) (got lease.Lease, err error) {
	err = decided(ctx, func(ctx context.Context) error { got, err = w.Renew(ctx, l); return err })
	return got, err
}

func (w worker) look(ctx context.Context) (l lease.Lease, held bool, err error) {
	err = decided(ctx, func(ctx context.Context) error { l, held, err = w.Look(ctx, w.ask.Issue); return err })
	return l, held, err
}

// release releases the lease until it is certain.
func (w worker) release(ctx context.Context, l lease.Lease) error {
	return decided(ctx, func(ctx context.Context) error { return w.Release(ctx, l) })
}
