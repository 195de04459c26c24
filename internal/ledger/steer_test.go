package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestForceBefore: what a person ended is ended once; who came after the person spoke stays, and
// what has ended after that does not begin again.
func TestForceBefore(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(nil)
		take(t, l, "ann")
		time.Sleep(time.Second)
		spoke := time.Now()
		for want := 1; want >= 0; want-- {
			_, ended, err := l.ForceBefore(t.Context(), issue, spoke, "olga", "label taken off")
			if err != nil || len(ended) != want {
				t.Fatalf("ended %v, %v; want %d", ended, err, want)
			}
		}

		shows(t, w, "agent:implement")
		time.Sleep(time.Second)
		bob := take(t, l, "bob")
		if _, ended, err := l.ForceBefore(t.Context(), issue, spoke, "olga", "delivered again"); err != nil ||
			len(ended) > 0 {
			t.Errorf("ended %v, %v; want nobody", ended, err)
		}

		shows(t, w, "agent:in-flight")
		if n := records(w, "outcome=forced by=olga"); n != 1 {
			t.Errorf("%d forced releases, want one", n)
		}

		end := ledger.Ending{Worker: bob.Record.Worker, Outcome: claim.OutcomeAlreadyImplemented}
		spoke = time.Now()
		time.Sleep(time.Second)
		if _, err := l.Release(t.Context(), issue, end); err != nil {
			t.Fatal(err)
		}

		time.Sleep(time.Second)
		for _, c := range []struct {
			at   time.Time
			want bool
		}{{spoke, false}, {time.Now(), true}} {
			if did, err := l.Restart(t.Context(), issue, c.at, "olga", "queued"); err != nil || did != c.want {
				t.Errorf("begun again %t, %v; want %t", did, err, c.want)
			}
		}
	})
}

// TestClaimPerson: a person's hold has no end, is the same when it is asked for again, and an app
// has none.
func TestClaimPerson(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		for _, login := range []string{"", "x[bot]"} {
			if _, err := l.ClaimPerson(t.Context(), issue, login, false, ""); !answer.Is(err, answer.Usage) ||
				!strings.Contains(err.Error(), "is not a person") {
				t.Errorf("%q: %v", login, err)
			}
		}

		first, err := l.ClaimPerson(t.Context(), issue, "bot", false, "")
		again, unsaid := l.ClaimPerson(t.Context(), issue, "bot", false, "")
		if err != nil || unsaid != nil || first.Comment == 0 || again.Comment != first.Comment {
			t.Errorf("%+v, %v; again %+v, %v", first, err, again, unsaid)
		}

		var held *ledger.HeldError
		if _, err := l.ClaimPerson(t.Context(), issue, "tia", false, ""); !errors.As(err, &held) {
			t.Errorf("beside a person: %v", err)
		}

		one := func(yield func(lifecycle.Facts, error) bool) { yield(f.Facts(t.Context(), issue)) }
		if rep := l.Tend(t.Context(), one, ledger.Sweep{By: "test"}); len(rep.Holds) != 1 || !rep.Holds[0].Until.IsZero() {
			t.Errorf("holds: %+v", rep.Holds)
		}
		if did, err := l.Unlink(t.Context(), issue, lifecycle.PR{Repo: "o/r", Number: 9}, "olga"); did || err != nil {
			t.Errorf("a pull request that no release names: unlinked %t, %v", did, err)
		}
	})
}

// post writes a record as the worker's tool would.
func post(t *testing.T, f *forge, r claim.Record) {
	t.Helper()
	body, err := claim.Body(r, "")
	if err == nil {
		_, err = f.Comment(t.Context(), issue, body)
	}

	if err != nil {
		t.Fatal(err)
	}
}

// answered is what comes of olga's answer to the plan of that moment.
func answered(t *testing.T, l *ledger.Ledger, kind claim.Kind, moment time.Time, reason string) (ledger.Repair, error) {
	t.Helper()
	return l.Answer(t.Context(), issue, ledger.Answer{
		Kind:   kind,
		By:     "olga",
		Moment: moment,
		Reason: reason,
	})
}

