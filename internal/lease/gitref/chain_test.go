package gitref

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
)

// TestRequests: what each step costs.
func TestRequests(t *testing.T) {
	h := newHub()
	s := h.store()
	l, err := s.Acquire(t.Context(), askOf("ann"))
	spent(t, h, "claim", err, "get commit swap")
	_, err = s.Acquire(t.Context(), askOf("bob"))
	spent(t, h, "refused", err, "get")
	l, err = s.Renew(t.Context(), l)
	spent(t, h, "renew", err, "commit swap")
	spent(t, h, "release", s.Release(t.Context(), l), "commit swap")
	lost := false
	h.before = func(request string) {
		if request == "swap" && !lost {
			lost = true
			happen(t, h.store(), []string{"bob", "claims"}, lease.Lease{})
			h.calls = slices.DeleteFunc(h.calls, func(string) bool { return true })
			h.calls = append(h.calls, "get", "commit")
		}
	}

	_, err = s.Acquire(t.Context(), askOf("cyd"))
	spent(t, h, "lost race", err, "get commit swap get get") // the swap is not asked for again before a look
}

func spent(t *testing.T, h *hub, step string, err error, want string) {
	t.Helper()
	if got := strings.Join(h.calls, " "); got != want {
		t.Errorf("%s (%v): requests %q, want %q", step, err, got, want)
	}
	h.calls = nil
}

// TestNoAnswers: with GitHub out of reach for good, a claim of which nobody knows is an error, and
// it can land at any time later without a second holder; with GitHub back for the void it never
// lands.
func TestNoAnswers(t *testing.T) {
	for name, reachable := range map[string]bool{"void gets through": true, "nothing gets through": false} {
		t.Run(name, func(t *testing.T) {
			h := newHub()
			broken := 0
			h.before = func(request string) {
				if request == "swap" && (!reachable || broken <= repeats) {
					broken++
					h.wire.Break(leasetest.Late, 0)
				}
			}

			_, err := h.store().Acquire(t.Context(), askOf("ann"))
			var no *lease.HeldError
			if err == nil || errors.Is(err, lease.ErrLost) || errors.As(err, &no) {
				t.Fatalf("acquire: %v, want not to know", err)
			}

			if text := err.Error(); !strings.HasPrefix(text, "acquire acme/app#7: move refs/label-state/lease/7: ") {
				t.Errorf("acquire: %s", text)
			}
			if unclean := strings.Contains(err.Error(), "give up the claim: "); unclean == reachable {
				t.Errorf("acquire: %v", err)
			}

			waits := []time.Duration{time.Second / 4, time.Second / 2, time.Second, 2 * time.Second}
			if !slices.Equal(h.slept[:repeats], waits) {
				t.Errorf("it waited %s, want %s", h.slept, waits)
			}

			h.before = nil
			if reachable {
				h.wire.Deliver()
			}

			l, err := h.store().Acquire(t.Context(), askOf("bob"))
			if err != nil {
				t.Fatalf("bob: %v", err)
			}

			h.wire.Deliver()
			if got, held, err := h.store().Look(t.Context(), seven); err != nil || !held || got.Token != l.Token {
				t.Errorf("look: %+v, %t, %v, want bob with token %d", got, held, err, l.Token)
			}
		})
	}
}

// TestOwnLeaseWithoutAnswer: who asks again for the own lease, and gets no answer, has it still.
func TestOwnLeaseWithoutAnswer(t *testing.T) {
	h := newHub()
	l := happen(t, h.store(), []string{"ann", "claims"}, lease.Lease{})
	broken := 0
	h.before = func(request string) {
		if broken++; request == "swap" && broken <= 4*repeats {
			h.wire.Break(leasetest.Late, 0)
		}
	}

	if _, err := h.store().Acquire(t.Context(), askOf("ann")); err == nil {
		t.Fatal("acquired without an answer")
	}
	h.before = nil
	if got, held, err := h.store().Look(t.Context(), seven); !held || err != nil || got.Token != l.Token {
		t.Errorf("look: %+v, %t, %v, want ann's lease", got, held, err)
	}
}

// racing is a hub where another renewal is faster, always.
type racing struct{ *hub }

