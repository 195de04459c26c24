package claim

import "slices"

// Replay folds the comments of one issue into its state (spec.md#fold). The order in
// which comments are given does not matter, nor do repeated ones.
func Replay(comments []Comment) State {
	log, ignored := read(comments)
	f := fold{byKey: map[Worker]int{}}
	f.s.Ignored, f.s.Notices = ignored, notices(comments)
	f.s.used = map[Worker]bool{}
	for _, e := range log {
		if e.Record.Kind == KindClaim {
			f.claim(e)
		}
	}
	for _, e := range log {
		f.apply(e)
	}
	f.attempts()
	slices.SortFunc(f.s.Log, func(a, b Entry) int { return rankOf(a.Comment).Compare(rankOf(b.Comment)) })
	slices.SortFunc(f.s.Ignored, func(a, b Ignored) int { return rankOf(a.Comment).Compare(rankOf(b.Comment)) })
	return f.s
}

type fold struct {
	s     State
	byKey map[Worker]int // index into s.Claims
}

func (f *fold) counts(e Entry) {
	f.s.Records++
	f.s.Log = append(f.s.Log, e)
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
			Record: e.Record, Rank: rankOf(e.Comment), Created: e.Created, Legacy: e.Record.Nonce == "",
		})
		i = len(f.s.Claims) - 1
	}
	c := &f.s.Claims[i]
	switch {
	case e.onBehalf():
	case c.Comment == 0: // the worker's own first comment stands for the claim; what was written on its behalf before still confirms it
		before := c.Record
		c.Record, c.Author, c.Comment, c.Person = e.Record, e.Author, e.ID, personOf(e)
		c.confirm(before)
	case !SameLogin(c.Author, e.Author):
		f.ignore(e, "another login already uses this codename and firing id")
		return
	}
	c.Ranks = append(c.Ranks, rankOf(e.Comment))
	if c.URL == "" || e.ID == c.Comment {
		c.URL = e.URL
	}
	if e.Updated.After(c.Updated) {
		c.Updated = e.Updated
	}
	c.Legacy = c.Legacy || e.Record.Nonce == ""
	c.confirm(e.Record)
	if c.Record.Assignee == "" && !e.onBehalf() { // written with the confirmation, so a later comment may be the first that names it
		c.Record.Assignee = e.Record.Assignee
	}
	f.counts(e)
}

// onBehalf reports whether a claim comment only mirrors what a lease store decided, written by
// somebody else than the worker: a sweep found that it was missing (spec.md#fold).
func (e Entry) onBehalf() bool { return e.Record.Lease != "" && e.Record.By != "" }

// confirm takes in what every claim comment of the key says about the hold, whoever wrote it.
func (c *Claim) confirm(r Record) {
	c.Record.Held = c.Record.Held || r.Held
	c.Record.Heartbeat = max(c.Record.Heartbeat, r.Heartbeat)
	c.Record.Token = max(c.Record.Token, r.Token)
}

// apply takes in every record that is not a claim.
func (f *fold) apply(e Entry) {
	kind := e.Record.Kind
	switch {
	case kind == KindClaim: // the stage that the first claims were made in; later ones may know an older one
		if f.s.Stage == "" && SameLogin(f.s.Claims[f.byKey[e.Record.Worker]].Author, e.Author) {
			f.stage(e)
		}
	case kind.About().Signed && e.Record.By == "":
		f.ignore(e, string(kind)+" without by")
	case kind == KindReset:
		f.s.Reset = rankOf(e.Comment)
		if e.Record.Restart {
			f.s.Restart = f.s.Reset
		}
		f.counts(e)
	case kind == KindRelease:
		f.release(e)
	case kind == KindUnlink:
		f.unlink(e)
	default:
		f.mark(e)
	}
}

