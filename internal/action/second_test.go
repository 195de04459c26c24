package action_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// write posts a record as somebody's tool would, at once.
func (w *world) write(login string, r claim.Record) {
	w.Helper()
	body, err := claim.Body(r, "")
	w.must(err)
	_, err = w.server.AddComment(app, 1, login, body)
	w.must(err)
}

// TestSameSecond: GitHub's times are in whole seconds, so that two of them may be the same. Then a
// command means what stood when it was written, and a label that was taken off does not mean a hold
// that may have begun after it.
func TestSameSecond(t *testing.T) {
	drake := claim.Worker{Codename: "drake", FiringID: "d1"}
	tias := claim.Record{
		Kind:   claim.KindClaim,
		Worker: claim.Worker{Codename: "tia", FiringID: "t1"},
		Nonce:  "7f3a9c1e",
		TTL:    claim.NoExpiry,
		Person: "tia",
		Held:   true,
	}

	drakes := claim.Record{
		Kind:   claim.KindClaim,
		Worker: drake,
		Nonce:  "7f3a9c1f",
		TTL:    time.Hour,
		Held:   true,
	}

	for name, c := range map[string]struct {
		happens func(p *caseRunner) // all of it in one second, unless it sleeps
		holder  string              // afterwards; empty is nobody
		answer  string              // the reaction to the command
	}{
		"/release of a hold": {func(p *caseRunner) {
			p.write("tia", tias)
			p.remarks("tia", "/release")
		}, "", "+1"},
		"/approve of what tia's own tool has approved": {func(p *caseRunner) {
			p.write("agents", drakes)
			p.write("agents", claim.Record{Kind: claim.KindPlan, Worker: drake})
			p.remarks("tia", "/approve")
			p.write("tia", claim.Record{Kind: claim.KindApprove, Worker: drake, By: "tia"})
		}, "drake", "+1"},
		"the label of a hold is taken off":           {func(p *caseRunner) { p.takesOff(drakes, 0) }, "drake", ""},
		"the label of a hold is taken off 1 s later": {func(p *caseRunner) { p.takesOff(drakes, time.Second) }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &caseRunner{world: newWorld(t), way: again}
				p.issue("Work")
				c.happens(p)
				if c.answer != "" {
					p.on([]string{"issue_comment", "created"}, "")
					p.line = name
					p.wantReaction([]string{c.answer}, "")
				} else {
					p.on([]string{"issues", "unlabeled"}, "")
				}

				f, err := p.client("tok-olga").Facts(t.Context(), ref(1))
				p.must(err)
				if got, _ := f.Log.Holder(); got.Record.Worker.Codename != c.holder {
					t.Errorf("held by %q, want %q\n%s", got.Record.Worker.Codename, c.holder, p.last.all())
				}
			})
		})
	}
}

// TestAnsweredMeanwhile: a command has been carried out also if another run with it, or the same
// person's tool, answers the plan at any moment of this run.
func TestAnsweredMeanwhile(t *testing.T) {
	drake := claim.Worker{Codename: "drake", FiringID: "d1"}
	for n, more := 1, true; more && !t.Failed(); n++ {
		synctest.Test(t, func(t *testing.T) {
			p := &caseRunner{world: newWorld(t), way: way{run: func(w *world, r run) (step, bool) {
				return w.run(w.Context(), r), true
			}}}
			p.issue("Work")
			p.write("agents", claim.Record{
				Kind:   claim.KindClaim,
				Worker: drake,
				Nonce:  "7f3a9c1f",
				TTL:    time.Hour,
				Held:   true,
			})
			p.write("agents", claim.Record{Kind: claim.KindPlan, Worker: drake})
			p.remarks("tia", "/approve")

			asked := p.faulty(func(seen int, _ *http.Request) *githubsim.Fault {
				if seen == n {
					p.write("tia", claim.Record{Kind: claim.KindApprove, Worker: drake, By: "tia"})
				}
				return nil
			})
			p.on([]string{"issue_comment", "created"}, "")
			p.wantReaction([]string{"+1"}, "")
			if more = asked() >= n; t.Failed() {
				t.Errorf("answered before request %d\n%s", n, p.last.all())
			}
		})
	}
}

// remarks comments on issue #1, at once.
func (p *caseRunner) remarks(login, text string) {
	id, err := p.server.AddComment(app, 1, login, text)
	p.must(err)
	p.cmd = id
}

// takesOff begins a hold, and tia takes its label off so much later.
func (p *caseRunner) takesOff(hold claim.Record, later time.Duration) {
	p.write("agents", hold)
	p.must(p.server.AddLabels(app, 1, "agents", "agent:in-flight"))
	time.Sleep(later)
	p.must(p.server.RemoveLabel(app, 1, "tia", "agent:in-flight"))
}
