package claim

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Replay folds the comments of one issue into its state (spec.md#fold). The order in
// which comments are given does not matter, nor do repeated ones.
func Replay(comments []Comment) State {
	f := fold{
		s:      State{used: map[Worker]bool{}, over: map[process]bool{}},
		byKey:  map[Worker]int{},
		resets: map[resetting]Rank{},
	}
	var log []Entry
	f.s.Talk = map[string]time.Time{}
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
			f.s.Talk[strings.ToLower(c.Author)] = c.Created
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

	for i := range f.s.Claims {
		c := &f.s.Claims[i]
		c.settle()
		if c.Person != "" {
			c.Life.Seen = f.s.Spoke(c.Person)
		}
	}

	for _, e := range log {
		// the stage that the first claims were made in; later ones may know an older one
		if e.Record.Kind == KindClaim {
			if f.s.Stage == "" && SameLogin(f.s.Claims[f.byKey[e.Record.Worker]].Author, e.Author) {
				f.stage(e.Record.Stage, e.Created)
			}
			f.news = e.Rank()
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

		f.s.NotBefore = Latest(f.s.NotBefore, c.End.NotBefore)
		if c.failed() {
			f.s.Attempts = append(f.s.Attempts, Attempt{c.Record.Worker, *c.End})
		}
	}

	slices.SortFunc(f.s.Claims, func(a, b Claim) int { return a.Rank.Compare(b.Rank) })
	slices.SortFunc(f.s.Attempts, func(a, b Attempt) int { return a.Release.Rank.Compare(b.Release.Rank) })
	slices.SortFunc(f.s.Log, func(a, b Entry) int { return a.Rank().Compare(b.Rank()) })
	slices.SortFunc(f.s.Ignored, func(a, b Ignored) int { return a.Comment.Rank().Compare(b.Comment.Rank()) })
	if f.s.Records = len(f.s.Log); f.s.Records > 0 {
		f.s.Last = f.s.Log[f.s.Records-1].Created
	}

	return f.s
}

type fold struct {
	s      State
	byKey  map[Worker]int     // index into s.Claims
	resets map[resetting]Rank // where it was first said since there was something to reset
	news   Rank               // of the newest record that a reset may be about
}

// A resetting is what a reset says.
type resetting struct {
	worker  Worker
	restart bool
}

// ignore notes that a comment which begins like a record does not count, and why.
func (f *fold) ignore(c Comment, reason string) {
	f.s.Ignored = append(f.s.Ignored, Ignored{c, reason})
}

// claim adds a claim comment. Those of one key are one claim, of one bid for each nonce; a second
// login cannot borrow the key. A claim comment of a lease store's hold that somebody else than the
// worker wrote only mirrors what the store decided: a sweep found that it was missing
// (spec.md#fold).
func (f *fold) claim(e Entry) {
	onBehalf := e.Record.Lease != "" && e.Record.By != ""
	i, known := f.byKey[e.Record.Worker]
	if !known {
		i = len(f.s.Claims)
		f.byKey[e.Record.Worker] = i
		f.s.used[e.Record.Worker] = true
		f.s.Claims = append(f.s.Claims, Claim{})
	}

	c := &f.s.Claims[i]

	switch {
	case onBehalf:
		c.behalf.add(e)
		c.behalfLegacy = c.behalfLegacy || e.Record.Nonce == ""

	case len(c.Bids) > 0 && !SameLogin(c.Author, e.Author):
		f.ignore(e.Comment, "another login already uses this codename and firing id")
		return

	default:
		if len(c.Bids) == 0 && known {
			c.signed = e.Rank()
		}
		c.bidFor(e)
	}

	c.Ranks = append(c.Ranks, e.Rank())
	f.s.Log = append(f.s.Log, e)
}

// bidFor adds a comment of the claim's author to its bid.
func (c *Claim) bidFor(e Entry) {
	c.Author = e.Author
	b := c.bid(e.Record.Nonce)
	if b == nil {
		c.Bids = append(c.Bids, Bid{})
		b = &c.Bids[len(c.Bids)-1]
	}

	b.add(e)
	if c.assignee == "" { // it is written with the confirmation, so a later comment may be the first that names it
		c.assignee = e.Record.Assignee
	}
}

// apply takes in a record that is not a claim, by the table of spec.md#fold, and says why one does
// not count.
//
// A release ends a key for ever, also when its claim is not (yet) in the log. One with a nonce ends
// the bid of that process alone. Only the claim's own author may, or a trusted one that says so in
// by=, or anybody trusted before a mirrored claim has its author: what ended then stays ended. An
// unlink takes the pull request out of the release that names it, once, and after the release. A
// plan, its answer and a revoke are about a claim that lives.
func (f *fold) apply(e Entry) (ignored string) {
	r, rank := e.Record, e.Rank()
	c := &Claim{}
	i, claimed := f.byKey[r.Worker]
	if claimed {
		c = &f.s.Claims[i]
	}

	switch {
	case r.Kind.About().Signed && r.By == "":
		return string(r.Kind) + " without by"
	case r.Kind == KindReset:
		f.s.Reset, c.Reset = rank, true
		if r.Restart {
			f.s.Restart = rank
		}
		f.reset(e)
		return ""

	case r.Kind == KindRelease && !claimed:
		if f.s.Over(r.Worker, r.Nonce) && r.Stage == "" && r.Outcome != OutcomeBundleRolledBack {
			f.s.Idle = append(f.s.Idle, e)
			return ""
		}
		f.s.used[r.Worker], f.s.over[process{r.Worker, r.Nonce}] = true, true
		if r.By != "" {
			f.stage(e.Record.Stage, e.Created)
		}

	case r.Kind == KindRelease && r.By == "" && len(c.Bids) > 0 && rank.Compare(c.signed) > 0 &&
		!SameLogin(c.Author, e.Author):
		return "not the claim's author, and no by= says who ended it"
	case r.Kind == KindRelease && c.End != nil && f.s.Over(r.Worker, r.Nonce):
		f.s.Idle = append(f.s.Idle, e)
		return ""
	case r.Kind == KindRelease:
		f.release(c, e)
		if c.Reset && r.Outcome == OutcomeStaleSwept { // the reset that names it is about that already
			return ""
		}

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
		for i := range c.Bids {
			c.Bids[i].Ended = true
		}

		f.s.over[process{worker: r.Worker}] = true
		c.End = &Release{
			Outcome: OutcomePlanRejected,
			By:      r.By,
			Reason:  r.Reason,
			At:      e.Created,
			Author:  e.Author,
			URL:     e.URL,
			Rank:    rank,
		}
	case c.Revoked == nil: // a revoke
		c.Revoked = releaseOf(e)
	}

	f.news = rank
	return ""
}

// reset takes in a reset that counts. It says nothing if another one has said the same since there
// was something to reset.
func (f *fold) reset(e Entry) {
	says := resetting{e.Record.Worker, e.Record.Restart}
	if since, said := f.resets[says]; said && f.news.Compare(since) < 0 {
		f.s.Idle = append(f.s.Idle, e)
		return
	}
	f.resets[says] = e.Rank()
}

// release takes in a release that counts. The claim ends when no bid of it is left: by the first
// release that was not of one process alone, else by the last one's. It then says what it said
// before that release.
func (f *fold) release(c *Claim, e Entry) {
	f.s.over[process{e.Record.Worker, e.Record.Nonce}] = true
	c.released = true
	if e.Record.Nonce == "" && c.ending == nil {
		c.ending = &ending{releaseOf(e), e.Record.Stage, *c}
	}

	left := slices.DeleteFunc(c.Standing(), e.Record.ends)
	for i, b := range c.Bids {
		c.Bids[i].Ended = b.Ended || e.Record.ends(b)
	}

	switch {
	case len(left) > 0:
		c.settle()
		return
	case c.End != nil:
		return
	}

	how := cmp.Or(c.ending, &ending{releaseOf(e), e.Record.Stage, *c})
	c.End = how.release
	c.Record, c.Rank, c.Created = how.before.Record, how.before.Rank, how.before.Created
	c.Comment, c.URL = how.before.Comment, how.before.URL
	c.Person, c.Legacy = how.before.Person, how.before.Legacy
	f.stage(how.stage, how.release.At)
}

// An ending is a release that was not of one process alone, and the claim before it.
type ending struct {
	release *Release
	stage   string
	before  Claim
}

// ends reports whether the release ends the bid of its key: that of its nonce; or, with a fencing
// token, all but those that have taken over from the hold with that token, or will; else all.
func (r Record) ends(b Bid) bool {
	switch {
	case r.Nonce != "":
		return b.Nonce == r.Nonce
	case r.Token != 0:
		return b.Record.Resumes == "" || b.Record.Token != 0 && b.Record.Token <= r.Token
	}

	return true
}

// stage takes in where a pipeline has moved: the claim's own end says it, or somebody who moves the
// issue without a claim. What a former holder says later counts for nothing.
func (f *fold) stage(name string, at time.Time) {
	if name != "" {
		f.s.Stage, f.s.StageAt = name, at
	}
}

// releaseOf is what a release, or a revoke, says of the claim.
func releaseOf(e Entry) *Release {
	r := e.Record
	return &Release{
		Outcome:   r.Outcome,
		PR:        r.PR,
		Closes:    r.Closes,
		By:        r.By,
		Reason:    r.Reason,
		NotBefore: r.NotBefore,
		At:        e.Created,
		Author:    e.Author,
		URL:       e.URL,
		Rank:      e.Rank(),
	}
}