func (r racing) SwapRefs(ctx context.Context, i claim.Issue, _ ...Swap) error {
	now, err := r.store().read(ctx, i)
	r.plant(RefName(i), now.then(kindRenew).encode())
	return errors.Join(ErrMoved, err)
}

// TestRenew: a renewal may name another ttl, and one that is never the first has not happened.
func TestRenew(t *testing.T) {
	h := newHub()
	l := happen(t, h.store(), []string{"ann", "claims"}, lease.Lease{})
	l.TTL = 2 * ttl
	l, err := h.store().Renew(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := h.store().Look(t.Context(), seven); err != nil || got.TTL != l.TTL {
		t.Errorf("look: %+v, %v, want a ttl of %s", got, err, l.TTL)
	}

	for n, tip := range []string{strings.Replace(l.Tip, "/2/1/", "/x/1/", 1), "", "a/b"} {
		l.Tip, l.TTL = tip, l.TTL+ttl
		if now, _, err := h.store().Look(t.Context(), seven); err != nil || now.TTL >= l.TTL {
			t.Errorf("before it is renewed for %s: %+v, %v", l.TTL, now, err)
		}
		if got, err := h.store().Renew(t.Context(), l); err != nil || !strings.Contains(got.Tip, fmt.Sprintf("/%d/1/", n+3)) {
			t.Errorf("with the tip %q: %s, %v", tip, got.Tip, err)
		}
		if now, _, err := h.store().Look(t.Context(), seven); err != nil || now.TTL != l.TTL {
			t.Errorf("renewed for %s: %+v, %v", l.TTL, now, err)
		}
	}

	// the clock is the machine's where no other is given
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		h.before = func(request string) {
			if request == "swap" {
				h.wire.Break(leasetest.Late, 0)
				h.before = nil
			}
		}
		_, err := New(h, Options{}).Renew(t.Context(), l)
		if took := time.Since(start); err != nil || took != backoff(0) {
			t.Errorf("renewed after %s: %v", took, err)
		}
	})

	if got, err := New(racing{h}, Options{Sleep: h.store().sleep}).Renew(t.Context(), l); !errors.Is(err, ErrMoved) {
		t.Errorf("renewed: %+v, %v", got, err)
	}
}

// TestGivenUpClaimThatLanded: the claim is on the chain before the void; giving up then releases
// it.
func TestGivenUpClaimThatLanded(t *testing.T) {
	h := newHub()
	swaps := 0
	h.before = func(request string) {
		if request != "swap" {
			return
		}

		if swaps++; swaps <= 1+repeats {
			h.wire.Break(leasetest.Late, 0)
		}

		if swaps == 2+repeats { // the void's
			h.wire.Deliver()
		}
	}

	if _, err := h.store().Acquire(t.Context(), askOf("ann")); err == nil {
		t.Fatal("acquired without an answer")
	}
	h.before = nil
	if got, held, err := h.store().Look(t.Context(), seven); held || err != nil {
		t.Errorf("look: %+v, %t, %v, want nobody", got, held, err)
	}

	kinds := []string{}
	for _, oid := range h.moves[RefName(seven)] {
		s, err := decode(h.commits[oid].message)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, string(s.kind))
	}

	if !slices.Equal(kinds, []string{"claim", "release"}) {
		t.Errorf("chain = %v, want the claim and its release", kinds)
	}
}

// TestCallerGone: a context that ends while the answer is awaited is cleaned up after.
func TestCallerGone(t *testing.T) {
	h := newHub()
	ctx, cancel := context.WithCancel(t.Context())
	h.before = func(request string) {
		if request == "swap" && ctx.Err() == nil {
			h.wire.Break(leasetest.Late, 0)
			cancel()
		}
	}

	if _, err := h.store().Acquire(ctx, askOf("ann")); err == nil {
		t.Fatal("acquired without an answer")
	}
	h.wire.Deliver()
	if got, held, err := h.store().Look(t.Context(), seven); held || err != nil {
		t.Errorf("look: %+v, %t, %v, want nobody", got, held, err)
	}
}

