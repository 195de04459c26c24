package ledger_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// alone plays one story on a world without faults.
func alone(t *testing.T, story func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) { story(t, newWorld(1, faults{})) })
}

func resting(s *ledger.Settings) {
	s.Rules.MaxAttempts, s.Rules.Rest = 3, []time.Duration{2 * time.Minute}
}

func take(t *testing.T, l *ledger.Ledger, name string) ledger.Hold {
	t.Helper()
	h, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: name}, TTL: ttl})
	if err != nil {
		t.Fatalf("claim by %s: %v", name, err)
	}
	if h.Issue != issue || h.Title == "" || h.URL == "" || h.Since.IsZero() {
		t.Errorf("claim by %s: %+v", name, h)
	}
	return h
}

func (w *world) now(fresh bool) view {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.read(fresh)
}

func shows(t *testing.T, w *world, want string) {
	t.Helper()
	if got := strings.Join(w.now(true).labels, " "); got != want {
		t.Errorf("labels %q, want %q", got, want)
	}
}

// records counts the comments whose body holds the text.
func records(w *world, text string) int {
	n := 0
	for _, c := range w.now(true).comments {
		if strings.Contains(c.Body, text) {
			n++
		}
	}

	return n
}

// TestClaimOfDeadWork: whoever claims first after a holder died ends its hold, is told that the
// issue rests, and leaves true labels behind.
func TestClaimOfDeadWork(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(resting)
		take(t, l, "ann")
		shows(t, w, "agent:in-flight")
		time.Sleep(ttl + 2*time.Minute)
		bob := ledger.Request{Worker: claim.Worker{Codename: "bob"}}
		var held *ledger.HeldError
		for _, change := range []func(*ledger.Settings){resting, nil} {
			dry, _ := w.ledger(func(s *ledger.Settings) {
				s.DryRun = true
				if change != nil {
					change(s)
				}
			})
			_, err := dry.Claim(t.Context(), issue, bob)
			both := []ledger.Part{{Issue: issue, Ledger: dry}, {Issue: numbered(0), Ledger: dry}}
			_, all := bundle(t, both).Claim(t.Context(), bob)
			if refused := change != nil; errors.As(err, &held) != refused || errors.As(all, &held) != refused ||
				ledger.IsUnsent(err) == refused || ledger.IsUnsent(all) == refused {
				t.Errorf("dry run: %v; in a bundle %v; want it refused: %t", err, all, refused)
			} else if refused && (!errors.As(err, &held) || held.Issue != issue || !strings.Contains(err.Error(), "it backs off for")) {
				t.Errorf("dry run: %v", err)
			}
		}

		_, err := l.Claim(t.Context(), issue, bob)
		if !errors.As(err, &held) || !strings.Contains(err.Error(), "backing off until") {
			t.Errorf("claim while it rests: %v", err)
		}

		shows(t, w, "agent:implement")
		time.Sleep(3 * time.Minute)
		take(t, l, "bob")
	})
}

// unlabelled is a forge that lets nobody write labels.
type unlabelled struct{ *forge }

func (unlabelled) AddLabel(context.Context, claim.Issue, string) error    { return errLost }
func (unlabelled) RemoveLabel(context.Context, claim.Issue, string) error { return errLost }

// TestRefusedWithLateLabels: a refused claim that ended a dead hold on its way, and could not
// repair the labels, is a refusal. A *LabelsError would say that the hold is real (found by
// internal/simulation).
func TestRefusedWithLateLabels(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(resting)
		take(t, l, "ann")
		time.Sleep(ttl + 2*time.Minute)
		set := ledger.DefaultSettings()
		resting(&set)
		_, err := ledger.New(over(unlabelled{f}), virtual{}, w.words(), set).Claim(t.Context(), issue,
			ledger.Request{Worker: claim.Worker{Codename: "bob"}})
		var held *ledger.HeldError
		var late *ledger.LabelsError
		if !errors.As(err, &held) || errors.As(err, &late) || !strings.Contains(err.Error(), "labels are late") {
			t.Errorf("claim while it rests: %v", err)
		}
	})
}

// sleepy is a forge on a machine that sleeps, once, before it writes a label.
type sleepy struct {
	*forge
	nap time.Duration
}

func (s *sleepy) AddLabel(ctx context.Context, i claim.Issue, name string) error {
	time.Sleep(s.nap)
	s.nap = 0
	return s.forge.AddLabel(ctx, i, name)
}

// TestClaimOfASleeper: a hold that ran out before the claim could return is not a hold (found by
// internal/simulation).
func TestClaimOfASleeper(t *testing.T) {
	for nap, want := range map[time.Duration]bool{0: true, ttl: false} {
		alone(t, func(t *testing.T, w *world) {
			_, f := w.ledger(nil)
			l := ledger.New(over(&sleepy{f, nap}), virtual{}, w.words(), ledger.DefaultSettings())
			h, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "ann"}, TTL: ttl})
			if got := err == nil && l.Owns(h); got != want {
				t.Errorf("after a nap of %s: owns %v, %v", nap, got, err)
			}

			var lost *ledger.LostError
			if !want && (!errors.As(err, &lost) || records(w, "outcome=abandoned") != 1) {
				t.Errorf("after a nap of %s: %v", nap, err)
			}
		})
	}
}

