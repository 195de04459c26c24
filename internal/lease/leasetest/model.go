package leasetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/lease"
)

// model plays random operations of three workers, with time between them, against a page of
// arithmetic that says what each must answer. A failure prints the whole game.
func model(t *testing.T, x *exam) {
	const moves = 25
	for seed := range uint64(x.times) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			g := &game{x: x, draw: rand.New(rand.NewPCG(seed, 7)), holder: -1}
			i := x.issue()
			for _, name := range []string{"ann", "bob", "cyd"} {
				g.workers = append(g.workers, x.worker(i, name))
			}

			g.leases = make([]lease.Lease, len(g.workers))
			for range moves {
				g.move(t)
				if t.Failed() {
					t.Fatalf("after\n%s", strings.Join(g.log, "\n"))
				}
			}
		})
	}
}

// A game is the arithmetic: who holds, with which token, and for how much longer.
type game struct {
	x       *exam
	draw    *rand.Rand
	workers []worker
	leases  []lease.Lease // the last one each worker was given
	holder  int           // -1: nobody
	left    time.Duration // of the holder's ttl
	token   int64
	log     []string
}

func (g *game) move(t *testing.T) {
	k := g.draw.IntN(len(g.workers))
	switch g.draw.IntN(5) {
	case 0, 1:
		g.note("%s acquires", g.workers[k].name())
		g.acquire(t, k)

	case 2:
		g.note("%s renews", g.workers[k].name())
		g.renew(t, k)

	case 3:
		g.note("%s releases", g.workers[k].name())
		if g.leases[k].Token == 0 {
			return
		}

		g.workers[k].mustRelease(t, g.leases[k])
		if g.holder == k {
			g.holder = -1
			g.workers[k].mustBeFree(t)
		} else if g.holder >= 0 {
			g.workers[k].mustStand(t, g.leases[g.holder])
		}

	case 4: // time passes, but never to a moment that a whole second could decide
		d := []time.Duration{g.x.TTL / 3, g.x.TTL + g.x.Grace + time.Second}[g.draw.IntN(2)]
		if left := g.left - d; g.holder >= 0 && left > -g.x.Grace-time.Second && left < 5*time.Second {
			d = g.left + g.x.Grace + time.Second
		}

		g.note("%s pass", d)
		g.x.Advance(d)
		if g.left -= d; g.holder >= 0 && g.left < 0 {
			g.holder = -1
		}
	}
}

func (g *game) note(format string, args ...any) { g.log = append(g.log, fmt.Sprintf(format, args...)) }

func (g *game) acquire(t *testing.T, k int) {
	// its lease has ended: it gets a new firing, as every attempt has (spec-writing.md#claim)
	if g.holder != k && g.leases[k].Token != 0 {
		g.leases[k] = lease.Lease{}
		g.workers[k].ask.Worker.FiringID += "+"
		g.note("  not again: its lease is over")
		return
	}

	w := g.workers[k]
	if g.holder >= 0 && g.holder != k {
		w.mustLose(t, g.leases[g.holder])
		return
	}

	l := w.mustWin(t)
	switch {
	case g.holder == k && l.Token != g.token:
		t.Errorf("token %d, want %d as before", l.Token, g.token)
	case g.holder < 0 && l.Token <= g.token:
		t.Errorf("token %d, want one above %d", l.Token, g.token)
	}

	g.holder, g.leases[k], g.left, g.token = k, l, g.x.TTL, l.Token
}

func (g *game) renew(t *testing.T, k int) {
	switch {
	case g.leases[k].Token == 0:
	case g.holder == k:
		g.leases[k] = g.workers[k].mustRenew(t, g.leases[k])
		g.left = g.x.TTL

	case g.holder >= 0:
		g.workers[k].mustHaveLost(t, g.leases[k])
		g.workers[k].mustStand(t, g.leases[g.holder])

	default: // run out, and nobody took it: a store may renew it or not
		l, err := g.workers[k].Renew(t.Context(), g.leases[k])
		if err == nil {
			g.holder, g.leases[k], g.left = k, l, g.x.TTL
		} else if !errors.Is(err, lease.ErrLost) {
			t.Errorf("renew: %v", err)
		}
	}
}