// TestForeignChains: what is not a lease is neither free nor held, and nothing is built on it.
func TestForeignChains(t *testing.T) {
	good := state{
		kind:   kindClaim,
		worker: who("ann"),
		epoch:  1,
		pos:    1,
		token:  1,
		ttl:    ttl,
	}.encode()

	for _, message := range []string{
		"Initial commit", "", "label-state: claim", "label-state: dance\n\n" + good,
		strings.Replace(good, "pos=1", "pos=0", 1), strings.Replace(good, "token=1", "token=x", 1),
		strings.Replace(good, "ttl=1800", "ttl=99999999999999", 1), strings.Replace(good, "firing_id", "fired", 1),
		strings.Replace(good, "codename=", "codename= was=", 1),
		strings.Replace(good, "pos=1", "pos=99999999999999999999", 1),
		strings.Replace(good, "claim", "push", 1),
	} {
		h := newHub()
		h.plant(RefName(seven), message)
		s := h.store()
		_, errAcquire := s.Acquire(t.Context(), askOf("bob"))
		_, _, errLook := s.Look(t.Context(), seven)
		if !answer.Is(errAcquire, answer.Unread) || !answer.Is(errLook, answer.Unread) ||
			!strings.Contains(errLook.Error(), RefName(seven)) {
			t.Errorf("%q: acquire: %v; look: %v; want that it is not a lease", message, errAcquire, errLook)
		}

		problem, _ := errors.AsType[*answer.Problem](errLook)
		if problem != nil && (!strings.HasPrefix(problem.Why, RefName(seven)+" is not a lease: ") ||
			len(problem.Next) != 1 || !strings.Contains(problem.Next[0].When, "git fetch origin "+RefName(seven))) {
			t.Errorf("%q: %+v", message, problem)
		}

		if len(h.commits) != 1 {
			t.Errorf("%q: something was written", message)
		}
	}
}

// TestPushCommits: a commit that a person's machine dated keeps the lease and extends nothing
// (stores.md#references).
func TestPushCommits(t *testing.T) {
	h := newHub()
	s := h.store()
	l := happen(t, s, []string{"ann", "claims"}, lease.Lease{})
	at, ok := standing(l)
	if !ok {
		t.Fatalf("tip %q", l.Tip)
	}

	push := at.then(kindPush)
	push.dated = h.now
	h.advance(ttl)
	h.plant(RefName(seven), push.encode())
	if got := outcome(t, s, "claim", l); got != "ok 1" {
		t.Errorf("ann again: %s, want her own lease", got)
	}

	h.plant(RefName(seven), func() string { p := push.then(kindPush); p.dated = h.now.Add(-ttl); return p.encode() }())
	if got, held, err := s.Look(t.Context(), seven); err != nil || !held || got.Token != l.Token {
		t.Errorf("within the grace: %+v, %t, %v", got, held, err)
	}

	h.advance(DefaultGrace)
	if next, err := s.Acquire(t.Context(), askOf("bob")); err != nil || next.Token != 4 {
		t.Errorf("after it: %+v, %v, want the lease with token 4", next, err)
	}
}

// TestRefused: an error that says that nothing was done is passed on as it is.
func TestRefused(t *testing.T) {
	h := newHub()
	s := New(refusing{h, errRefused}, Options{Sleep: h.store().sleep})
	if _, err := s.Acquire(t.Context(), askOf("ann")); !errors.Is(err, errRefused) || len(h.calls) != 1 {
		t.Errorf("acquire: %v after %v, want the refusal at once", err, h.calls)
	}

	for _, a := range []lease.Ask{{Issue: seven, Worker: who("ann")}, {Issue: seven, TTL: ttl}} {
		if l, err := h.store().Acquire(t.Context(), a); err == nil {
			t.Errorf("acquired %+v for %+v", l, a)
		}
	}
}

