package gitref

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
)

// TestChain is the first line of guarantees.md#what-the-log-guarantees with references: whatever is
// read late, lost, or carried out later, and whoever acts between any two requests of somebody
// else, no two workers believe that they hold the issue, and every next holder has a larger token.
// A worker believes until its own clock says that its ttl is over, counted from before it asked.
func TestChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			w.step()
		}
	})
}

// A world is three workers at one chain and everything that can go wrong between them.
type world struct {
	t      *rapid.T
	hub    *hub
	actors []*actor
	depth  int   // of operations within operations
	token  int64 // of the latest believer
	log    []string
}

// An actor is a worker with what it believes.
type actor struct {
	name  string
	turn  int // firings so far
	busy  bool
	have  lease.Lease
	until time.Time // of its belief; zero is none
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, hub: newHub()}
	w.hub.late = func() int { return max(0, rapid.IntRange(-4, 4).Draw(t, "late")) }
	w.hub.before = w.meanwhile
	for _, name := range []string{"ann", "bob", "cyd"} {
		w.actors = append(w.actors, &actor{name: name})
	}

	return w
}

// meanwhile is what happens just before a request: nothing, mostly.
func (w *world) meanwhile(string) {
	switch rapid.IntRange(0, 11).Draw(w.t, "meanwhile") {
	case 9:
		w.hub.wire.Break(rapid.SampledFrom(leasetest.Faults).Draw(w.t, "fault"), 0)
	case 10:
		w.hub.wire.Deliver()
	case 11:
		if w.depth < 3 {
			w.step()
		}
	}
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, strings.Repeat("  ", w.depth)+fmt.Sprintf(format, args...))
}

// step lets time pass or one idle actor act.
func (w *world) step() {
	if rapid.IntRange(0, 3).Draw(w.t, "what") == 0 {
		d := time.Duration(rapid.IntRange(1, 40).Draw(w.t, "minutes")) * time.Minute
		w.note("%s pass", d)
		w.hub.advance(d)
		return
	}

	a := rapid.SampledFrom(w.actors).Draw(w.t, "who")
	if a.busy {
		return
	}

	a.busy = true
	w.depth++
	w.act(a)
	w.depth--
	a.busy = false
	w.check()
}

func (w *world) believes(a *actor) bool { return w.hub.time().Before(a.until) }

func (w *world) act(a *actor) {
	start := w.hub.time()
	switch {
	case !w.believes(a):
		w.note("%s claims", a.name)
		a.turn++
		ask := lease.Ask{Issue: seven, Worker: claim.Worker{Codename: a.name, FiringID: fmt.Sprint(a.turn)}, TTL: ttl}
		l, err := w.hub.store().Acquire(w.t.Context(), ask)
		w.note("%s: token %d, %v", a.name, l.Token, err)
		if err == nil {
			a.have, a.until = l, start.Add(ttl)
			w.began(a)
		}

	case rapid.IntRange(0, 2).Draw(w.t, "renew") > 0:
		w.note("%s renews", a.name)
		l, err := w.hub.store().Renew(w.t.Context(), a.have)
		w.note("%s: %v", a.name, err)

		switch {
		case err == nil:
			a.have, a.until = l, start.Add(ttl)
		case errors.Is(err, lease.ErrLost):
			a.until = time.Time{}
		}

	default:
		w.note("%s releases", a.name)
		a.until = time.Time{}
		w.note("%s: %v", a.name, w.hub.store().Release(w.t.Context(), a.have))
	}
}

// began holds a new belief against all earlier ones.
func (w *world) began(a *actor) {
	if !w.believes(a) {
		return
	}
	if a.have.Token <= w.token {
		w.t.Fatalf("%s holds with token %d after %d\n%s", a.name, a.have.Token, w.token, strings.Join(w.log, "\n"))
	}

	w.token = a.have.Token
}

func (w *world) check() {
	var holders []string
	for _, a := range w.actors {
		if w.believes(a) {
			holders = append(holders, a.name)
		}
	}

	if len(holders) > 1 {
		w.t.Fatalf("two holders: %v\n%s", holders, strings.Join(w.log, "\n"))
	}
}
