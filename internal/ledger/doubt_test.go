package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// next returns the next answer of a script; nil is success, and so is everything after its end.
func next(script *[]error) error {
	if len(*script) == 0 {
		return nil
	}
	err := (*script)[0]
	*script = (*script)[1:]
	return err
}

// mumbling is a store that does what it is asked and whose answers are lost as the scripts say.
type mumbling struct {
	*table
	acquires, looks []error
}

func (m *mumbling) Acquire(ctx context.Context, a lease.Ask) (lease.Lease, error) {
	got, err := m.table.Acquire(ctx, a)
	if lost := next(&m.acquires); lost != nil {
		return lease.Lease{}, lost
	}
	return got, err
}

func (m *mumbling) Look(ctx context.Context, i claim.Issue) (lease.Lease, bool, error) {
	if err := next(&m.looks); err != nil {
		return lease.Lease{}, false, err
	}
	return m.table.Look(ctx, i)
}

// TestLostAcquire: who does not hear how its acquire ended releases the lease, so that it keeps
// nobody from the issue.
func TestLostAcquire(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		store := &mumbling{table: &table{}, acquires: []error{errLost}}
		w.store = store
		l, _ := w.ledger(nil)
		_, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "ann"}, TTL: ttl})
		var unknown *ledger.UnknownError
		if !errors.As(err, &unknown) || !errors.Is(err, errLost) {
			t.Errorf("claim: %v", err)
		}

		if store.held() {
			t.Errorf("the store still has a lease of %s", store.now.Worker)
		}
		take(t, l, "bob")
	})
}

// TestFailedLook: a look at the lease store that failed is not an answer. The verdict is unknown,
// and a release whose lease may still stand does not record an end.
func TestFailedLook(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		store := &mumbling{table: &table{}}
		w.store = store
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		var unknown *ledger.UnknownError
		store.looks = []error{errLost}
		if _, v, err := l.Check(t.Context(), issue, lifecycle.Seeker{}); !errors.As(err, &unknown) ||
			unknown.Issue != issue || !strings.Contains(err.Error(), "lease store table: answer lost") {
			t.Errorf("check: %v, %v", v, err)
		}

		store.looks = []error{errLost}
		one := func(yield func(lifecycle.Facts, error) bool) { yield(f.look(issue), nil) }
		if r := l.Tend(t.Context(), one, ledger.Sweep{By: "s"}); len(r.Findings) != 1 || r.Findings[0].Issue != issue ||
			r.Findings[0].Title == "" || r.Findings[0].URL == "" || !errors.Is(r.Findings[0].Err, errLost) {
			t.Errorf("sweep: %+v", r.Findings)
		}

		store.looks = []error{nil, errLost} // the snapshot, then what the release is to release
		if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: h.Record.Worker}); !errors.As(err, &unknown) {
			t.Errorf("release: %v", err)
		}

		if n := records(w, "agent-release:"); n != 0 || !store.held() {
			t.Errorf("%d ends were recorded; the store has the lease: %v", n, store.held())
		}
	})
}

// TestReleaseWithoutServerTime: where no answer says when it was given the labels say nothing of
// the move, and a release with a target is neither legal nor refused: nobody knows.
func TestReleaseWithoutServerTime(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		available := labels.Available
		f.timeless = true
		var unknown *ledger.UnknownError
		if _, err := l.Release(t.Context(), issue,
			ledger.Ending{
				Worker: h.Record.Worker, Outcome: claim.OutcomeFailure,
				To: &available,
			}); !errors.As(err, &unknown) {
			t.Errorf("release: %v, want that nobody knows", err)
		}

		if n := records(w, "agent-release:"); n != 0 {
			t.Errorf("%d ends were recorded", n)
		}
	})
}

// patchy is a forge some of whose answers are lost. A comment whose answer is lost was posted where
// lands is true.
type patchy struct {
	*forge
	posts, reads []error
	lands        bool
	before       func() // what happens before the first post
}

func (p *patchy) Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	if err := next(&p.reads); err != nil {
		return lifecycle.Facts{}, err
	}
	return p.forge.Facts(ctx, i)
}

