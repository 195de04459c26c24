package ledger_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
)

// TestOneKey: what the processes of one run write when only one of them may have the issue
// (spec-writing.md#claim).
func TestOneKey(t *testing.T) {
	twins := []role{twin("ann"), twin("bob")}

	t.Run("nobody waits for a later one, and it writes nothing", func(t *testing.T) {
		p := told(t, scenario{cast: twins, labels: true}, "ann read", "bob read", "ann comment", "bob comment",
			"bob on", "ann on")
		p.ended(t, "bob", "claim shared", "comment")
		p.ended(t, "ann", "claim ok", "comment", "edit", "add", "remove")
	})

	t.Run("an earlier one that shows late is waited for, and ends its own claim", func(t *testing.T) {
		p := told(t, scenario{cast: twins, faults: budget{hidden: 1}},
			"ann read", "bob read", "ann comment hidden", "bob comment", "bob read", "bob edit", "land 0", "bob read", "ann on", "bob on")
		p.ended(t, "ann", "claim shared", "comment", "comment")
		p.ended(t, "bob", "claim ok", "comment", "edit")
	})

	t.Run("one that gives up ends its own claim", func(t *testing.T) {
		p := told(t, scenario{cast: twins, faults: budget{lost: 4}},
			"ann read", "bob read", "ann comment", "ann read", "ann edit", "bob comment denied", "bob read",
			"bob comment denied", "bob read",
			"bob comment denied", "bob read", "bob comment late", "bob on", "ann on", "land 0")
		p.ended(t, "bob", "claim unknown", "comment", "comment", "comment", "comment", "comment")
		p.ended(t, "ann", "claim ok", "comment", "edit")
		if h, held := p.look().log.Holder(); !held || !h.Held() {
			t.Errorf("the hold was ended:\n%s", p.server)
		}
	})

	t.Run("what a process is claiming is not resumed", func(t *testing.T) {
		p := told(t, scenario{cast: []role{twin("ann"), resumer("bob")}}, "ann read", "ann comment", "bob on", "ann on")
		p.ended(t, "bob", "claim shared")
		p.ended(t, "ann", "claim ok", "comment", "edit")
	})

	t.Run("nor is a hold that another one is resuming", func(t *testing.T) {
		p := told(t, scenario{cast: []role{crashedTwin("ann"), resumer("bob"), resumer("cyd")}}, "bob read",
			"bob comment", "cyd on", "bob on")
		p.ended(t, "cyd", "claim shared")
		p.ended(t, "bob", "claim ok", "comment", "edit")
	})

	t.Run("a hold that its process releases meanwhile is not taken over", func(t *testing.T) {
		p := told(t, scenario{cast: []role{holderTwin("ann", release), resumer("bob")}},
			"ann work", "ann read", "bob read", "bob comment", "ann comment", "ann on", "bob on")
		p.ended(t, "ann", "release ok", "comment", "edit", "comment")
		p.ended(t, "bob", "claim lost", "comment", "comment")
		c, _ := p.look().log.Find(claim.Worker{Codename: "kay", FiringID: "k1"})
		if c.End == nil || c.End.Outcome != claim.OutcomeCancelled {
			t.Errorf("the claim ended as %+v\n%s", c.End, p.server)
		}
	})

	t.Run("the process before is refused by its token", func(t *testing.T) {
		p := told(t, scenario{cast: []role{holderTwin("ann", renew), resumer("bob")}}, "bob on", "ann work", "ann on")
		p.ended(t, "ann", "renew lost", "comment", "edit")
		p.ended(t, "bob", "claim ok", "comment", "edit")
	})
}

var kay = claim.Worker{Codename: "kay", FiringID: "k1"}

