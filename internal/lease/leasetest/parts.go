package leasetest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

func held(t *testing.T, x *exam) {
	ann, bob := x.pair()
	bob.mustBeFree(t)
	l := ann.mustWin(t)
	bob.mustLose(t, l)
	bob.mustStand(t, l)
	ann.mustStand(t, l)
}

func released(t *testing.T, x *exam) {
	ann, bob := x.pair()
	first := ann.mustWin(t)
	ann.mustRelease(t, first)
	bob.mustBeFree(t)
	ann.mustHaveLost(t, first)
	second := bob.mustWin(t)
	if second.Token <= first.Token {
		t.Errorf("token %d after %d, want a larger one", second.Token, first.Token)
	}

	ann.mustHaveLost(t, first)
	bob.mustStand(t, second)
	bob.mustRelease(t, second)
	bob.mustRelease(t, second)
	ann.mustBeFree(t)
}

// givenUp: a lease without a token is whatever the worker has, and nothing of anybody else's.
func givenUp(t *testing.T, x *exam) {
	ann, _ := x.pair()
	bare := ann.ask.Bare()
	ann.mustRelease(t, bare)
	ann, bob := x.pair()
	bare.Issue = ann.ask.Issue
	ann.mustWin(t)
	ann.mustRelease(t, bare)
	l := bob.mustWin(t)
	ann.mustRelease(t, bare)
	bob.mustStand(t, l)
}

// renewed: each renewal counts from when it was made, and a lease that came from Look, as in
// another process, is as good.
func renewed(t *testing.T, x *exam) {
	ann, bob := x.pair()
	l := ann.mustWin(t)
	for n := range 3 {
		x.Advance(x.TTL * 3 / 4)
		if n == 1 {
			seen, ok, err := x.worker(ann.ask.Issue, "ann").Look(t.Context(), ann.ask.Issue)
			if err != nil || !ok {
				t.Fatalf("look: %t, %v", ok, err)
			}
			l = seen
		}

		next := ann.mustRenew(t, l)
		if next.Expires.Before(l.Expires) {
			t.Errorf("expires at %s, before the renewal at %s", next.Expires, l.Expires)
		}

		l = next
		bob.mustLose(t, l)
	}

	x.pass()
	if next := bob.mustWin(t); next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
}

// runsOut: not before its time, and then for good.
func runsOut(t *testing.T, x *exam) {
	ann, bob := x.pair()
	first := ann.mustWin(t)
	x.Advance(x.TTL - 5*time.Second)
	bob.mustLose(t, first)
	bob.mustStand(t, first)
	x.Advance(x.Grace + 6*time.Second)
	bob.mustBeFree(t)
	second := bob.mustWin(t)
	if second.Token <= first.Token {
		t.Errorf("token %d after %d, want a larger one", second.Token, first.Token)
	}

	ann.mustHaveLost(t, first)
	ann.mustLose(t, second)
	bob.mustRenew(t, second)
}

// staleHolder: who comes back after several others is refused everywhere and disturbs nobody.
func staleHolder(t *testing.T, x *exam) {
	i := x.issue()
	ann := x.worker(i, "ann")
	zombie := ann.mustWin(t)
	last := zombie
	for _, name := range []string{"bob", "cyd", "dan"} {
		x.pass()
		w := x.worker(i, name)
		l := w.mustWin(t)
		if l.Token <= last.Token {
			t.Fatalf("%s: token %d after %d, want a larger one", name, l.Token, last.Token)
		}

		last = l
		ann.mustHaveLost(t, zombie)
		l = w.mustRenew(t, l)
		ann.mustHaveLost(t, zombie)
		w.mustStand(t, l)
	}

	// With everything right but the token it is not the lease that stands.
	forged := last
	forged.Token = zombie.Token
	ann.mustHaveLost(t, forged)
	x.worker(i, "dan").mustStand(t, last)
}

// askedTwice: the same ask again is the same hold, and lasts from the second asking, as long as
// that one asks for.
func askedTwice(t *testing.T, x *exam) {
	ann, bob := x.pair()
	first := ann.mustWin(t)
	x.Advance(x.TTL * 3 / 4)
	longer := x.worker(ann.ask.Issue, "ann")
	longer.ask.TTL *= 3
	again := longer.mustWin(t)
	if again.Token != first.Token {
		t.Errorf("token %d when asked again, want %d", again.Token, first.Token)
	}

	x.pass()
	bob.mustLose(t, again)
	ann.mustRenew(t, first)
	ann.mustRelease(t, first)
	bob.mustWin(t)
}

// twoRuns: a codename is not a run. What one run has, the other has not, and what one gives up or
// releases ends nothing of the other.
func twoRuns(t *testing.T, x *exam) {
	i := x.issue()
	first, second := x.worker(i, "eve"), x.worker(i, "eve")
	second.ask.Worker.FiringID = "f-eve-2"
	l := first.mustWin(t)
	second.mustLose(t, l)
	second.mustRelease(t, second.ask.Bare())
	first.mustRenew(t, l)

	forged := l
	forged.Worker = second.ask.Worker
	second.mustHaveLost(t, forged)
	first.mustStand(t, l)
	first.mustRelease(t, l)
	third := x.worker(i, "eve")
	third.ask.Worker.FiringID = "f-eve-3"
	third.mustWin(t)
}