// TestRefusedSwap: a swap that is refused without a reason is one that somebody was faster at where
// the chain is further, and otherwise one that nobody may make.
func TestRefusedSwap(t *testing.T) {
	h := newHub()
	asked := 0
	h.before = func(request string) {
		if request == "swap" && asked == 0 {
			asked++
			if _, err := h.store().Acquire(t.Context(), askOf("bob")); err != nil {
				t.Error(err)
			}
		}
	}

	held, err := New(silent{hub: h}, Options{Sleep: h.store().sleep}).Acquire(t.Context(), askOf("ann"))
	if !errors.As(err, new(*lease.HeldError)) {
		t.Errorf("beside a faster one: %+v, %v; want that bob holds it", held, err)
	}

	free := newHub()
	got, err := New(silent{free, true}, Options{Sleep: free.store().sleep}).Acquire(t.Context(), askOf("ann"))
	denied, is := errors.AsType[*lease.DeniedError](err)
	if !is || !errors.Is(err, ErrRefused) || !strings.Contains(denied.Remedy, prefix) {
		t.Errorf("where no one may: %+v, %v; want what would have to be allowed", got, err)
	}
	if want := []string{"get", "commit", "get"}; !slices.Equal(free.calls, want) {
		t.Errorf("asked for %v, want %v", free.calls, want)
	}
}

// TestNamedOpen: what is refused while a step is given up leaves that step as open as it was.
func TestNamedOpen(t *testing.T) {
	err := named(errors.Join(openError{errors.New("no answer")}, fmt.Errorf("give up: %w", ErrRefused)))
	if lease.Rejected(err) || !errors.Is(err, ErrRefused) {
		t.Errorf("%v counts as certainly not done", err)
	}
}

func TestMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := state{
			kind: rapid.SampledFrom([]kind{kindClaim, kindRenew, kindRelease, kindVoid, kindPush}).Draw(t, "kind"),
			worker: claim.Worker{
				Codename: rapid.StringN(1, 40, -1).Draw(t, "codename"),
				FiringID: rapid.StringN(1, 40, -1).Draw(t, "firing"),
			},
			epoch: rapid.Int64Range(1, 1<<33).Draw(t, "epoch"),
			pos:   rapid.Int64Range(1, 1<<33).Draw(t, "pos"),
			token: rapid.Int64Range(1, 1<<33).Draw(t, "token"),
			ttl:   time.Duration(rapid.Int64Range(1, 1<<33).Draw(t, "ttl")) * time.Second,
			prev:  rapid.String().Draw(t, "prev"),
		}

		if s.kind == kindPush {
			s.dated = time.Unix(rapid.Int64Range(1, 1<<33).Draw(t, "dated"), 0).UTC()
		}
		odd := strings.Replace(s.encode(), "\n\n", "\n\npos pos=%zz ", 1)
		back, err := decode(odd + "more=1 pos=77")
		if err != nil || back != s {
			t.Fatalf("%+v came back as %+v, %v\n%s", s, back, err, s.encode())
		}
	})
}

