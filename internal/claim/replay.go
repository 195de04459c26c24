package claim

import (
	"slices"
)

// Replay folds the comments of one issue into its state (PROTOCOL section 2). The order in
// which comments are given does not matter, nor do repeated ones.
func Replay(comments []Comment) State {
	log, ignored := read(comments)
	f := fold{byKey: map[Worker]int{}}
	f.s.Ignored = ignored
	f.s.used = map[Worker]bool{}
	for _, e := range log {
		if e.Record.Kind == KindClaim {
			f.claim(e)
		}
	}
	for _, e := range log {
		f.apply(e)
	}
	f.attempts(log)
	return f.s
}

type fold struct {
	s     State
	byKey map[Worker]int // index into s.Claims
}

func (f *fold) counts(e Entry) {
	f.s.Records++
	if e.Created.After(f.s.Last) {
		f.s.Last = e.Created
	}
}

func (f *fold) ignore(e Entry, reason string) {
	f.s.Ignored = append(f.s.Ignored, Ignored{e.Comment, reason})
}

// claim adds a claim comment. Several of one key are one claim; a second login cannot
// borrow the key.
func (f *fold) claim(e Entry) {
	i, known := f.byKey[e.Record.Worker]
	if !known {
		f.byKey[e.Record.Worker] = len(f.s.Claims)
		f.s.used[e.Record.Worker] = true
		f.s.Claims = append(f.s.Claims, Claim{
			Record: e.Record, Rank: rankOf(e.Comment), Ranks: []Rank{rankOf(e.Comment)}, Author: e.Author, URL: e.URL,
			Created: e.Created, Updated: e.Updated, Legacy: e.Record.Nonce == "",
		})
		f.counts(e)
		return
	}
	c := &f.s.Claims[i]
	if !sameLogin(c.Author, e.Author) {
		f.ignore(e, "another login already uses this codename and firing id")
		return
	}
	c.merge(e)
	f.counts(e)
}

// merge takes in a repeated claim comment of the same key.
func (c *Claim) merge(e Entry) {
	c.Ranks = append(c.Ranks, rankOf(e.Comment))
	if e.Updated.After(c.Updated) {
		c.Updated = e.Updated
	}
	c.Legacy = c.Legacy || e.Record.Nonce == ""
	c.Record.Held = c.Record.Held || e.Record.Held
	c.Record.Heartbeat = max(c.Record.Heartbeat, e.Record.Heartbeat)
	c.Record.Token = max(c.Record.Token, e.Record.Token)
}

// apply takes in every record that is not a claim.
func (f *fold) apply(e Entry) {
	switch e.Record.Kind {
	case KindRelease:
		f.end(e, e.Record.Outcome)
	case KindReject:
		if e.Record.By == "" {
			f.ignore(e, "reject without by")
			return
		}
		f.end(e, OutcomePlanRejected)
	case KindRevoke, KindPlan, KindApprove:
		f.mark(e)
	case KindReset:
		f.counts(e)
	}
}

// end kills a key for ever, also when its claim is not (yet) in the log (rule 11). Only the
// claim's own author may, or a trusted one that says so in by= (PROTOCOL preamble).
func (f *fold) end(e Entry, outcome string) {
	end := release(e)
	end.Outcome = outcome
	i, known := f.byKey[e.Record.Worker]
	if !known {
		f.s.used[e.Record.Worker] = true
		f.counts(e)
		return
	}
	c := &f.s.Claims[i]
	if end.By == "" && !sameLogin(c.Author, e.Author) {
		f.ignore(e, "not the claim's author, and no by= says who ended it")
		return
	}
	if c.End == nil {
		c.End = &end
	}
	f.counts(e)
}

func release(e Entry) Release {
	r := e.Record
	return Release{Outcome: r.Outcome, PR: r.PR, By: r.By, Reason: r.Reason, NotBefore: r.NotBefore, At: e.Created, Author: e.Author, URL: e.URL}
}

// mark notes what a record says about a claim without ending it.
func (f *fold) mark(e Entry) {
	i, known := f.byKey[e.Record.Worker]
	if !known {
		f.ignore(e, "names a run that never claimed this issue")
		return
	}
	c := &f.s.Claims[i]
	if why := c.mark(e); why != "" {
		f.ignore(e, why)
		return
	}
	f.counts(e)
}

func (c *Claim) mark(e Entry) (why string) {
	own := sameLogin(c.Author, e.Author)
	switch {
	case e.Record.Kind == KindPlan && !own:
		return "plan by somebody other than the holder"
	case e.Record.Kind == KindPlan:
		c.Plan = &Plan{At: e.Created, URL: e.URL}
	case e.Record.By == "":
		return string(e.Record.Kind) + " without by"
	case e.Record.Kind == KindRevoke:
		if c.Revoked == nil {
			r := release(e)
			c.Revoked = &r
		}
	case !c.Plan.Pending():
		return "approves no pending plan"
	default:
		c.Plan.Approved, c.Plan.AnsweredAt, c.Plan.By = true, e.Created, e.Record.By
	}
	return ""
}

// attempts lists the holds whose end counts against the issue, since the last reset.
func (f *fold) attempts(log []Entry) {
	var reset Rank
	for _, e := range log {
		if e.Record.Kind == KindReset {
			reset = rankOf(e.Comment)
		}
	}
	for _, c := range f.s.Claims {
		if c.End != nil && c.Held() && CountsAgainst(c.End.Outcome) && c.End.At.After(reset.Created) {
			f.s.Attempts = append(f.s.Attempts, Attempt{c.Record.Worker, *c.End})
		}
	}
	slices.SortStableFunc(f.s.Attempts, func(a, b Attempt) int { return a.Release.At.Compare(b.Release.At) })
}
