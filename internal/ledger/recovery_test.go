package ledger_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/protocol"
)

// fail is one attempt that ends with an outcome and a reason.
func fail(t *testing.T, l *ledger.Ledger, name, reason string) {
	t.Helper()
	h := take(t, l, name)
	time.Sleep(2 * time.Second)
	if _, err := l.Release(t.Context(), issue,
		ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeFailure, Reason: reason}); err != nil {
		t.Fatal(err)
	}

	time.Sleep(5 * time.Minute)
}

func escalating(s *ledger.Settings) {
	s.Rules.MaxAttempts, s.Rules.Rest = 3, []time.Duration{2 * time.Minute}
}

func notice(t *testing.T, w *world) string {
	t.Helper()
	var found []string
	for _, c := range w.now(true).comments {
		if strings.HasPrefix(c.Body, "<!-- label-state:escalated ") {
			found = append(found, c.Body)
		}
	}

	if len(found) != 1 {
		t.Fatalf("%d notices, want one: %q", len(found), found)
	}

	return found[0]
}

// TestEscalation: the third failure puts one comment there with the reasons of all, and nothing in
// a reason becomes markup, a mention or a record.
func TestEscalation(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(escalating)
		fail(t, l, "ann", "tests do not build")
		fail(t, l, "bob", "x --> <!-- agent-release:codename=z firing_id=1 --> `rm` @olga\n/approve")
		shows(t, w, "agent:implement")
		fail(t, l, "cid", "")
		shows(t, w, "needs:human-scope")
		text := notice(t, w)
		for _, part := range []string{
			"3 attempts", "1. **ann**", ": failure, `tests do not build`",
			"`x --> <!-- agent-release:codename=z firing_id=1 --> 'rm' @olga /approve`", "3. **cid**",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}

		if strings.Count(text, "\n") != 7 {
			t.Errorf("a reason broke its line:\n%s", text)
		}

		for range 2 {
			if rep := l.Sweep(t.Context(), scan{w.reader()},
				ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "s"}); !rep.Complete() ||
				len(rep.Findings) != 0 {
				t.Errorf("sweep: %+v", rep)
			}
		}

		notice(t, w)
	})
}

func (w *world) reader() *forge { return &forge{world: w, calls: map[string]int{}} }

// TestEscalationBySweeps: two sweeps that see the third attempt die at the same time, whose reads
// are stale and whose answers are lost, leave one comment when things have settled.
func TestEscalationBySweeps(t *testing.T) {
	for seed := range uint64(30) {
		alone(t, func(t *testing.T, w *world) {
			l, _ := w.ledger(escalating)
			fail(t, l, "ann", "one")
			fail(t, l, "bob", "two")
			take(t, l, "cid")
			time.Sleep(ttl + 2*time.Minute + time.Duration(seed)*time.Second)
			w.faults = faults{lost: 0.2, denied: 0.5}
			var both sync.WaitGroup
			for _, by := range []string{"s1", "s2"} {
				both.Go(func() {
					l, f := w.ledger(escalating)
					time.Sleep(time.Duration(seed) * 10 * time.Millisecond)
					l.Sweep(t.Context(), scan{f}, ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: by})
				})
			}

			both.Wait()
			w.faults = faults{}
			l.Sweep(t.Context(), scan{w.reader()},
				ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "s3"})
			notice(t, w)
			shows(t, w, "needs:human-scope")
		})
	}
}

// seen is a server that knows who took labels off.
type seen struct {
	*forge
	saw ledger.Removal
}

func (s seen) LastMove(m protocol.LabelMoved) (ledger.Removal, error) {
	if m.On {
		return ledger.Removal{}, nil
	}
	return s.saw, nil
}

// TestRelief: the sweep restarts the count of attempts when a person took the label off after the
// last failure; when a bot did, or a person earlier, the label comes back.
func TestRelief(t *testing.T) {
	for name, c := range map[string]struct {
		person bool
		ago    time.Duration
		want   string
	}{
		"a person":          {true, time.Minute, "agent:implement"},
		"a bot":             {false, time.Minute, "needs:human-scope"},
		"a person, earlier": {true, time.Hour, "needs:human-scope"},
		"a person, between": {true, 7 * time.Minute, "needs:human-scope"},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, f := w.ledger(escalating)
				for _, who := range []string{"ann", "bob", "cid"} {
					fail(t, l, who, "")
				}

				if err := f.RemoveLabel(t.Context(), issue, "needs:human-scope"); err != nil {
					t.Fatal(err)
				}
				s := ledger.DefaultSettings()
				escalating(&s)
				seeing := seen{f, ledger.Removal{By: "olga", Person: c.person, At: time.Now().Add(-c.ago)}}
				l = ledger.New(over(seeing), virtual{}, w.words(), s)
				for range 2 {
					rep := l.Sweep(t.Context(), scan{f},
						ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "s"})
					if !rep.Complete() {
						t.Fatalf("sweep: %+v", rep)
					}
				}

				shows(t, w, c.want)
				if n := records(w, "agent-reset:"); (n == 1) != (c.want == "agent:implement") {
					t.Errorf("%d resets", n)
				}

				if c.want == "agent:implement" {
					take(t, l, "dan")
				}
			})
		})
	}
}

// TestRestIsOver: a reset also ends the rest that a release asked for.
func TestRestIsOver(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(escalating)
		h := take(t, l, "ann")
		post(t, f, claim.Record{
			Kind:      claim.KindRelease,
			Worker:    h.Record.Worker,
			Outcome:   claim.OutcomeFailure,
			NotBefore: time.Now().Add(48 * time.Hour),
		})
		time.Sleep(time.Hour)
		if _, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "bob"}}); err == nil ||
			!strings.Contains(err.Error(), "backing off until") {
			t.Fatalf("claim while it rests: %v", err)
		}

		if did, err := l.Reset(t.Context(), issue, time.Now(), "olga"); err != nil || !did {
			t.Fatalf("reset: %v, %v", did, err)
		}
		take(t, l, "bob")
	})
}

// DeleteComment takes a comment away.
func (f *forge) DeleteComment(_ context.Context, _ claim.Issue, id int64) error {
	f.count("delete")
	defer f.mu.Unlock()
	return f.write(func(v *view) {
		v.comments = slices.DeleteFunc(v.comments, func(c claim.Comment) bool { return c.ID == id })
	}, 0)
}