// TestResume: by name, or by the nonce that this machine has recorded, and only a hold that still
// stands.
func TestResume(t *testing.T) {
	for name, c := range map[string]struct {
		first, then ledger.Request
		between     func(*testing.T, *world, *ledger.Ledger)
		nonce       string // that the caller has recorded; "first" is the true one
		want        error  // nil is that it has the hold
	}{
		"by name":                     {then: ledger.Request{Resume: true}},
		"by the recorded nonce":       {nonce: "first"},
		"by the nonce of another one": {nonce: "0badcafe", want: &ledger.HeldError{}},
		"not asked for":               {want: &ledger.HeldError{}},
		"of an unfinished bundle": {
			first: ledger.Request{Bundle: "pair"},
			then:  ledger.Request{Resume: true, Bundle: "pair"}, want: &ledger.HeldError{},
		},
		"after its end": {
			then:    ledger.Request{Resume: true},
			between: func(*testing.T, *world, *ledger.Ledger) { time.Sleep(ttl + time.Second) },
			want:    &ledger.LostError{},
		},
		"after its release": {
			then: ledger.Request{Resume: true},
			between: func(t *testing.T, _ *world, l *ledger.Ledger) {
				if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: kay}); err != nil {
					t.Fatal(err)
				}
			},
			want: &ledger.LostError{},
		},
		"after it was asked to stop": {
			then: ledger.Request{Resume: true},
			between: func(t *testing.T, _ *world, l *ledger.Ledger) {
				if _, err := l.Revoke(t.Context(), issue, "olga", "please"); err != nil {
					t.Fatal(err)
				}
			},
			want: &ledger.LostError{},
		},
		"while others may not begin": {
			then: ledger.Request{Resume: true},
			between: func(t *testing.T, w *world, _ *ledger.Ledger) {
				_, f := w.ledger(nil)
				if err := f.AddLabel(t.Context(), issue, "needs:human-scope"); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, _ := w.ledger(nil)
				c.first.Worker, c.first.TTL, c.first.Branch = kay, ttl, "fix"
				h, err := l.Claim(t.Context(), issue, c.first)
				if err != nil {
					t.Fatal(err)
				}

				time.Sleep(time.Minute)
				if c.between != nil {
					c.between(t, w, l)
				}

				c.then.Worker, c.then.Mine = kay, c.nonce
				if c.nonce == "first" {
					c.then.Mine = h.Record.Nonce
				}

				before := records(w, "agent-")
				again, err := l.Claim(t.Context(), issue, c.then)
				if c.want == nil {
					checkResumed(t, w, l, h, again, err)
					return
				}

				var held *ledger.HeldError
				var lost *ledger.LostError
				_, wantHeld := c.want.(*ledger.HeldError)
				if wantHeld && (!errors.As(err, &held) || !held.Shared) || !wantHeld && !errors.As(err, &lost) {
					t.Errorf("%v, want a %T", err, c.want)
				}

				if n := records(w, "agent-"); n != before {
					t.Errorf("%d records were written", n-before)
				}
			})
		})
	}
}

// checkResumed: the hold is the same, of another process, with a larger token.
func checkResumed(t *testing.T, w *world, l *ledger.Ledger, h, again ledger.Hold, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}

	if again.Token <= h.Token || again.Record.Nonce == h.Record.Nonce || again.Record.Resumes != h.Record.Nonce {
		t.Errorf("token %d after %d, record %+v", again.Token, h.Token, again.Record)
	}

	if again.Record.Branch != "fix" || again.Record.TTL != ttl || again.Record.Attempt != h.Record.Attempt {
		t.Errorf("the hold says %+v, and said %+v", again.Record, h.Record)
	}

	if _, err := l.Keep(t.Context(), h); !errors.Is(err, claim.ErrStale) {
		t.Errorf("the process before renews: %v", err)
	}

	if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: kay, Token: h.Token}); !errors.Is(err,
		claim.ErrStale) {
		t.Errorf("the process before releases: %v", err)
	}

	if kept, err := l.Keep(t.Context(), again); err != nil || kept.Comment != again.Comment {
		t.Errorf("the process that has it renews: %+v, %v", kept, err)
	}

	if !slices.Contains(w.now(true).labels, "agent:in-flight") {
		t.Errorf("labels %q", w.now(true).labels)
	}
}

// slowPost is a forge whose second claim comment takes its time.
type slowPost struct {
	*forge
	posts *int
	delay time.Duration
}

func (s slowPost) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	if *s.posts++; *s.posts == 2 {
		time.Sleep(s.delay)
	}
	return s.forge.Comment(ctx, i, body)
}

// TestResumeTooLate: a resumption that is posted after the end of the hold, when somebody may be
// recording that end, is given up.
func TestResumeTooLate(t *testing.T) {
	for delay, want := range map[time.Duration]bool{0: true, 40 * time.Second: false} {
		alone(t, func(t *testing.T, w *world) {
			_, f := w.ledger(nil)
			posts := 0
			l := ledger.New(over(slowPost{f, &posts, delay}), virtual{}, w.words(), ledger.DefaultSettings())
			if _, err := l.Claim(t.Context(), issue, ledger.Request{Worker: kay, TTL: ttl}); err != nil {
				t.Fatal(err)
			}

			time.Sleep(ttl - 20*time.Second)
			_, err := l.Claim(t.Context(), issue, ledger.Request{Worker: kay, Resume: true})
			if got := err == nil; got != want {
				t.Errorf("posted after %s: %v", delay, err)
			}

			if n := records(w, "agent-release:"); (n == 0) != want {
				t.Errorf("posted after %s: %d releases", delay, n)
			}
		})
	}
}

