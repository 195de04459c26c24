package leasetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/label-state/label-state/internal/lease"
)

// A spoiler runs an operation with one of its requests spoiled and returns its error: it may have
// worked or not know; it must not claim to know that it failed.
type spoiler func(doing string, operation func() error) error

func (s spoiler) acquire(t *testing.T, w worker) error {
	return s("acquire", func() error { _, err := w.Acquire(t.Context(), w.ask); return err })
}

func (s spoiler) renew(t *testing.T, w worker, l lease.Lease) error {
	return s("renew", func() error { _, err := w.Renew(t.Context(), l); return err })
}

func (s spoiler) release(t *testing.T, w worker, l lease.Lease) error {
	return s("release", func() error { return w.Release(t.Context(), l) })
}

// everyRequest runs a part once for each fault and each request of one operation: with the first
// request spoiled, with the second and so on, until there is none left to spoil. part says by
// calling spoil which operation it is.
func everyRequest(t *testing.T, x *exam, faults []Fault, part func(t *testing.T, spoil spoiler)) {
	const most = 40 // requests of one operation
	stride := 1
	if x.Sparse {
		stride = 3
	}

	for k, f := range faults {
		for n, more := k%stride, true; more; n += stride {
			if n >= most {
				t.Fatalf("one operation makes more than %d requests", most)
			}

			more = t.Run(fmt.Sprintf("%s %d", f, n), func(t *testing.T) {
				part(t, func(doing string, operation func() error) error {
					hit := x.Wire.Break(f, n)
					err := operation()
					more = hit()
					if err != nil && !unsure(err) {
						t.Fatalf("%s: %v, want success or not to know", doing, err)
					}

					return err
				})
				x.Wire.Deliver()
			}) && more
		}
	}
}

// spoiledAcquire: whatever happened to the first asking, of two workers one holds, and it is the
// first one if it asks again before the other.
func spoiledAcquire(t *testing.T, x *exam) {
	everyRequest(t, x, Faults, func(t *testing.T, spoil spoiler) {
		ann, bob := x.pair()
		_ = spoil.acquire(t, ann)
		l, err := ann.acquire(t.Context())
		if err != nil {
			t.Fatalf("acquire again: %v", err)
		}

		ann.check(t, l)
		bob.mustLose(t, l)
		x.Wire.Deliver()
		bob.mustLose(t, l)
		l = ann.mustRenew(t, l)
		ann.mustRelease(t, l)
		if next := bob.mustWin(t); next.Token <= l.Token {
			t.Errorf("token %d after %d", next.Token, l.Token)
		}
	})

	everyRequest(t, x, Faults, func(t *testing.T, spoil spoiler) {
		ann, bob := x.pair()
		errAnn := spoil.acquire(t, ann)
		l, errBob := bob.acquire(t.Context())
		again, err := ann.acquire(t.Context())
		switch { // the last answers of the two name one holder
		case err == nil && errBob == nil:
			t.Fatalf("two holders: %+v and %+v", again, l)
		case err != nil && errBob != nil:
			t.Fatalf("no holder: ann: %v; bob: %v", err, errBob)
		case err == nil:
			ann.mustStand(t, again)
			bob.mustLose(t, again)

		default:
			bob.mustStand(t, l)
			ann.mustLose(t, l)
		}

		if errAnn == nil && errBob == nil {
			t.Fatal("bob got what ann was told that she holds")
		}
	})
}

// spoiledTakeOver: whatever happened to the first asking, who takes over has the lease when it asks
// again, and nobody else does.
func spoiledTakeOver(t *testing.T, x *exam) {
	everyRequest(t, x, Faults, func(t *testing.T, spoil spoiler) {
		ann, bob := x.pair()
		first, second := x.twin(ann, "7f3a9c1e"), x.twin(ann, "0badcafe")
		l := first.mustWin(t)
		second.ask.Takes = l.Token
		_ = spoil.acquire(t, second)
		next := second.mustWin(t)
		if next.Token <= l.Token {
			t.Errorf("token %d taken over from %d, want a larger one", next.Token, l.Token)
		}

		x.Wire.Deliver()
		second.mustStand(t, next)
		first.mustHaveLost(t, l)
		bob.mustLose(t, next)
		second.mustRenew(t, next)
	})
}

