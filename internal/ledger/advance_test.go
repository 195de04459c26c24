package ledger_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
)

func pipeline(s *ledger.Settings) {
	s.Rules.MaxAttempts, s.Rules.Rest = 0, nil
	s.Rules.Scheme = labels.Agent().Pipeline([]labels.Stage{
		{Name: "ready", Label: "agent:implement"},
		{Name: "review", Label: "stage:review", TTL: 20 * time.Minute},
		{Name: "done", Label: "done"},
	})
}

// TestAdvance: a holder moves the issue on and is free; the stage is the log's, and its ttl the
// stage's.
func TestAdvance(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(pipeline)
		h := take(t, l, "ann")
		shows(t, w, "agent:implement agent:in-flight")

		for range 2 {
			rep, to, err := l.Advance(t.Context(), issue, ledger.Advance{Worker: h.Record.Worker})
			if err != nil || to.Name != "review" || !slices.Equal(rep.Is, []string{"stage:review"}) {
				t.Fatalf("advance: %+v to %s, %v", rep, to.Name, err)
			}
		}

		if n := records(w, "outcome=advanced"); n != 1 {
			t.Errorf("%d moves", n)
		}
		next, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "bob"}})
		if err != nil || next.Record.TTL != 20*time.Minute || next.Record.Stage != "review" {
			t.Fatalf("claim: %+v, %v", next.Record, err)
		}

		var held *ledger.HeldError
		if _, _, err := l.Advance(t.Context(), issue, ledger.Advance{By: "olga"}); !errors.As(err, &held) {
			t.Errorf("a person moves what is held: %v", err)
		}

		if _, err := l.Plan(t.Context(), issue, next.Record.Worker, ledger.Draft{Text: "Do it"}); err != nil {
			t.Fatal(err)
		}

		if _, _, err := l.Advance(t.Context(), issue, ledger.Advance{Worker: next.Record.Worker}); !errors.As(err,
			&held) || !strings.Contains(err.Error(), "plan") {
			t.Errorf("advance while a plan waits: %v", err)
		}

		if _, err := l.Answer(t.Context(), issue, ledger.Answer{Kind: claim.KindApprove, By: "olga"}); err != nil {
			t.Fatal(err)
		}

		// What the former holder says now moves nothing.
		post(t, f, claim.Record{
			Kind:    claim.KindRelease,
			Worker:  h.Record.Worker,
			Outcome: claim.OutcomeAdvanced,
			Stage:   "done",
		})
		time.Sleep(2 * time.Second)
		shows(t, w, "stage:review agent:in-flight")
		if _, to, err := l.Advance(t.Context(), issue, ledger.Advance{Worker: next.Record.Worker}); err != nil ||
			to.Name != "done" {
			t.Errorf("advance: %s, %v", to.Name, err)
		}

		shows(t, w, "done")
		if _, _, err := l.Advance(t.Context(), issue, ledger.Advance{By: "olga"}); !answer.Is(err, answer.Usage) {
			t.Errorf("beyond the last: %v", err)
		}

		if _, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "cid"}}); !errors.As(err,
			&held) {
			t.Errorf("claim of what is done: %v", err)
		}

		if _, _, err := l.Advance(t.Context(), issue, ledger.Advance{By: "olga", To: "ready"}); err != nil {
			t.Errorf("back: %v", err)
		}
		shows(t, w, "agent:implement")
	})
}

// TestAdvanceLost: a hold that is over moves nothing, whoever ended it.
func TestAdvanceLost(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(pipeline)
		h := take(t, l, "ann")
		time.Sleep(ttl + time.Second)
		var lost *ledger.LostError
		if _, _, err := l.Advance(t.Context(), issue, ledger.Advance{Worker: h.Record.Worker}); !errors.As(err,
			&lost) || !errors.Is(err, claim.ErrOverdue) {
			t.Errorf("overdue: %v", err)
		}

		if _, _, err := l.Force(t.Context(), issue, "olga", ""); err != nil {
			t.Fatal(err)
		}

		if _, _, err := l.Advance(t.Context(), issue, ledger.Advance{Worker: h.Record.Worker}); !errors.As(err,
			&lost) || !errors.Is(err, claim.ErrEnded) {
			t.Errorf("forced: %v", err)
		}

		shows(t, w, "agent:implement")
	})
}

// TestStagesInOrder: workers who take whatever stage is free, with stale reads and lost answers,
// move an issue through every stage once and in order.
func TestStagesInOrder(t *testing.T) {
	for seed := range sample.Size[uint64](10, 40) {
		alone(t, func(t *testing.T, _ *world) {
			w := newWorld(seed, faults{
				stale:  2 * time.Second,
				late:   time.Second,
				lost:   0.1,
				denied: 0.5,
			})
			var all sync.WaitGroup
			for _, name := range []string{"ann", "bob", "cid"} {
				all.Go(func() {
					l, _ := w.ledger(pipeline)
					for start := time.Now(); time.Since(start) < 90*time.Minute; {
						h, err := l.Claim(t.Context(), issue,
							ledger.Request{Worker: claim.Worker{Codename: name}, TTL: ttl})
						var late *ledger.LabelsError
						if err == nil || errors.As(err, &late) {
							_, _, _ = l.Advance(t.Context(), issue, ledger.Advance{Worker: h.Record.Worker})
						}

						time.Sleep(w.between(time.Minute))
					}
				})
			}

			all.Wait()
			w.faults = faults{}
			time.Sleep(ttl + 2*time.Minute)
			l, _ := w.ledger(pipeline)
			l.Sweep(t.Context(), scan{w.reader()}, ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "s"})
			var moves []string
			for _, c := range claim.Replay(w.now(true).comments).Claims {
				if c.End != nil && c.End.Outcome == claim.OutcomeAdvanced {
					moves = append(moves, c.Record.Stage)
				}
			}

			if !slices.Equal(moves, []string{"ready", "review"}) {
				t.Errorf("seed %d: moved on from %v", seed, moves)
			}
			shows(t, w, "done")
		})
	}
}

// meanwhile is a forge on which something happens just before the first comment arrives.
type meanwhile struct {
	*forge
	once *sync.Once
	what func()
}

func (m meanwhile) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	m.once.Do(m.what)
	return m.forge.Comment(ctx, i, body)
}

// TestStageMovedMeanwhile: whoever asked for one stage does not get another, and does not take the
// issue back.
func TestStageMovedMeanwhile(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(pipeline)
		s := ledger.DefaultSettings()
		pipeline(&s)
		late := ledger.New(over(meanwhile{f, &sync.Once{}, func() {
			h := take(t, l, "ann")
			if _, _, err := l.Advance(t.Context(), issue, ledger.Advance{Worker: h.Record.Worker}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}}), virtual{}, w.words(), s)
		_, err := late.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "bob"}, TTL: ttl})
		if err == nil || !strings.Contains(err.Error(), "another stage") {
			t.Errorf("claim: %v", err)
		}

		if _, err := l.Reconcile(t.Context(), issue, "sweep-1"); err != nil {
			t.Fatal(err)
		}
		shows(t, w, "stage:review")
	})
}
