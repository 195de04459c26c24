package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// A Draft is a plan before it is posted.
type Draft struct {
	Text string
	Gate string // where else it was shown and may be answered, for the record; empty is nowhere
}

// GateOf returns where else the newest plan of a worker was shown. Somebody whose hold is over may
// have posted a newer one, which counts for nothing.
func GateOf(s claim.State, w claim.Worker) string {
	for _, e := range slices.Backward(s.Log) {
		if e.Record.Kind != claim.KindPlan || e.Record.Worker != w {
			continue
		}
		n := slices.IndexFunc(e.Record.Extra, func(f claim.Field) bool { return f.Key == protocol.GateField })
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

// Plan posts what the holder w means to do (protocol.NewPlan).
func (l *Ledger) Plan(ctx context.Context, i claim.Issue, w claim.Worker, d Draft) (Proposal, error) {
	end := l.Run(ctx, i, protocol.NewPlan(l.config(), i, w, d.Text, d.Gate))
	p := Proposal{URL: end.Comment.URL, Repair: end.Repair}
	if end.Err == nil || late(end.Err) {
		p.Until = end.Comment.Created.Add(l.set.Rules.Terms.Plan)
	}

	return p, end.Err
}

// Answer lets the plan that waited at the answer's moment go ahead, or ends its hold. answer.NoPlan
// says that there is nothing left to answer, answer.Barred that the login may not; nothing was
// written then. Whether it may label the repository is for the caller to know.
func (l *Ledger) Answer(ctx context.Context, i claim.Issue, a Answer) (Repair, error) {
	return l.repair(ctx, i, protocol.NewAnswer(l.config(), i, a))
}

// decisiveVote returns the reaction that answers the plan which waits on the issue, nil when there
// is none. One that rejects outweighs any that approve.
func (l *Ledger) decisiveVote(ctx context.Context, f lifecycle.Facts) (*Vote, error) {
	c, held := f.Log.Holder()
	if !held || !c.Plan.Pending() || c.Overdue(l.set.Rules.Terms, f.Now) {
		return nil, nil
	}

	got := l.forge.Reply(ctx, f.Issue, protocol.Ask{Votes: c.Plan.Comment})
	if got.Err != nil {
		return nil, got.Err
	}

	for _, answer := range []claim.Kind{claim.KindReject, claim.KindApprove} {
		for _, v := range got.Votes {
			if v.Answer != answer || !l.set.Rules.Approvers.Votes(c, v.Answer, v.Login, v.Person) {
				continue
			}
			if len(l.set.Rules.Approvers) > 0 {
				return &v, nil
			}

			voter := l.forge.Reply(ctx, f.Issue, protocol.Ask{May: v.Login})
			if voter.Err != nil || voter.May {
				return &v, voter.Err
			}
		}
	}

	return nil, nil
}

// said is the answer that a reaction gives to a plan.
func said(v Vote) *protocol.Answer {
	a := protocol.Answer{Kind: v.Answer, By: v.Login, Moment: v.At}
	if v.Answer == claim.KindReject {
		a.Reason = "thumbs down"
	}
	return &a
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
			plan := *o.Plan
			plan.Approved, plan.AnsweredAt = true, f.Now
			f.Log.Claims[n].Plan = &plan
		}
	}

	return f
}