// release kills a key for ever, also when its claim is not (yet) in the log (rule 11). Only the
// claim's own author may, or a trusted one that says so in by= (spec.md#fold).
func (f *fold) release(e Entry) {
	i, known := f.byKey[e.Record.Worker]
	if !known {
		f.s.used[e.Record.Worker] = true
		f.counts(e)
		if e.Record.By != "" {
			f.stage(e)
		}
		return
	}
	c := &f.s.Claims[i]
	if e.Record.By == "" && c.Comment != 0 && !SameLogin(c.Author, e.Author) {
		f.ignore(e, "not the claim's author, and no by= says who ended it")
		return
	}
	if c.End == nil {
		c.End = releaseOf(e)
		f.stage(e)
	}
	f.counts(e)
}

// unlink takes the pull request out of the release that names it. It counts once, and behind the release.
func (f *fold) unlink(e Entry) {
	i, known := f.byKey[e.Record.Worker]
	if !known || f.s.Claims[i].End == nil || e.Record.PR == "" || f.s.Claims[i].End.PR != e.Record.PR {
		f.ignore(e, "no release of the run names that pull request")
		return
	}
	if f.s.Claims[i].End.Unlinked {
		f.ignore(e, "the pull request was unlinked before")
		return
	}
	f.s.Claims[i].End.Unlinked = true
	f.counts(e)
}

// stage takes in where a pipeline has moved: the claim's own end says it, or somebody who moves the
// issue without a claim. What a former holder says later counts for nothing.
func (f *fold) stage(e Entry) {
	if e.Record.Stage != "" {
		f.s.Stage, f.s.StageAt = e.Record.Stage, e.Created
	}
}

func releaseOf(e Entry) *Release {
	r := e.Record
	return &Release{
		Outcome: r.Outcome, PR: r.PR, Closes: r.Closes, By: r.By, Reason: r.Reason, NotBefore: r.NotBefore,
		At: e.Created, Author: e.Author, URL: e.URL, rank: rankOf(e.Comment),
	}
}

// mark notes what a plan, its answer or a revoke says about a claim.
func (f *fold) mark(e Entry) {
	i, known := f.byKey[e.Record.Worker]
	if !known {
		f.ignore(e, "names a run that never claimed this issue")
		return
	}
	c := &f.s.Claims[i]
	if why := c.unmarkable(e); why != "" {
		f.ignore(e, why)
		return
	}
	c.mark(e)
	f.counts(e)
}

func (c *Claim) unmarkable(e Entry) (why string) {
	switch kind := e.Record.Kind; {
	case !c.Live():
		return "the claim had ended"
	case kind == KindPlan && !SameLogin(c.Author, e.Author):
		return "plan by somebody other than the holder"
	case kind == KindPlan && !c.Held():
		return "plan of a claim that was never confirmed"
	case (kind == KindApprove || kind == KindReject) && !c.Plan.Pending():
		return "no plan was waiting"
	}
	return ""
}

func (c *Claim) mark(e Entry) {
	switch e.Record.Kind {
	case KindPlan:
		c.Plan = &Plan{At: e.Created, Comment: e.ID, URL: e.URL}
	case KindApprove:
		c.Plan.Approved, c.Plan.AnsweredAt, c.Plan.By, c.Plan.Author = true, e.Created, e.Record.By, e.Author
	case KindReject:
		c.Plan.AnsweredAt, c.Plan.By, c.Plan.Author = e.Created, e.Record.By, e.Author
		c.End = &Release{
			Outcome: OutcomePlanRejected, By: e.Record.By, Reason: e.Record.Reason, At: e.Created, Author: e.Author, URL: e.URL, rank: rankOf(e.Comment),
		}
	case KindRevoke:
		if c.Revoked == nil {
			c.Revoked = releaseOf(e)
		}
	}
}

// attempts lists the holds whose end counts against the issue, since the last reset, and until when
// releases since then let it rest.
func (f *fold) attempts() {
	for _, c := range f.s.Claims {
		if c.End == nil || c.End.rank.Compare(f.s.Reset) <= 0 {
			continue
		}
		if c.End.NotBefore.After(f.s.NotBefore) {
			f.s.NotBefore = c.End.NotBefore
		}
		if c.failed() {
			f.s.Attempts = append(f.s.Attempts, Attempt{c.Record.Worker, *c.End})
		}
	}
	slices.SortFunc(f.s.Attempts, func(a, b Attempt) int { return a.Release.rank.Compare(b.Release.rank) })
}
