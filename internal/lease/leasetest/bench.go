// Package leasetest is the exam that every lease store sits.
//
// A store brings a Bench: how to open one more client of it, how to let time pass for it, how to
// spoil a request on its way and how to kill its server. Its whole test is then
//
//	func TestExam(t *testing.T) { leasetest.Exam(t, open) }
package leasetest

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/lease"
)

// A Bench is one store, set up to be examined. Its functions are called from the test's goroutine,
// but for clients, which are used from many.
type Bench struct {
	// Client opens the store as one more process would: nothing is shared with other clients but
	// the store itself. Its clock, where it has one, is wrong by skew.
	Client func(skew time.Duration) lease.Store
	// Advance lets that much time pass by the clock that decides when leases run out.
	Advance func(d time.Duration)
	// Wire spoils requests on their way.
	Wire *Wire
	// Restart kills the store's server, or the one that leads, and brings it back with what it had
	// written. Nil where the server is not something a test can kill.
	Restart func()
	// TTL is what to ask for, a whole number of minutes. Grace is how much longer than its ttl the
	// store leaves a lease alone.
	TTL, Grace time.Duration
	// Sparse has the parts that spoil each request of an operation spoil a third of them, always
	// the same, and those that repeat something play it once instead of three times.
	Sparse bool
}

// Exam puts the store that open sets up through everything that lease.Store promises. The store is
// opened once; each part of the exam has issues of its own.
func Exam(t *testing.T, open func(t *testing.T) Bench) {
	x := &exam{Bench: open(t), times: 3}
	if x.Sparse {
		x.times = 1
	}

	for _, part := range []struct {
		name string
		run  func(*testing.T, *exam)
	}{
		{"held", held},
		{"released", released},
		{"given up", givenUp},
		{"renewed", renewed},
		{"runs out", runsOut},
		{"stale holder", staleHolder},
		{"asked twice", askedTwice},
		{"two runs of one codename", twoRuns},
		{"two processes of one key", twoProcesses},
		{"taken over", takenOver},
		{"above what is known", aboveKnown},
		{"issues and names", issuesAndNames},
		{"probed", probed},
		{"listed", listed},
		{"cancelled", cancelled},
		{"client clocks", clientClocks},
		{"one winner", oneWinner},
		{"one winner of one key", oneWinnerOfOneKey},
		{"turns", func(t *testing.T, x *exam) { takeTurns(t, x, func(int) {}) }},
		{"spoiled acquire", spoiledAcquire},
		{"spoiled take-over", spoiledTakeOver},
		{"spoiled renew", spoiledRenew},
		{"spoiled release", spoiledRelease},
		{"late acquire", lateAcquire},
		{"late renew", lateRenew},
		{"late release", lateRelease},
		{"spoiled give up", spoiledGiveUp},
		{"turns with faults", turnsWithFaults},
		{"restart", restart},
		{"turns with restart", turnsWithRestart},
		{"model", model},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, x) })
	}
}
