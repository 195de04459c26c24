package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/quote"
)

// ErrPlanWaits says that a plan of the holder waits for its answer already.
var ErrPlanWaits = errors.New("a plan waits for its answer already")

// A BarredError says why somebody may not answer a plan. Nothing was written.
type BarredError struct{ Login, Why string }

func (e *BarredError) Error() string { return e.Why }

// An Electorate is a Forge that shows who reacted to a comment. Without it a plan is answered by
// commands alone.
type Electorate interface {
	// Votes lists the reactions +1 and -1 to a comment, oldest first.
	Votes(ctx context.Context, i claim.Issue, comment int64) ([]Vote, error)
	// MayLabel reports whether a login's records count in the repository.
	MayLabel(ctx context.Context, r Repo, login string) (bool, error)
}

// A Vote is one reaction to a plan.
type Vote struct {
	Login  string
	Person bool       // rather than an app or a bot
	Answer claim.Kind // claim.KindApprove or claim.KindReject
	At     time.Time
}

// A Draft is a plan before it is posted.
type Draft struct {
	Text string
	Gate string // where else it was shown and may be answered, for the record; empty is nowhere
}

// gateField is the record's field for Draft.Gate.
const gateField = "gate"

// GateOf returns where else the newest plan of a worker was shown.
func GateOf(s claim.State, w claim.Worker) string {
	for _, e := range slices.Backward(s.Log) {
		if e.Record.Kind != claim.KindPlan || e.Record.Worker != w {
			continue
		}
		n := slices.IndexFunc(e.Record.Extra, func(f claim.Field) bool { return f.Key == gateField })
		if n < 0 {
			return ""
		}
		return e.Record.Extra[n].Value
	}
	return ""
}

// A Proposal is a plan that was posted.
type Proposal struct {
	URL   string
	Until time.Time // an answer must come before: then the plan's limit is over
	Repair
}

// String says who answered how.
func (v Vote) String() string {
	if v.Answer == claim.KindReject {
		return v.Login + " rejected the plan"
	}
	return v.Login + " approved the plan"
}

// commentLimit is how many characters GitHub takes as a comment.
const commentLimit = 65_536

// plans posts what workers mean to do, and records the answers.
type plans struct {
	*base
	snapshots *snapshots
	records   *records
	labelling *labelling
}

// Plan posts what the holder w means to do; its text is shown as it is and can forge nothing. From now on
// the plan's own limit keeps the hold alive, instead of its ttl. A plan that waits already is
// ErrPlanWaits, a hold that is over a *LostError, a text that is empty or too long a *CallError.
func (pl *plans) Plan(ctx context.Context, i claim.Issue, w claim.Worker, d Draft) (Proposal, error) {
	f, err := pl.snapshots.Look(ctx, i)
	if err != nil {
		return Proposal{}, err
	}
	if f.PullRequest {
		return Proposal{}, callError("%s is a pull request: plans are for issues", i)
	}
	r := claim.Record{Kind: claim.KindPlan, Worker: w, At: f.Now}
	if d.Gate != "" {
		r.Extra = []claim.Field{{Key: gateField, Value: d.Gate}}
	}
	if strings.TrimSpace(printable.Lines(d.Text)) == "" {
		return Proposal{}, callError("the plan is empty")
	}
	// The record, how to answer, and the plan in a block that it cannot end: what is approved is what is seen.
	head := fmt.Sprintf("%s proposes a plan and waits for an answer until %s.\n\n"+
		"Answer with 👍 or 👎 on this comment, or comment `/approve` or `/reject why`.\n\n", whose(r.Worker), printable.Minute(f.Now.Add(pl.set.Rules.Terms.Plan)))
	body, err := claim.Body(r, head+quote.Fence("markdown", d.Text))
	switch {
	case err != nil:
		return Proposal{}, &CallError{err}
	case utf8.RuneCountInString(body) > commentLimit:
		return Proposal{}, callError("the plan has %d characters: too long for a comment", utf8.RuneCountInString(d.Text))
	}
	if err := f.Log.Refuse(r, f.Viewer, pl.set.Rules.Terms, f.Now); err != nil {
		return Proposal{}, pl.lost(f, w, err)
	}
	if c, _ := f.Log.Find(w); c.Plan.Pending() {
		return Proposal{URL: c.Plan.URL}, ErrPlanWaits
	}
	c, next, err := pl.records.appendRead(ctx, i, body, func(s claim.State) (string, bool) {
		own, _ := s.Find(w)
		if !own.Plan.Pending() {
			return "", false
		}
		return own.Plan.URL, true
	})
	if err != nil {
		return Proposal{}, wrapWrite(i, err)
	}
	p := Proposal{URL: c.URL, Until: f.Now.Add(pl.set.Rules.Terms.Plan)}
	if !c.Created.IsZero() {
		p.Until = c.Created.Add(pl.set.Rules.Terms.Plan)
	}
	p.Repair, _, err = pl.labelling.reconcileAfter(ctx, f, next)
	return p, err
}

// decisiveVote returns the reaction that answers the plan which waits on the issue, nil when there is none.
// One that rejects outweighs any that approve.
func (pl *plans) decisiveVote(ctx context.Context, f lifecycle.Facts) (*Vote, error) {
	c, held := f.Log.Holder()
	e, able := pl.forge.(Electorate)
	if !able || !held || !c.Plan.Pending() || c.Overdue(pl.set.Rules.Terms, f.Now) {
		return nil, nil
	}
	all, err := e.Votes(ctx, f.Issue, c.Plan.Comment)
	if err != nil {
		return nil, err
	}
	for _, answer := range []claim.Kind{claim.KindReject, claim.KindApprove} {
		for _, v := range all {
			if v.Answer != answer || !pl.set.Rules.Approvers.Votes(c, v.Answer, v.Login, v.Person) {
				continue
			}
			may := len(pl.set.Rules.Approvers) > 0
			if !may {
				may, err = e.MayLabel(ctx, Repo{f.Issue.Owner, f.Issue.Repo}, v.Login)
			}
			switch {
			case err != nil:
				return nil, err
			case may:
				return &v, nil
			}
		}
	}
	return nil, nil
}

// count records the answer that a reaction gives, and reports whether it did: that the plan had its
// answer meanwhile is no error.
func (pl *plans) count(ctx context.Context, i claim.Issue, v Vote) (Repair, bool, error) {
	r := claim.Record{Kind: v.Answer, By: v.Login}
	if v.Answer == claim.KindReject {
		r.Reason = "thumbs down"
	}
	rep, err := pl.answer(ctx, i, v.At, r)
	var barred *BarredError
	if errors.Is(err, claim.ErrNoPlan) || errors.Is(err, claim.ErrOverdue) || errors.Is(err, claim.ErrEnded) || errors.As(err, &barred) {
		rep, err = pl.labelling.Reconcile(ctx, i)
		return rep, false, err
	}
	return rep, err == nil, err
}

// after is the snapshot as if the answer had been recorded.
func after(f lifecycle.Facts, v Vote) lifecycle.Facts {
	c, _ := f.Log.Holder()
	if v.Answer == claim.KindReject {
		return without(f, []claim.Claim{c})
	}
	f.Log.Claims = slices.Clone(f.Log.Claims)
	for n, o := range f.Log.Claims {
		if o.Record.Worker == c.Record.Worker {
			f.Log.Claims[n].Plan = &claim.Plan{At: o.Plan.At, Approved: true, AnsweredAt: f.Now, By: v.Login}
		}
	}
	return f
}