// TestResumeWithStore: the store gives the lease to the process that names its token, and to no
// other one of the run.
func TestResumeWithStore(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		store := &table{}
		w.store = store
		l, _ := w.ledger(nil)
		h, err := l.Claim(t.Context(), issue, ledger.Request{Worker: kay, TTL: ttl, Branch: "fix"})
		if err != nil {
			t.Fatal(err)
		}

		var held *ledger.HeldError
		if _, err := l.Claim(t.Context(), issue, ledger.Request{Worker: kay, TTL: ttl}); !errors.As(err, &held) ||
			!held.Shared {
			t.Errorf("another process: %v", err)
		}

		time.Sleep(time.Second)
		again, err := l.Claim(t.Context(), issue, ledger.Request{Worker: kay, Resume: true})
		checkResumed(t, w, l, h, again, err)
		if _, err := l.Release(t.Context(), issue,
			ledger.Ending{Worker: kay, Token: again.Token, Outcome: claim.OutcomeFailure}); err != nil {
			t.Fatal(err)
		}

		if _, held, _ := store.Look(t.Context(), issue); held {
			t.Error("it is held in the store")
		}
		shows(t, w, "agent:implement")
	})
}

// passed is a store that another process of the run takes the lease from, between a look and the
// release.
type passed struct {
	*table
	looks, at int
}

func (p *passed) Look(ctx context.Context, i claim.Issue) (lease.Lease, bool, error) {
	if p.looks++; p.looks == p.at {
		now := p.now
		_, _ = p.Acquire(ctx, lease.Ask{
			Issue:  i,
			Worker: now.Worker,
			Nonce:  "5eed5eed",
			TTL:    now.TTL,
			Takes:  now.Token,
		})
	}

	return p.table.Look(ctx, i)
}

// TestReleaseOfWhatWasTakenOver: a release that was under way when the hold was taken over ends
// nothing.
func TestReleaseOfWhatWasTakenOver(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		store := &passed{table: &table{}}
		w.store = store
		l, _ := w.ledger(nil)
		h, err := l.Claim(t.Context(), issue, ledger.Request{Worker: kay, TTL: ttl})
		if err != nil {
			t.Fatal(err)
		}

		store.at = store.looks + 2
		_, err = l.Release(t.Context(), issue, ledger.Ending{Worker: kay, Token: h.Token})
		if !errors.Is(err, lease.ErrLost) || records(w, "agent-release:") != 0 {
			t.Errorf("release: %v; %d releases", err, records(w, "agent-release:"))
		}

		if got, held, _ := store.table.Look(t.Context(), issue); !held || got.Nonce != "5eed5eed" {
			t.Errorf("the store has %+v, %t", got, held)
		}
	})
}

// TestOneKeyAfterItsEnd: a process that asks the store by a snapshot from before its run's hold,
// and gets the lease after that hold has ended, releases it: the key is used up.
func TestOneKeyAfterItsEnd(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		store := &table{}
		w.store = store
		l, f := w.ledger(nil)
		judged := ledger.Snapshot{Taken: l.Now()}
		var err error
		if judged.Facts, err = f.Facts(t.Context(), issue); err != nil {
			t.Fatal(err)
		}

		if _, err := l.Claim(t.Context(), issue, ledger.Request{Worker: kay, TTL: ttl}); err != nil {
			t.Fatal(err)
		}

		if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: kay}); err != nil {
			t.Fatal(err)
		}
		var lost *ledger.LostError
		if _, err := l.Claim(t.Context(), issue, ledger.Request{Worker: kay, TTL: ttl, Judged: judged}); !errors.As(err,
			&lost) {
			t.Errorf("claim with a key that was used meanwhile: %v", err)
		}

		if _, held, _ := store.Look(t.Context(), issue); held {
			t.Error("it is held in the store")
		}
	})
}

// TestOneKeyBundle: what a process of the run that has lost the bundle undoes is its own.
func TestOneKeyBundle(t *testing.T) {
	alone(t, func(t *testing.T, _ *world) {
		f := newFleet(1, faults{}, implement(2)...)
		req := ledger.Request{Worker: kay, TTL: ttl}
		if _, err := bundle(t, f.parts(nil, 0, 1)).Claim(t.Context(), req); err != nil {
			t.Fatal(err)
		}

		for n, p := range f.parts(nil, 0, 1) {
			if _, err := p.Undo(t.Context(), kay, "0badcafe", false); err != nil {
				t.Fatal(err)
			}
			facts, err := p.Ledger.Look(t.Context(), p.Issue)
			if h, held := facts.Log.Holder(); err != nil || !held || !h.Held() || facts.Log.Records != 1 {
				t.Errorf("part %d: %t, %d records, %v", n, held, facts.Log.Records, err)
			}
		}

		_, err := bundle(t, f.parts(nil, 0, 1)).Claim(t.Context(), req)
		var held *ledger.HeldError
		if !errors.As(err, &held) || !held.Shared {
			t.Errorf("another process: %v", err)
		}
	})
}