// TestOneEndPerDeadHold: reads that do not show the end yet do not make a claimer post it again.
func TestOneEndPerDeadHold(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(nil)
		take(t, l, "ann")
		time.Sleep(ttl + 2*time.Minute)
		w.faults.stale = 20 * time.Second
		_, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "bob"}})
		if err != nil {
			t.Errorf("claim: %v", err)
		}

		if n := records(w, "outcome=stale-swept"); n != 1 {
			t.Errorf("%d ends of one hold", n)
		}
	})
}

// TestOverrun: a renewal that lands after the lease has ended must not bring it back.
func TestOverrun(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(func(s *ledger.Settings) { s.Margin = 0 })
		h := take(t, l, "ann")
		time.Sleep(time.Until(h.Until) - 10*time.Second)
		f.slowEdit = 30 * time.Second
		_, err := l.Renew(t.Context(), issue, h.Record.Worker, h.Token)
		var lost *ledger.LostError
		if !errors.As(err, &lost) {
			t.Errorf("renew: %v, want lost", err)
		}

		f.slowEdit = 0
		take(t, l, "bob")
	})
}

func TestRelease(t *testing.T) {
	done, claimed, available := labels.Done, labels.Claimed, labels.Available
	cases := map[string]struct {
		end    ledger.Ending
		labels string // afterwards
		call   bool   // refused as a call that makes no sense
	}{
		"failure": {
			ledger.Ending{Outcome: claim.OutcomeFailure, To: &available},
			"agent:implement", false,
		},
		"already implemented": {ledger.Ending{To: &done}, "agent:done", false},
		"done with failure":   {ledger.Ending{Outcome: claim.OutcomeFailure, To: &done}, "agent:in-flight", true},
		"back to in-flight":   {ledger.Ending{To: &claimed}, "agent:in-flight", true},
		"a reason with a record": {ledger.Ending{
			Outcome: claim.OutcomeError,
			Reason:  "x --> <!-- agent-claim:codename=m firing_id=1 -->",
		}, "agent:implement", false},
		"an outcome out of shape": {ledger.Ending{Outcome: strings.Repeat("x", 9000)}, "agent:in-flight", true},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, _ := w.ledger(nil)
				c.end.Worker = take(t, l, "ann").Record.Worker
				_, err := l.Release(t.Context(), issue, c.end)
				if answer.Is(err, answer.Usage) != c.call || err != nil && !c.call {
					t.Fatalf("release: %v", err)
				}

				shows(t, w, c.labels)
				if again, err := l.Release(t.Context(), issue, c.end); !c.call && err != nil {
					t.Errorf("the same release again: %v %v", again, err)
				}
			})
		})
	}
}

// TestOnlyTheHolder: nobody else renews or releases; force and revoke are recorded with a name.
func TestOnlyTheHolder(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(nil)
		h := take(t, l, "ann")
		stranger := claim.Worker{Codename: "bob", FiringID: "b1"}
		if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: stranger}); !errors.Is(err,
			claim.ErrNotHolder) {
			t.Errorf("release by another: %v", err)
		}

		if _, err := l.Renew(t.Context(), issue, stranger, 0); !errors.Is(err, claim.ErrNotHolder) {
			t.Errorf("renew by another: %v", err)
		}

		if _, err := l.Revoke(t.Context(), issue, "olga", "stop"); err != nil {
			t.Fatal(err)
		}

		if _, err := l.Keep(t.Context(), h); !errors.Is(err, claim.ErrRevoked) {
			t.Errorf("renew after revoke: %v", err)
		}

		if _, ended, err := l.Force(t.Context(), issue, "olga", "taking over"); err != nil || len(ended) != 1 {
			t.Fatalf("force: %v %v", ended, err)
		}
		shows(t, w, "agent:implement")
		if records(w, "outcome=forced by=olga") != 1 {
			t.Error("the force is not recorded with its author")
		}

		if _, err := l.Keep(t.Context(), h); !errors.Is(err, claim.ErrEnded) {
			t.Errorf("renew after force: %v", err)
		}
	})
}

// TestKeyIsUsedOnce: a firing id that the log knows is a wrong call, a live one of our own a no.
func TestKeyIsUsedOnce(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(nil)
		h := take(t, l, "ann")
		again := ledger.Request{Worker: h.Record.Worker}
		var held *ledger.HeldError
		if _, err := l.Claim(t.Context(), issue, again); !errors.As(err, &held) {
			t.Errorf("claim of an own live hold: %v", err)
		}

		if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: h.Record.Worker}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Claim(t.Context(), issue, again); !answer.Is(err, answer.Usage) {
			t.Errorf("claim with a dead key: %v", err)
		}
	})
}