func (p *patchy) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	if p.before != nil {
		p.before()
		p.before = nil
	}

	lost := next(&p.posts)
	if lost == nil {
		return p.forge.Comment(ctx, i, body)
	}

	if p.lands {
		if _, err := p.forge.Comment(ctx, i, body); err != nil {
			return claim.Comment{}, err
		}
	}

	return claim.Comment{}, lost
}

// TestFailedLookForAnOwnPost: a post whose answer was lost is looked for until a snapshot says
// whether it is there. A read that failed does not say that it is not.
func TestFailedLookForAnOwnPost(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		_, f := w.ledger(nil)
		p := &patchy{
			forge: f,
			posts: []error{errLost},
			reads: []error{nil, errLost},
			lands: true,
		}
		take(t, ledger.New(over(p), virtual{}, w.words(), ledger.DefaultSettings()), "ann")
		if n := records(w, "agent-claim:"); n != 1 {
			t.Errorf("%d claims were posted, want one", n)
		}
	})
}

// TestEndOfAnother: an end that somebody else recorded is not the release that the holder asks for,
// also when it names the same outcome, and also when it comes between two tries of the holder's
// own.
func TestEndOfAnother(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		alone(t, func(t *testing.T, w *world) {
			l, _ := w.ledger(nil)
			own := ledger.Ending{Worker: take(t, l, "ann").Record.Worker, Outcome: claim.OutcomeCancelled}
			others := own
			others.By = "olga"

			for _, e := range []ledger.Ending{others, others} { // the second is idempotent
				if _, err := l.Release(t.Context(), issue, e); err != nil {
					t.Fatal(err)
				}
			}

			var lost *ledger.LostError
			if _, err := l.Release(t.Context(), issue, own); !errors.As(err, &lost) {
				t.Errorf("release after olga's: %v, want lost", err)
			}
		})
	})

	for name, answer := range map[string]error{"between two tries": errLost, "under way": nil} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, f := w.ledger(pipeline)
				h := take(t, l, "ann")
				set := ledger.DefaultSettings()
				pipeline(&set)

				for verb, end := range map[string]func(*ledger.Ledger) error{
					"failure": func(l *ledger.Ledger) error {
						_, err := l.Release(t.Context(), issue,
							ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeFailure})
						return err
					},
					"advanced": func(l *ledger.Ledger) error {
						_, _, err := l.Advance(t.Context(), issue, ledger.Advance{Worker: h.Record.Worker})
						return err
					},
				} {
					p := &patchy{forge: f, posts: []error{answer}, before: func() {
						if _, _, err := l.Force(t.Context(), issue, "olga", "mine"); err != nil {
							t.Error(err)
						}
					}}
					var lost *ledger.LostError
					if err := end(ledger.New(over(p), virtual{}, w.words(), set)); !errors.As(err, &lost) ||
						!strings.Contains(err.Error(), verb+" was not recorded") {
						t.Errorf("%s: %v, want lost", verb, err)
					}

					h = take(t, l, "ann")
				}
			})
		})
	}
}

// TestLateConfirmation: a confirmation whose answer comes when the unconfirmed claim has expired is
// not a hold, although the lease that it began would not be over.
func TestLateConfirmation(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		f.slowEdit = ledger.DefaultSettings().Rules.Terms.Pending
		_, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "ann"}, TTL: time.Hour})
		if !errors.Is(err, claim.ErrOverdue) || records(w, "outcome=abandoned") != 1 {
			t.Errorf("claim: %v; %d ends", err, records(w, "outcome=abandoned"))
		}
	})
}

// TestRenewalInTheMargin: who does not know when it was told of its lease, such as a heartbeat of a
// new process, renews by the server's time, and no later than a margin before the end.
func TestRenewalInTheMargin(t *testing.T) {
	for name, c := range map[string]struct {
		left time.Duration
		want bool
	}{"before the margin": {15 * time.Second, true}, "in the margin": {5 * time.Second, false}} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, f := w.ledger(nil)
				h := take(t, l, "ann")
				time.Sleep(time.Until(h.Until) - c.left)
				clear(f.calls)
				_, err := l.Renew(t.Context(), issue, h.Record.Worker, h.Token)
				if (err == nil) != c.want || err != nil && !errors.Is(err, claim.ErrOverdue) ||
					(f.calls["edit"] > 0) != c.want {
					t.Errorf("renew: %v, %d edits", err, f.calls["edit"])
				}
			})
		})
	}
}

