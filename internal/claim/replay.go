package claim

import "slices"

// Replay folds the comments of one issue into its state (spec.md#fold). The order in
// which comments are given does not matter, nor do repeated ones.
func Replay(comments []Comment) State {
	f := fold{s: State{used: map[Worker]bool{}}, byKey: map[Worker]int{}}
	var log []Entry
	for _, c := range inOrder(comments) { // whether its record counts, or what it tells people
		edited := c.Editor != "" && !SameLogin(c.Editor, c.Author)
		if n, ok := DecodeNotice(c.Body); ok && c.Trusted && !edited {
			n.Comment = c
			f.s.Notices = append(f.s.Notices, n)
		}
		r, ok, err := Decode(c.Body)
		switch {
		case err != nil:
			f.ignore(c, err.Error())
		case !ok:
		case !c.Trusted:
			f.ignore(c, "author may not label this repository")
		case edited:
			f.ignore(c, "edited by somebody other than its author")
		default:
			log = append(log, Entry{c, r})
		}
	}
	for _, e := range log {
		if e.Record.Kind == KindClaim {
			f.claim(e)
		}
	}
	for _, e := range log {
		if e.Record.Kind == KindClaim { // the stage that the first claims were made in; later ones may know an older one
			if f.s.Stage == "" && SameLogin(f.s.Claims[f.byKey[e.Record.Worker]].Author, e.Author) {
				f.stage(e)
			}
		} else if why := f.apply(e); why != "" {
			f.ignore(e.Comment, why)
		} else {
			f.s.Log = append(f.s.Log, e)
		}
	}
	for _, c := range f.s.Claims { // what ended since the last reset counts against the issue, and may let it rest
		if c.End == nil || c.End.Rank.Compare(f.s.Reset) <= 0 {
			continue
		}
		if c.End.NotBefore.After(f.s.NotBefore) {
			f.s.NotBefore = c.End.NotBefore
		}
		if c.failed() {
			f.s.Attempts = append(f.s.Attempts, Attempt{c.Record.Worker, *c.End})
		}
	}
	slices.SortFunc(f.s.Attempts, func(a, b Attempt) int { return a.Release.Rank.Compare(b.Release.Rank) })
	slices.SortFunc(f.s.Log, func(a, b Entry) int { return rankOf(a.Comment).Compare(rankOf(b.Comment)) })
	slices.SortFunc(f.s.Ignored, func(a, b Ignored) int { return rankOf(a.Comment).Compare(rankOf(b.Comment)) })
	if f.s.Records = len(f.s.Log); f.s.Records > 0 {
		f.s.Last = f.s.Log[f.s.Records-1].Created
	}
	return f.s
}

type fold struct {
	s     State
	byKey map[Worker]int // index into s.Claims
}

// ignore notes that a comment which begins like a record does not count, and why.
func (f *fold) ignore(c Comment, reason string) {
	f.s.Ignored = append(f.s.Ignored, Ignored{c, reason})
}

// claim adds a claim comment. Several of one key are one claim; a second login cannot
// borrow the key. A claim comment of a lease store's hold that somebody else than the worker wrote only mirrors what the
// store decided: a sweep found that it was missing (spec.md#fold).
func (f *fold) claim(e Entry) {
	onBehalf := e.Record.Lease != "" && e.Record.By != ""
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
	case onBehalf:
	case c.Comment == 0: // the worker's own first comment stands for the claim; what was written on its behalf before still confirms it
		before := c.Record
		c.Record, c.Author, c.Comment, c.Person = e.Record, e.Author, e.ID, personOf(e)
		c.confirm(before)
		if known {
			c.signed = rankOf(e.Comment)
		}
	case !SameLogin(c.Author, e.Author):
		f.ignore(e.Comment, "another login already uses this codename and firing id")
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
	if c.Record.Assignee == "" && !onBehalf { // written with the confirmation, so a later comment may be the first that names it
		c.Record.Assignee = e.Record.Assignee
	}
	f.s.Log = append(f.s.Log, e)
}