// twoProcesses: of two processes with one key one has the lease, and only that one by asking again.
// What the other gives up is its own.
func twoProcesses(t *testing.T, x *exam) {
	ann, bob := x.pair()
	first, second := x.twin(ann, "7f3a9c1e"), x.twin(ann, "0badcafe")
	l := first.mustWin(t)
	second.mustLose(t, l)
	if again := first.mustWin(t); again.Token != l.Token {
		t.Errorf("token %d when asked again, want %d", again.Token, l.Token)
	}

	ann.mustLose(t, l) // without a nonce it is another process, too

	second.mustRelease(t, second.ask.Bare())
	first.mustStand(t, l)
	first.mustRenew(t, l)
	first.mustRelease(t, l)
	bob.mustWin(t)
}

// takenOver: another process of the worker takes the lease over by its token, once, and with a
// larger one. The process before it is out.
func takenOver(t *testing.T, x *exam) {
	ann, bob := x.pair()
	first := x.twin(ann, "7f3a9c1e")
	l := first.mustWin(t)
	second, third := x.twin(ann, "0badcafe"), x.twin(ann, "5eed5eed")
	second.ask.Takes, third.ask.Takes = l.Token, l.Token
	bob.ask.Takes = l.Token
	bob.mustLose(t, l)

	next := second.mustWin(t)
	if next.Token <= l.Token {
		t.Errorf("token %d taken over from %d, want a larger one", next.Token, l.Token)
	}

	first.mustHaveLost(t, l)
	first.mustLose(t, next)
	third.mustLose(t, next)
	if again := second.mustWin(t); again.Token != next.Token {
		t.Errorf("token %d when asked again, want %d", again.Token, next.Token)
	}

	second.mustRenew(t, next)
	second.mustRelease(t, next)
	bob.ask.Takes = 0
	bob.mustWin(t)
}

// aboveKnown: a token is larger than one that the caller has seen, also where the store has never
// heard of it, and so are those after it.
func aboveKnown(t *testing.T, x *exam) {
	ann, bob := x.pair()
	ann.ask.Above = 41
	l := ann.mustWin(t)
	if l.Token <= 41 {
		t.Errorf("token %d above 41", l.Token)
	}

	if again := ann.mustWin(t); again.Token != l.Token {
		t.Errorf("token %d when asked again, want %d", again.Token, l.Token)
	}

	ann.mustRenew(t, l)
	ann.mustRelease(t, l)
	bob.ask.Above = 7
	if next := bob.mustWin(t); next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}

	far := x.worker(x.issue(), "bob")
	far.ask.Above = math.MaxInt64
	if l := far.mustWin(t); l.Token > lease.MaxAbove+1 {
		t.Errorf("token %d, want at most one more than %d", l.Token, int64(lease.MaxAbove))
	}
}

func issuesAndNames(t *testing.T, x *exam) {
	ann, _ := x.pair()
	l := ann.mustWin(t)
	other := x.worker(x.issue(), "bob")
	other.mustWin(t)
	loud := ann.ask.Issue
	loud.Owner, loud.Repo = "ACME", "App"
	x.worker(loud, "bob").mustLose(t, l)

	for _, name := range []claim.Worker{
		{Codename: "a/b.c_d-e", FiringID: "20260501-194217-643a:x"},
		{Codename: "with space\tand\nline", FiringID: "100% = \"quoted\" {}\x01"},
		{Codename: "été-夜", FiringID: "-->"},
	} {
		i := x.issue()
		w := worker{x.Client(0), lease.Ask{Issue: i, Worker: name, TTL: x.TTL}}
		got := w.mustWin(t)
		x.worker(i, "bob").mustLose(t, got)
		got = w.mustRenew(t, got)
		w.mustRelease(t, got)
		w.mustBeFree(t)
	}
}

// cancelled: who gives up before asking has nothing.
func cancelled(t *testing.T, x *exam) {
	ann, bob := x.pair()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := ann.Acquire(over, ann.ask); !unsure(err) {
		t.Fatalf("acquire with a context that is over: %+v, %v, want an error", l, err)
	}

	l := bob.mustWin(t)
	if _, err := bob.Renew(over, l); !unsure(err) {
		t.Errorf("renew with a context that is over: %v, want an error", err)
	}

	if err := bob.Release(over, l); !unsure(err) {
		t.Errorf("release with a context that is over: %v, want an error", err)
	}
	bob.mustRenew(t, l)
}

// clientClocks: a clock that is hours off gains nothing and costs nothing.
func clientClocks(t *testing.T, x *exam) {
	for _, skew := range []time.Duration{-5 * time.Hour, -time.Hour, time.Hour, 5 * time.Hour} {
		i := x.issue()
		ann, bob := x.skewed(i, "ann", skew), x.skewed(i, "bob", -skew)
		l := ann.mustWin(t)
		bob.mustLose(t, l)
		x.Advance(x.TTL - 5*time.Second)
		bob.mustLose(t, l)
		l = ann.mustRenew(t, l)
		x.Advance(x.TTL - 5*time.Second)
		bob.mustLose(t, l)
		x.Advance(x.Grace + 6*time.Second)
		next := bob.mustWin(t)
		ann.mustLose(t, next)
	}
}

// restart: what the server answered before it died is still true afterwards.
func restart(t *testing.T, x *exam) {
	if x.Restart == nil {
		t.Skip("the store has no server that a test can kill")
	}
	i := x.issue()
	last := int64(0)
	for _, name := range []string{"ann", "bob"} {
		w, rival := x.worker(i, name), x.worker(i, "eve")
		l := w.mustWin(t)
		if l.Token <= last {
			t.Fatalf("%s: token %d after %d, want a larger one", name, l.Token, last)
		}

		last = l.Token
		x.Restart()
		rival.mustLose(t, l)
		l = w.mustRenew(t, l)
		w.mustRelease(t, l)
		x.Restart()
		w.mustBeFree(t)
		w.mustHaveLost(t, l)
	}
}