// delivering is a forge where pull requests are open.
type delivering struct {
	*forge
	prs []lifecycle.PR
}

func (d delivering) Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	f, err := d.forge.Facts(ctx, i)
	f.PRs = d.prs
	return f, err
}

// TestExpiredAndDelivered: an expired hold whose pull request is open was not idle. The sweep hands
// it over: the attempt did not fail, and the issue shows the pull request.
func TestExpiredAndDelivered(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		take(t, l, "ann")
		time.Sleep(ttl + 2*time.Minute)
		d := delivering{f, []lifecycle.PR{{
			Repo:        "o/r",
			Number:      9,
			URL:         "https://github.com/o/r/pull/9",
			State:       lifecycle.PROpened,
			DefaultBase: true,
			Author:      "bot",
			Head:        "fix",
			HeadRepo:    "o/r",
		}}}
		l = ledger.New(over(d), virtual{}, w.words(), ledger.DefaultSettings())
		rep := l.Sweep(t.Context(), scan{f}, ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "sweep-1"})
		if !rep.Complete() || len(rep.Findings) != 1 || len(rep.Findings[0].Ended) != 1 {
			t.Errorf("sweep: %+v", rep)
		}

		if handed, swept := records(w, "outcome=success"), records(w, "outcome=stale-swept"); handed != 1 ||
			swept != 0 {
			t.Errorf("%d hand-overs and %d ends of an expired hold are recorded", handed, swept)
		}

		shows(t, w, "agent:pr-open")
	})
}

// doubtful is a forge that does not find out, from one of its reads on, whether the records of some
// author count.
type doubtful struct {
	*forge
	from, reads int
}

func (d *doubtful) Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	f, err := d.forge.Facts(ctx, i)
	if d.reads++; d.reads >= d.from {
		f.Doubts = []string{"ask for the role of eve: no answer"}
	}
	return f, err
}

// TestDoubtfulAuthor: a snapshot with a record of which nobody knows whether it counts decides
// nothing, also where the own claim is in it: neither R1 nor R2 goes by it, and no hold is renewed
// or released by it (spec.md#which-records-count).
func TestDoubtfulAuthor(t *testing.T) {
	for from, step := range []string{"step 0", "R1", "R2"} {
		alone(t, func(t *testing.T, w *world) {
			_, f := w.ledger(nil)
			l := ledger.New(over(&doubtful{forge: f, from: from + 1}), virtual{}, w.words(), ledger.DefaultSettings())
			_, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "ann"}})
			var unknown *ledger.UnknownError
			posts, confirmations := records(w, "agent-claim:"), records(w, "state=held")
			if !errors.As(err, &unknown) || (posts > 0) != (step != "step 0") ||
				(confirmations > 0) != (step == "R2") || records(w, "outcome=abandoned") != posts {
				t.Errorf("from %s on: claim: %v; %d posts, %d confirmations", step, err, posts, confirmations)
			}
		})
	}

	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		for verb, act := range map[string]func(*ledger.Ledger) error{
			"renew": func(l *ledger.Ledger) error {
				_, err := l.Renew(t.Context(), issue, h.Record.Worker, h.Token)
				return err
			},
			"release": func(l *ledger.Ledger) error {
				_, err := l.Release(t.Context(), issue, ledger.Ending{Worker: h.Record.Worker})
				return err
			},
		} {
			var unknown *ledger.UnknownError
			if err := act(ledger.New(over(&doubtful{forge: f, from: 1}), virtual{}, w.words(),
				ledger.DefaultSettings())); !errors.As(err, &unknown) {
				t.Errorf("%s: %v, want that nobody knows", verb, err)
			}
		}

		if heartbeats, ends := records(w, "hb=1"), records(w, "agent-release:"); heartbeats != 0 || ends != 0 {
			t.Errorf("%d renewals and %d ends were recorded", heartbeats, ends)
		}
	})
}