// spoiledRenew: the holder stays the holder, whichever of its leases it shows.
func spoiledRenew(t *testing.T, x *exam) {
	everyRequest(t, x, Faults, func(t *testing.T, spoil spoiler) {
		ann, bob := x.pair()
		l := ann.mustWin(t)
		_ = spoil.renew(t, ann, l)
		bob.mustLose(t, l)
		next := ann.mustRenew(t, l)
		x.Wire.Deliver()
		bob.mustLose(t, l)
		ann.mustRenew(t, l)
		ann.mustRelease(t, next)
		bob.mustWin(t)
		ann.mustHaveLost(t, l)
	})
}

// spoiledRelease: asked again it is done, and no later delivery takes the lease from the next one.
func spoiledRelease(t *testing.T, x *exam) {
	everyRequest(t, x, Faults, func(t *testing.T, spoil spoiler) {
		ann, bob := x.pair()
		l := ann.mustWin(t)
		_ = spoil.release(t, ann, l)
		if err := ann.release(t.Context(), l); err != nil {
			t.Fatalf("release again: %v", err)
		}

		next := bob.mustWin(t)
		x.Wire.Deliver()
		bob.mustStand(t, next)
		bob.mustRenew(t, next)
		ann.mustHaveLost(t, l)
	})
}

// lateAcquire: an asking that arrives when somebody else holds the lease, or has had it, changes
// nothing.
func lateAcquire(t *testing.T, x *exam) {
	everyRequest(t, x, []Fault{Late}, func(t *testing.T, spoil spoiler) {
		ann, bob := x.pair()
		if spoil.acquire(t, ann) == nil {
			return // the store got its answer by asking once more
		}

		l := bob.mustWin(t)
		x.Wire.Deliver()
		bob.mustStand(t, l)
		bob.mustRenew(t, l)
		ann.mustLose(t, l)
	})
}

// lateRenew: a renewal that arrives after the lease changed hands extends nothing.
func lateRenew(t *testing.T, x *exam) {
	for name, end := range map[string]func(t *testing.T, w worker, l lease.Lease){
		"released": func(t *testing.T, w worker, l lease.Lease) { w.mustRelease(t, l) },
		"run out":  func(*testing.T, worker, lease.Lease) { x.pass() },
	} {
		t.Run(name, func(t *testing.T) {
			everyRequest(t, x, []Fault{Late}, func(t *testing.T, spoil spoiler) {
				ann, bob := x.pair()
				l := ann.mustWin(t)
				_ = spoil.renew(t, ann, l)
				end(t, ann, l)
				next := bob.mustWin(t)
				x.Wire.Deliver()
				bob.mustStand(t, next)
				ann.mustHaveLost(t, l)
				bob.mustRenew(t, next)
			})
		})
	}
}

// lateRelease: after the lease expired and somebody else took it, an old release is nobody's
// business.
func lateRelease(t *testing.T, x *exam) {
	everyRequest(t, x, []Fault{Late}, func(t *testing.T, spoil spoiler) {
		ann, bob := x.pair()
		l := ann.mustWin(t)
		_ = spoil.release(t, ann, l)
		x.pass()
		next := bob.mustWin(t)
		x.Wire.Deliver()
		bob.mustStand(t, next)
		bob.mustRenew(t, next)
	})
}

// spoiledGiveUp: who does not know whether it got the lease, and releases it without a token,
// leaves nothing behind, not even when the asking arrives afterwards.
func spoiledGiveUp(t *testing.T, x *exam) {
	everyRequest(t, x, Faults, func(t *testing.T, spoil spoiler) {
		ann, bob := x.pair()
		_ = spoil.acquire(t, ann)
		if err := ann.release(t.Context(), ann.ask.Bare()); err != nil {
			t.Fatalf("give up: %v", err)
		}

		x.Wire.Deliver()
		l, err := bob.acquire(t.Context())
		if errors.As(err, new(*lease.HeldError)) {
			t.Fatalf("bob: %v: the lease is held by a claim that was given up", err)
		}

		if err != nil {
			t.Fatal(err)
		}
		bob.mustRenew(t, l)
	})
}