// confirm takes in what every claim comment of the key says about the hold, whoever wrote it.
func (c *Claim) confirm(r Record) {
	c.Record.Held = c.Record.Held || r.Held
	c.Record.Heartbeat = max(c.Record.Heartbeat, r.Heartbeat)
	c.Record.Token = max(c.Record.Token, r.Token)
}

// apply takes in a record that is not a claim, by the table of spec.md#fold, and says why one does not count.
//
// A release kills a key for ever, also when its claim is not (yet) in the log (rule 11). Only the
// claim's own author may, or a trusted one that says so in by=, or anybody trusted before a mirrored claim has its author: what
// ended then stays ended. An unlink takes the pull request out of the release that
// names it, once, and behind the release. A plan, its answer and a revoke are about a claim that lives.
func (f *fold) apply(e Entry) (ignored string) {
	r, rank := e.Record, rankOf(e.Comment)
	c := &Claim{}
	i, claimed := f.byKey[r.Worker]
	if claimed {
		c = &f.s.Claims[i]
	}
	switch {
	case r.Kind.About().Signed && r.By == "":
		return string(r.Kind) + " without by"
	case r.Kind == KindReset:
		f.s.Reset = rank
		if r.Restart {
			f.s.Restart = rank
		}
	case r.Kind == KindRelease && !claimed:
		f.s.used[r.Worker] = true
		if r.By != "" {
			f.stage(e)
		}
	case r.Kind == KindRelease && r.By == "" && c.Comment != 0 && rank.Compare(c.signed) > 0 && !SameLogin(c.Author, e.Author):
		return "not the claim's author, and no by= says who ended it"
	case r.Kind == KindRelease && c.End == nil:
		c.End = releaseOf(e)
		f.stage(e)
	case r.Kind == KindRelease: // the first has ended it
	case r.Kind == KindUnlink && (c.End == nil || r.PR == "" || c.End.PR != r.PR):
		return "no release of the run names that pull request"
	case r.Kind == KindUnlink && c.End.Unlinked:
		return "the pull request was unlinked before"
	case r.Kind == KindUnlink:
		c.End.Unlinked = true

	case !claimed:
		return "names a run that never claimed this issue"
	case !c.Live():
		return "the claim had ended"
	case r.Kind == KindPlan && !SameLogin(c.Author, e.Author):
		return "plan by somebody other than the holder"
	case r.Kind == KindPlan && !c.Held():
		return "plan of a claim that was never confirmed"
	case r.Kind == KindPlan:
		c.Plan = &Plan{At: e.Created, Comment: e.ID, URL: e.URL}
	case (r.Kind == KindApprove || r.Kind == KindReject) && !c.Plan.Pending():
		return "no plan was waiting"
	case r.Kind == KindApprove:
		c.Plan.Approved, c.Plan.AnsweredAt, c.Plan.By, c.Plan.Author = true, e.Created, r.By, e.Author
	case r.Kind == KindReject:
		c.Plan.AnsweredAt, c.Plan.By, c.Plan.Author = e.Created, r.By, e.Author
		c.End = &Release{Outcome: OutcomePlanRejected, By: r.By, Reason: r.Reason, At: e.Created, Author: e.Author, URL: e.URL, Rank: rank}
	case r.Kind == KindRevoke && c.Revoked == nil:
		c.Revoked = releaseOf(e)
	}
	return ""
}

// stage takes in where a pipeline has moved: the claim's own end says it, or somebody who moves the
// issue without a claim. What a former holder says later counts for nothing.
func (f *fold) stage(e Entry) {
	if e.Record.Stage != "" {
		f.s.Stage, f.s.StageAt = e.Record.Stage, e.Created
	}
}

// releaseOf is what a release, or a revoke, says of the claim.
func releaseOf(e Entry) *Release {
	r := e.Record
	return &Release{
		Outcome: r.Outcome, PR: r.PR, Closes: r.Closes, By: r.By, Reason: r.Reason, NotBefore: r.NotBefore,
		At: e.Created, Author: e.Author, URL: e.URL, Rank: rankOf(e.Comment),
	}
}