// TestPlanAnswers: only the plan that was there when the person spoke has an answer, and one.
func TestPlanAnswers(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		spoke := time.Now()
		if _, err := answered(t, l, claim.KindApprove, spoke, ""); !errors.Is(err, claim.ErrNoPlan) {
			t.Errorf("approve without a plan: %v", err)
		}

		time.Sleep(time.Second)
		post(t, f, claim.Record{Kind: claim.KindPlan, Worker: h.Record.Worker})
		if _, err := answered(t, l, claim.KindApprove, spoke, ""); !errors.Is(err, claim.ErrNoPlan) {
			t.Errorf("approve before the plan: %v", err)
		}

		if _, err := l.Reconcile(t.Context(), issue, "sweep-1"); err != nil {
			t.Fatal(err)
		}
		shows(t, w, "agent:plan-pending-approval")
		if rep, err := answered(t, l, claim.KindApprove, time.Now(), ""); err != nil || rep.Is[0] != "agent:in-flight" {
			t.Errorf("approve: %+v, %v", rep, err)
		}

		if _, err := answered(t, l, claim.KindReject, time.Now(), ""); !errors.Is(err, claim.ErrNoPlan) {
			t.Errorf("reject an approved plan: %v", err)
		}
		post(t, f, claim.Record{Kind: claim.KindPlan, Worker: h.Record.Worker})
		if _, err := answered(t, l, claim.KindReject, time.Now(), "too large"); err != nil {
			t.Errorf("reject: %v", err)
		}

		shows(t, w, "agent:implement")
		if n := records(w, "agent-approve:") + records(w, "agent-reject:"); n != 2 {
			t.Errorf("%d answers, want two", n)
		}
	})
}

// TestLatePlanAnswer: a plan that has waited too long is not approved any more.
func TestLatePlanAnswer(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		post(t, f, claim.Record{Kind: claim.KindPlan, Worker: h.Record.Worker})
		time.Sleep(25 * time.Hour)
		if _, err := answered(t, l, claim.KindApprove, time.Now(), ""); !errors.Is(err, claim.ErrOverdue) {
			t.Errorf("approve: %v, want overdue", err)
		}
	})
}

// TestReset: attempts up to the moment stop counting, once; with nothing to reset nothing is
// written.
func TestReset(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(func(s *ledger.Settings) { s.Rules.MaxAttempts, s.Rules.Rest = 2, nil })
		before := time.Now()
		for _, name := range []string{"ann", "bob"} {
			h := take(t, l, name)
			time.Sleep(2 * time.Second)
			if _, err := l.Release(t.Context(), issue,
				ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeFailure}); err != nil {
				t.Fatal(err)
			}
		}

		shows(t, w, "needs:human-scope")
		for n, c := range []struct {
			moment time.Time
			want   bool
		}{{before, false}, {time.Now(), true}, {time.Now(), false}} {
			if did, err := l.Reset(t.Context(), issue, c.moment, "olga"); err != nil || did != c.want {
				t.Errorf("reset %d: %v, %v; want %v", n, did, err, c.want)
			}
		}

		if n := records(w, "agent-reset:"); n != 1 {
			t.Errorf("%d resets, want one", n)
		}
	})
}

// refusing is a forge whose token may not write: here, or never.
type refusing struct {
	*forge
	never bool
}

type noRight struct {
	error
	never bool
}

func (n noRight) Denied() bool { return n.never }

func (r refusing) AddLabel(context.Context, claim.Issue, string) error {
	return noRight{errors.New("not permitted"), r.never}
}

// TestTend: snapshots are looked at one by one; a dry run says what would be; a token that may not
// write is tried once.
func TestTend(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		take(t, l, "ann")
		time.Sleep(ttl + 2*time.Minute)
		snapshots := func(n int) iter.Seq2[lifecycle.Facts, error] {
			return func(yield func(lifecycle.Facts, error) bool) {
				for range n {
					if !yield(f.Facts(t.Context(), issue)) {
						return
					}
				}
			}
		}

		plan := l.Tend(t.Context(), snapshots(1), ledger.Sweep{By: "test", DryRun: true})
		if len(plan.Findings) != 1 || len(plan.Findings[0].Ended) != 1 ||
			!slices.Equal(plan.Findings[0].Is, []string{"agent:implement"}) {
			t.Errorf("dry run: %+v", plan.Findings)
		}

		shows(t, w, "agent:in-flight")

		poor := func(never bool) *ledger.Ledger {
			return ledger.New(over(refusing{f, never}), virtual{}, w.words(), ledger.DefaultSettings())
		}
		if err := f.RemoveLabel(t.Context(), issue, "agent:in-flight"); err != nil {
			t.Fatal(err)
		}

		rep := poor(true).Tend(t.Context(), snapshots(3), ledger.Sweep{By: "test"})
		if len(rep.Examined) != 3 || rep.Failed != 3 || len(rep.Skipped) > 0 || rep.Stopped == nil || rep.Complete() {
			t.Errorf("refused: %+v", rep)
		}

		if rep := poor(false).Tend(t.Context(), snapshots(3), ledger.Sweep{By: "test"}); rep.Failed != 3 || rep.Stopped != nil {
			t.Errorf("refused for each: %+v", rep)
		}

		odd := func(yield func(lifecycle.Facts, error) bool) {
			_ = yield(lifecycle.Facts{Issue: issue}, errLost) && yield(lifecycle.Facts{Issue: issue, Unshown: 2}, nil)
		}
		if rep := l.Tend(t.Context(), odd, ledger.Sweep{By: "test", DryRun: true}); len(rep.Findings) != 1 ||
			rep.Findings[0].Issue != issue || len(rep.Unshown) != 1 {
			t.Errorf("unread, and not all shown: %+v", rep)
		}

		seen := 0
		count := func(lifecycle.Facts) { seen++ }
		if rep := l.Tend(t.Context(), snapshots(1), ledger.Sweep{By: "test", Seen: count}); !rep.Complete() ||
			len(rep.Examined) != 1 || seen != 1 {
			t.Errorf("tend: %+v, told of %d", rep, seen)
		}
		shows(t, w, "agent:implement")
	})
}