// TestFractionalTTL: a ttl of a part of a second is rounded up, so that no other ends the lease
// before its worker does.
func TestFractionalTTL(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		time.Minute:                     time.Minute,
		time.Minute + time.Nanosecond:   time.Minute + time.Second,
		90*time.Second + 1500*1000*1000: 92 * time.Second,
	} {
		s := state{
			kind:   kindClaim,
			worker: who("ann"),
			epoch:  1,
			pos:    1,
			token:  1,
			ttl:    given,
		}

		if back, err := decode(s.encode()); err != nil || back.ttl != want {
			t.Errorf("%s came back as %s, %v; want %s", given, back.ttl, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(state{
		kind:   kindClaim,
		worker: who("ann"),
		epoch:  2,
		pos:    9,
		token:  7,
		ttl:    ttl,
		prev:   "bob:x",
	}.encode())
	f.Add("label-state: push\n\ncodename=a firing_id=b epoch=1 pos=2 token=1 ttl=60 dated=1777640400")
	f.Add("label-state: claim\r\n\r\ncodename=%zz firing_id== pos=-1 pos=2\x00")
	f.Fuzz(func(t *testing.T, message string) {
		s, err := decode(message)
		if err != nil {
			return
		}

		if again, err := decode(s.encode()); err != nil || again != s {
			if s.kind == kindClaim || s.kind == kindVoid || s.prev == "" {
				t.Errorf("%+v came back as %+v, %v", s, again, err)
			}
		}
	})
}

func ExampleRefName() {
	fmt.Println(RefName(claim.Issue{Owner: "acme", Repo: "app", Number: 7}))
	// Output: refs/label-state/lease/7
}

// TestReadPast: a chain that is known to be further is read again, four times at most.
func TestReadPast(t *testing.T) {
	for shows, want := range map[int]struct {
		pos   int64
		reads int
		err   error
	}{
		1: {2, 1, nil},
		3: {2, 3, nil},
		9: {1, rereads, errBehind},
	} {
		h := newHub()
		l := happen(t, h.store(), []string{"ann", "claims"}, lease.Lease{})
		if _, err := h.store().Renew(t.Context(), l); err != nil {
			t.Fatal(err)
		}

		reads := 0
		h.late = func() int {
			if reads++; reads < shows {
				return 1
			}
			return 0
		}
		got, err := h.store().readPast(t.Context(), seven, 1)
		if got.pos != want.pos || reads != want.reads || !errors.Is(err, want.err) ||
			(err == nil) != (want.err == nil) {
			t.Errorf("shown by read %d: at %d after %d reads, %v", shows, got.pos, reads, err)
		}
		waits := []time.Duration{time.Second / 4, time.Second / 2, time.Second}
		if !slices.Equal(h.slept, waits[:reads-1]) {
			t.Errorf("shown by read %d: it waited %s", shows, h.slept)
		}
	}
}

// rejecting is a hub that certainly makes no move.
type rejecting struct{ *hub }

func (rejecting) SwapRefs(context.Context, claim.Issue, ...Swap) error { return errRefused }

// bounded is an error that says whether a better token would not get it.
type bounded bool

func (b bounded) Error() string { return fmt.Sprint("bounded: ", bool(b)) }

func (b bounded) Forbidden() bool { return bool(b) }

// TestRefusals: what was certainly not done is not asked for again, and only what a better token
// would not get is said to be denied.
func TestRefusals(t *testing.T) {
	h := newHub()
	s := New(rejecting{h}, Options{Sleep: h.store().sleep})
	if _, err := s.Acquire(t.Context(), askOf("ann")); !errors.Is(err, errRefused) || len(h.slept) > 0 {
		t.Errorf("%v, after waiting %s", err, h.slept)
	}
	for _, no := range []bounded{true, false} {
		s := New(refusing{h, no}, Options{})
		var denied *lease.DeniedError
		if err := s.Probe(t.Context(), seven); !errors.Is(err, no) || errors.As(err, &denied) != bool(no) {
			t.Errorf("forbidden %t: %v", no, err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	h.before = func(string) { cancel() }
	if got, err := h.store().readPast(ctx, seven, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("read by who gave up: %+v, %v", got, err)
	}
}

// TestOverdueIsNamed: a worker that takes a lease that ran out says whose it was, and how that ended.
func TestOverdueIsNamed(t *testing.T) {
	h := newHub()
	happen(t, h.store(), []string{"ann", "claims"}, lease.Lease{})
	h.advance(ttl + DefaultGrace)
	happen(t, h.store(), []string{"bob", "claims"}, lease.Lease{})
	message := h.commits[h.at(RefName(seven), 0)].message
	want := "prev=" + strings.ReplaceAll(who("ann").String(), ":", "%3A") + " outcome=stale-swept\n"
	if !strings.HasSuffix(message, want) {
		t.Errorf("%q, want %q at its end", message, want)
	}
}

// TestBareRelease: who never heard of a token releases what its own process has, and nothing else.
func TestBareRelease(t *testing.T) {
	s := newHub().store()
	ask := askOf("ann")
	ask.Nonce = "n"
	if _, err := s.Acquire(t.Context(), ask); err != nil {
		t.Fatal(err)
	}

	own, other := ask.Bare(), ask.Bare()
	own.TTL, other.Nonce = 0, "m"
	for _, c := range []struct {
		lease lease.Lease
		held  bool
	}{{other, true}, {own, false}} {
		err := s.Release(t.Context(), c.lease)
		if _, held, unread := s.Look(t.Context(), seven); err != nil || unread != nil || held != c.held {
			t.Errorf("released by %q: held %t, %v, %v", c.lease.Nonce, held, err, unread)
		}
	}
}