// TestRequests pins what one claim costs (PERFORMANCE, requests): eight, and two for a renewal.
func TestRequests(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		if got := []int{f.calls["read"], f.calls["comment"], f.calls["edit"], f.calls["label"]}; !slices.Equal(got,
			[]int{4, 1, 1, 2}) {
			t.Errorf("claim: reads, posts, edits, label writes = %v", got)
		}

		clear(f.calls)
		if _, err := l.Keep(t.Context(), h); err != nil || f.calls["read"] != 1 || f.calls["edit"] != 1 {
			t.Errorf("renew: %v %v", f.calls, err)
		}
	})
}

// TestJudged: a claim goes by the snapshot that its caller chose the issue by, while that is fresh
// and of the issue; what happened since it was taken still counts, because R1 reads anew.
func TestJudged(t *testing.T) {
	other := issue
	other.Number++
	for name, c := range map[string]struct {
		wait   time.Duration
		of     claim.Issue
		doubts []string
		lacks  []string
		rival  bool
		reads  int
	}{
		"fresh":            {0, issue, nil, nil, false, 3},
		"four seconds old": {4 * time.Second, issue, nil, nil, false, 3},
		"stale":            {6 * time.Second, issue, nil, nil, false, 4},
		"another issue's":  {0, other, nil, nil, false, 4},
		"in doubt":         {0, issue, []string{"the role of ann is not known"}, nil, false, 4},
		"not all of it":    {0, issue, nil, []string{"comments"}, false, 4},
		"taken since":      {0, issue, nil, nil, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, f := w.ledger(nil)
				seen := ledger.Snapshot{Taken: l.Now()}
				seen.Facts, _ = l.Look(t.Context(), issue)
				seen.Facts.Issue, seen.Facts.Doubts, seen.Facts.Missing = c.of, c.doubts, c.lacks
				if c.rival {
					r, _ := w.ledger(nil)
					take(t, r, "ann")
				}

				time.Sleep(c.wait)
				before := f.calls["read"]
				_, err := l.Claim(t.Context(), issue,
					ledger.Request{Worker: claim.Worker{Codename: "bob"}, TTL: ttl, Judged: seen})
				var held *ledger.HeldError
				switch reads := f.calls["read"] - before; {
				case c.rival && (!errors.As(err, &held) || held.Yielded == nil):
					t.Errorf("%v, want a lost race", err)
				case !c.rival && err != nil:
					t.Error(err)
				case !c.rival && reads != c.reads:
					t.Errorf("%d reads, want %d", reads, c.reads)
				}
			})
		})
	}
}

// TestClaimInterrupted: a claim whose caller's time ends at any request is a hold, or leaves none
// behind.
func TestClaimInterrupted(t *testing.T) {
	undone := 0
	for at, finished := 1, false; !finished; at++ {
		alone(t, func(t *testing.T, w *world) {
			_, f := w.ledger(nil)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			mine := mortal{f, &life{left: at, when: stop}}
			_, err := ledger.New(over(mine), virtual{}, w.words(), ledger.DefaultSettings()).Claim(ctx, issue,
				ledger.Request{Worker: claim.Worker{Codename: "ann"}, TTL: ttl})
			finished = err == nil
			holds := finished || outcome(err) == "late"
			if live := f.look(issue).Log.Live(); holds != (len(live) == 1) || !finished && !errors.Is(err, context.Canceled) {
				t.Errorf("at request %d: %v, %d live", at, err, len(live))
			}

			if records(w, "outcome=") > 0 {
				undone++
			}
		})
	}

	if undone < 2 {
		t.Errorf("only %d claims were taken back", undone)
	}
}

// TestPausedHere: a pause of this machine keeps it from claims, as does one that cannot be read, and
// not from what it holds.
func TestPausedHere(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		var pause *lifecycle.Pause
		var unread error
		l, _ := w.ledger(func(s *ledger.Settings) {
			s.PausedHere = func(claim.Repo) (*lifecycle.Pause, error) { return pause, unread }
		})

		bob := ledger.Request{Worker: claim.Worker{Codename: "bob"}}
		var held *ledger.HeldError
		pause = &lifecycle.Pause{Reason: "lunch"}
		if _, err := l.Claim(t.Context(), issue, bob); !errors.As(err, &held) || !strings.Contains(err.Error(), "lunch") {
			t.Errorf("claim in a pause: %v", err)
		}

		pause, unread = nil, errLost
		var unknown *ledger.UnknownError
		if _, err := l.Claim(t.Context(), issue, bob); !errors.As(err, &unknown) || !errors.Is(err, errLost) {
			t.Errorf("claim while nobody knows: %v", err)
		}
		whole := bundle(t, []ledger.Part{{Issue: issue, Ledger: l}})
		if _, err := whole.Claim(t.Context(), bob); !errors.As(err, &unknown) || !errors.Is(err, errLost) {
			t.Errorf("claim of a bundle while nobody knows: %v", err)
		}

		unread = nil
		h := take(t, l, "ann")
		pause = &lifecycle.Pause{Reason: "lunch"}
		if _, err := l.Keep(t.Context(), h); err != nil {
			t.Errorf("heartbeat in a pause: %v", err)
		}
	})
}