// unassignable is a forge that assigns nobody once it is closed.
type unassignable struct {
	*forge
	closed *bool
}

func (u unassignable) Assign(string) error {
	if *u.closed {
		return ledger.ErrUnassignable
	}
	return nil
}

// TestUnassignable: a login that cannot be assigned goes out of the record, so that nobody tries it
// again; the hold is real.
func TestUnassignable(t *testing.T) {
	for _, before := range []bool{false, true} {
		alone(t, func(t *testing.T, w *world) {
			_, f := w.ledger(nil)
			closed := before
			l := ledger.New(over(unassignable{f, &closed}), virtual{}, w.words(), ledger.DefaultSettings())
			h, err := l.ClaimPerson(t.Context(), issue, "bot", false, "")
			if err != nil || errors.Is(h.Unassigned, ledger.ErrUnassignable) != before || (h.Record.Assignee == "") != before {
				t.Errorf("claim: %+v, %v", h, err)
			}

			closed = true
			c, _ := f.look(issue).Log.Holder()
			if err := l.Assign(t.Context(), f.look(issue), c); errors.Is(err, ledger.ErrUnassignable) == before {
				t.Errorf("assign %q: %v", c.Record.Assignee, err)
			}
			if c, held := f.look(issue).Log.Holder(); !held || c.Record.Assignee != "" || c.Record.Worker != h.Record.Worker {
				t.Errorf("the record is %+v", c.Record)
			}
		})
	}
}

// spent is an error after which the budget of requests is gone, or not.
type spent struct {
	error
	gone bool
}

func (s spent) Exhausted() bool { return s.gone }

// lists is a GitHub whose lists of issues are these.
type lists struct {
	scan
	yields func(yield func(lifecycle.Facts, error) bool)
}

func (l lists) Scan(context.Context, claim.Repo, time.Time) iter.Seq2[lifecycle.Facts, error] {
	return l.yields
}

// folding is a GitHub whose comments can be minimized, though it says that it failed.
type folding struct {
	scan
	minimized map[int64]bool
}

func (f folding) Scan(ctx context.Context, _ claim.Repo, _ time.Time) iter.Seq2[lifecycle.Facts, error] {
	got, err := f.Facts(ctx, issue)
	for n := range got.Log.Log {
		e := &got.Log.Log[n]
		e.Node, e.Minimized = fmt.Sprint(e.ID), f.minimized[e.ID]
	}
	got.Log.Log[0].Node = "" // an older server's
	return func(yield func(lifecycle.Facts, error) bool) { yield(got, err) }
}

func (f folding) Minimize(_ context.Context, comments []claim.Comment) (int, error) {
	for _, c := range comments {
		f.minimized[c.ID] = true
	}
	return len(comments), errLost
}

// TestMinimized: a sweep minimizes the comments of what has ended, a hundred at a time, where the
// configuration wants it. A plan stays, as does what belongs to a live hold.
func TestMinimized(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(func(s *ledger.Settings) { s.Minimize = true })
		stays, _ := w.ledger(func(s *ledger.Settings) { s.Minimize = false })
		plan := func(h ledger.Hold) {
			if _, err := l.Plan(t.Context(), issue, h.Record.Worker, ledger.Draft{Text: "Do it"}); err != nil {
				t.Fatal(err)
			}
		}

		for n := range 51 {
			h := take(t, l, "ann")
			if n == 0 {
				plan(h)
			}
			end := ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeCancelled}
			if _, err := l.Release(t.Context(), issue, end); err != nil {
				t.Fatal(err)
			}
		}

		plan(take(t, l, "bob"))
		post(t, f, claim.Record{Kind: claim.KindRelease, Worker: claim.Worker{Codename: "cyd", FiringID: "c1"}}) // of no claim

		github := folding{scan{f}, map[int64]bool{}}
		for n, c := range []struct {
			by   *ledger.Ledger
			dry  bool
			want int
		}{{l, true, 0}, {stays, false, 0}, {l, false, 100}, {l, false, 2}, {l, false, 0}} {
			s := ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "s", DryRun: c.dry}
			r := c.by.Sweep(t.Context(), github, s)
			if r.Minimized != c.want || (r.NotMinimized == nil) != (c.want == 0) || !r.Complete() {
				t.Errorf("sweep %d: %d minimized, %v; want %d", n, r.Minimized, r.NotMinimized, c.want)
			}
		}
	})
}

