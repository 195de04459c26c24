package leasetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/lease"
)

const (
	crowd  = 6 // workers at one issue
	rounds = 2 // turns of each
)

// oneWinner: many ask at one moment, each as a process of its own.
func oneWinner(t *testing.T, x *exam) {
	for range x.times {
		i := x.issue()
		workers := make([]worker, crowd)
		for k := range workers {
			workers[k] = x.worker(i, fmt.Sprintf("w%d", k))
		}
		oneWins(t, workers)
	}
}

// oneWinnerOfOneKey: the processes of one worker ask at one moment.
func oneWinnerOfOneKey(t *testing.T, x *exam) {
	for range x.times {
		ann, _ := x.pair()
		workers := make([]worker, crowd)
		for k := range workers {
			workers[k] = x.twin(ann, fmt.Sprintf("%08x", k+1))
		}
		oneWins(t, workers)
	}
}

// oneWins lets all workers ask at one moment: one gets the lease, the others are told who has it.
func oneWins(t *testing.T, workers []worker) {
	t.Helper()
	leases, errs := make([]lease.Lease, len(workers)), make([]error, len(workers))
	var all sync.WaitGroup
	for k, w := range workers {
		all.Go(func() { leases[k], errs[k] = w.acquire(t.Context()) })
	}

	all.Wait()

	won := -1
	for k, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Fatalf("two winners: %+v and %+v", leases[won], leases[k])
		case err == nil:
			won = k
		case unsure(err):
			t.Fatalf("%s: %v", workers[k].name(), err)
		}
	}

	if won < 0 {
		t.Fatalf("no winner: %v", errs)
	}

	for k, err := range errs {
		var no *lease.HeldError
		if errors.As(err, &no) && !workers[won].ask.Of(no.Lease) {
			t.Errorf("%s: %v, want %s", workers[k].name(), no, workers[won].name())
		}
	}

	workers[won].mustRelease(t, leases[won])
}

// turnsWithFaults spoils a request now and then, whoever's it is.
func turnsWithFaults(t *testing.T, x *exam) {
	draw := rand.New(rand.NewPCG(1, 2))
	takeTurns(t, x, func(int) {
		if draw.IntN(2) == 0 {
			x.Wire.Break(Faults[draw.IntN(2)], draw.IntN(6))
		}
	})
	x.Wire.Calm()
}

// turnsWithRestart kills the server in the middle, twice.
func turnsWithRestart(t *testing.T, x *exam) {
	if x.Restart == nil {
		t.Skip("the store has no server that a test can kill")
	}
	var restarts sync.WaitGroup
	takeTurns(t, x, func(turn int) {
		if turn == crowd*rounds/3 || turn == crowd*rounds*2/3 {
			restarts.Wait()
			restarts.Go(x.Restart)
		}
	})
	restarts.Wait()
}

// A room holds one at a time, and says so when it holds two.
type room struct {
	mu      sync.Mutex
	in      []string // who is inside
	token   int64    // of the last who was
	turns   int
	wrong   []string
	between func(turn int)
}

// takeTurns lets a crowd take the lease until each has had it so many times, and calls between
// inside each turn. An answer that does not come is asked for again.
func takeTurns(t *testing.T, x *exam, between func(turn int)) {
	i := x.issue()
	r := &room{between: between}
	errs := make([]error, crowd)
	var all sync.WaitGroup
	for k := range errs {
		all.Go(func() {
			for n := range rounds {
				w := x.worker(i, fmt.Sprintf("w%d.%d", k, n))
				if errs[k] = w.turn(t.Context(), r); errs[k] != nil {
					return
				}
			}
		})
	}

	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}

	if len(r.wrong) > 0 || r.turns != crowd*rounds {
		t.Errorf("%d turns, want %d: %v", r.turns, crowd*rounds, r.wrong)
	}
}

// turn waits for the lease, holds it for a moment in which it is renewed, and releases it.
func (w worker) turn(ctx context.Context, r *room) error {
	ctx, cancel := context.WithTimeout(ctx, 6*patience)
	defer cancel()
	l, err := w.acquire(ctx)
	for err != nil && errors.As(err, new(*lease.HeldError)) { // until nobody else has it
		if err = (clock.Machine{}).Sleep(ctx, 1+rand.N(10*time.Millisecond)); err == nil {
			l, err = w.acquire(ctx)
		}
	}

	if err != nil {
		return fmt.Errorf("%s: never got the lease: %w", w.name(), err)
	}
	r.mu.Lock()
	if r.in = append(r.in, w.name()); len(r.in) > 1 {
		r.wrong = append(r.wrong, fmt.Sprintf("inside at once: %v", r.in))
	}

	if l.Token <= r.token {
		r.wrong = append(r.wrong, fmt.Sprintf("%s entered with token %d after %d", w.name(), l.Token, r.token))
	}
	r.token = l.Token
	r.turns++
	r.between(r.turns)
	r.mu.Unlock()
	_, err = w.renew(ctx, l)
	r.mu.Lock()
	r.in = slices.DeleteFunc(r.in, func(name string) bool { return name == w.name() })
	r.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: renew: %w", w.name(), err)
	}

	return w.release(ctx, l)
}