// TestSweepStops: what a list showed is repaired before more of it is read, and when it breaks off;
// where the budget is gone nothing further is looked at, and the report says of what.
func TestSweepStops(t *testing.T) {
	for err, gone := range map[error]bool{
		spent{errLost, true}:     true,
		spent{errLost, false}:    false,
		context.Canceled:         true,
		context.DeadlineExceeded: true,
	} {
		alone(t, func(t *testing.T, w *world) {
			l, f := w.ledger(nil)
			take(t, l, "ann")
			time.Sleep(ttl + 2*time.Minute)
			sweep := func(yields func(yield func(lifecycle.Facts, error) bool)) string {
				r := l.Sweep(t.Context(), lists{scan{f}, yields},
					ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}, {Owner: "o", Name: "s"}}, By: "s"})
				return fmt.Sprint(len(r.Examined), r.Failed, r.Skipped, r.Stopped)
			}

			got := sweep(func(yield func(lifecycle.Facts, error) bool) {
				_ = yield(lifecycle.Facts{Issue: issue}, err) && yield(f.look(issue), nil)
			})
			if want := map[bool]string{
				true:  fmt.Sprintf("0 1 [o/r#7: %[1]v o/s: %[1]v] %[1]v", err),
				false: "2 2 [] <nil>",
			}[gone]; got != want {
				t.Errorf("of one issue: %s, want %s", got, want)
			}

			take(t, l, "bob")
			time.Sleep(ttl + 2*time.Minute)
			got = sweep(func(yield func(lifecycle.Facts, error) bool) {
				_ = yield(f.look(issue), nil) && yield(lifecycle.Facts{}, err)
			})
			if want := map[bool]string{
				true:  fmt.Sprintf("1 0 [o/r: %[1]v o/s: %[1]v] %[1]v", err),
				false: fmt.Sprintf("2 0 [o/r: %[1]v o/s: %[1]v] <nil>", err),
			}[gone]; got != want || records(w, "outcome=stale-swept") != 2 {
				t.Errorf("of the list: %s, want %s; %d ends", got, want, records(w, "outcome=stale-swept"))
			}

			take(t, l, "tom")
			time.Sleep(ttl + 2*time.Minute)
			dead := f.look(issue)
			l.Tend(t.Context(), func(yield func(lifecycle.Facts, error) bool) {
				for range 100 {
					yield(dead, nil)
				}
				if n := records(w, "outcome=stale-swept"); n != 3 {
					t.Errorf("%d ends after a hundred issues, want three", n)
				}
			}, ledger.Sweep{By: "s"})
		})
	}
}

// TestClaimPersonTwice: of two programs that claim for one person at once both get the one hold;
// while one of them has not confirmed its claim, the other does not know.
func TestClaimPersonTwice(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		var both sync.WaitGroup
		var holds [2]ledger.Hold
		for n := range holds {
			both.Go(func() {
				l, _ := w.ledger(nil)
				var err error
				if holds[n], err = l.ClaimPerson(t.Context(), issue, "bot", false, ""); err != nil {
					t.Error(err)
				}
			})
		}

		both.Wait()
		if holds[0].Comment == 0 || holds[0].Comment != holds[1].Comment {
			t.Errorf("two holds: %+v", holds)
		}
	})

	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		worker := claim.Worker{Codename: "bot", FiringID: "b1"}
		post(t, f, claim.Record{Kind: claim.KindClaim, Worker: worker, Person: "bot", Nonce: "n", TTL: claim.NoExpiry})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var unknown *ledger.UnknownError
		if _, err := l.ClaimPerson(ctx, issue, "bot", false, ""); !errors.As(err, &unknown) || unknown.Issue != issue ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("beside a claim that is not confirmed: %v", err)
		}

		begun := time.Now()
		var held *ledger.HeldError
		if _, err := l.ClaimPerson(t.Context(), issue, "tia", false, ""); !errors.As(err, &held) || time.Since(begun) > 10*time.Second {
			t.Errorf("beside somebody else's: %v after %s", err, time.Since(begun))
		}

		w.shown = append(w.shown, "do-not-pickup")
		hasty, _ := w.ledger(func(s *ledger.Settings) { s.MaxReads = 1 })
		if _, err := hasty.ClaimPerson(t.Context(), issue, "bot", false, ""); !errors.As(err, &held) || held.Issue != issue {
			t.Errorf("beside a label, too: %v", err)
		}
	})
}
