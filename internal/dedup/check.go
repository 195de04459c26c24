package dedup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Check judges every snapshot. It refuses for two reasons only: somebody else holds the issue, or
// it has an open pull request from another branch (spec.md#the-verdict). Whoever holds the issue
// passes, and so does a push to the branch of an open pull request for it, unless the pusher is a
// worker whose own claim of the issue has ended: such a one is stopped even there. A pull request
// from a pushed branch is refused only when somebody else holds it.
func Check(rules lifecycle.Rules, who Pusher, snapshots []Snapshot) Report {
	var r Report
	for _, snapshot := range snapshots {
		switch {
		case snapshot.Absent:
		case snapshot.Unread != "":
			r.unknown(snapshot.Issue, snapshot.Unread)
		default:
			r.add(check(rules, who, snapshot))
		}
	}

	return r
}

// check judges one issue that was read. A guess stops what is certain does not stop, and lets
// nothing go.
func check(rules lifecycle.Rules, who Pusher, snapshot Snapshot) Report {
	certain := judged(rules, who, snapshot.Named, snapshot.Facts)
	if len(certain.Refusals) > 0 || snapshot.Guess == nil {
		return certain
	}

	facts := snapshot.Facts
	facts.Log = *snapshot.Guess
	guess := judged(rules, who, snapshot.Named, facts)
	if len(guess.Refusals) == 0 {
		return certain
	}

	for k := range guess.Refusals {
		guess.Refusals[k].Guess = true
	}

	return guess
}

func judged(rules lifecycle.Rules, who Pusher, n Named, facts lifecycle.Facts) (r Report) {
	j := judge{rules: rules, facts: facts, now: clock{facts.Now}}
	j.ask(who)
	j.report(n, &r)
	return r
}

func (r *Report) add(of Report) {
	r.Refusals = append(r.Refusals, of.Refusals...)
	r.Notes = append(r.Notes, of.Notes...)
	r.Unknown = append(r.Unknown, of.Unknown...)
}

func (r *Report) unknown(i claim.Issue, reason string) {
	r.Unknown = append(r.Unknown, Unchecked{Issue: i, Reason: reason})
}

// A judge sorts what the predicate says about one issue.
type judge struct {
	rules   lifecycle.Rules
	facts   lifecycle.Facts
	now     clock
	verdict lifecycle.Verdict  // as the pusher's worker, of no branch
	holder  *lifecycle.Reason  // the claim that decides; nil when nobody holds the issue
	own     bool               // and it is the pusher's
	mine    *claim.Claim       // the pusher's claim, whatever became of it
	ownPR   *lifecycle.Reason  // a pull request from a pushed branch
	others  []lifecycle.Reason // open pull requests from other branches
	unread  []lifecycle.Reason // pull requests that the log names and GitHub does not show
	expired []lifecycle.Reason // claims of others whose lease is over
}

// ask puts the predicate's question once for each pushed branch: a claim or a pull request is the
// pusher's own if it is for one of them.
func (j *judge) ask(who Pusher) {
	// The worker that pushes is the environment's, else the one that claimed the issue from this
	// worktree, else a session that the push runs in and that made the claim, else nobody, and then
	// the branch decides (hook.md#who-you-are).
	me, token := who.Worker, int64(0)
	for _, h := range who.Holds {
		if h.Issue.Same(j.facts.Issue) && (me.IsZero() || me == h.Worker) {
			me, token = h.Worker, h.Token
		}
	}

	for _, own := range j.facts.Log.Live() {
		if me.IsZero() && who.Made != nil && who.Made(own.Record.Worker) {
			me = own.Record.Worker
		}
	}

	if c, ok := j.facts.Log.Find(me); ok {
		j.mine = &c
	}
	seeker := lifecycle.Seeker{Worker: me, Token: token, Repo: who.Repo}
	j.verdict = j.rules.Verdict(j.facts, seeker)

	for _, r := range j.verdict.Reasons {
		if r.Claim != nil { // the predicate names one at most (lifecycle.Rules.Holder)
			j.holder = &r
		}
	}

	// a worker's own contender after another's claim is not a hold
	j.own = j.holder != nil && j.holder.Code == lifecycle.CodeOwn
	for _, n := range j.verdict.Notes {
		if n.Code == lifecycle.CodeExpired && (j.mine == nil || n.Claim.Record.Worker != j.mine.Record.Worker) {
			j.expired = append(j.expired, n)
		}
	}

	ownPRs := map[string]bool{}
	for _, seeker.Branch = range who.Branches {
		v := j.rules.Verdict(j.facts, seeker)
		j.own = j.own || v.Has(lifecycle.CodeOwn)
		for _, n := range v.Notes {
			if n.Code == lifecycle.CodePROpen {
				ownPRs[n.PR.String()] = true
				j.ownPR = &n
			}
		}
	}

	for _, r := range j.verdict.Reasons {
		switch {
		case r.Code != lifecycle.CodePROpen || ownPRs[r.PR.String()]:
		case r.PR.State == lifecycle.PRUnreadable:
			j.unread = append(j.unread, r)
		default:
			j.others = append(j.others, r)
		}
	}
}

// report says what the facts mean for the push. A closed issue is ignored, and so is a commit that
// names a pull request.
func (j *judge) report(n Named, r *Report) {
	issue := n.Issue
	var reasons []lifecycle.Reason // that stop the push
	fenced := j.holder != nil && j.mine != nil
	if !j.own && (j.ownPR == nil || fenced) {
		if j.holder != nil {
			reasons = append(reasons, *j.holder)
		}
		reasons = append(reasons, j.others...)
	}

	switch {
	case j.verdict.Answer == lifecycle.Unknown:
		r.unknown(issue, j.verdict.Why())
	case !j.facts.Open || j.facts.PullRequest && n.Branch == "":
	case len(reasons) > 0:
		r.Refusals = append(r.Refusals, Refusal{
			Named:   n,
			Title:   j.facts.Title,
			URL:     j.facts.URL,
			Reasons: reasons,
			Lost:    j.lost(),
			Terms:   j.rules.Terms,
			Now:     j.facts.Now,
		})
	case len(j.facts.Doubts) > 0:
		r.unknown(issue, strings.Join(j.facts.Doubts, "; "))
	case len(j.unread) > 0 && !j.own && j.ownPR == nil:
		r.unknown(issue, fmt.Sprintf("pull request %s, which the log names, could not be read", j.unread[0].PR))
	default:
		for _, note := range j.notes() {
			note.Issue = issue
			r.Notes = append(r.Notes, note)
		}
	}
}

// lost is the pusher's own claim when it is no longer valid.
func (j *judge) lost() *claim.Claim {
	if j.mine == nil || j.mine.Live() && !j.mine.Expired(j.rules.Terms, j.facts.Now) {
		return nil
	}
	return j.mine
}

// notes are what a push that goes on should know. The holder is told that somebody wants it to
// stop, or that its lease is over though nobody may take the issue yet; and another worker that its
// claim was ended by others, or expired, while nobody took over.
func (j *judge) notes() []Note {
	var out, others []Note // of those, that other pull requests are open
	for _, o := range j.others {
		if !j.own || !o.PR.Of(*j.holder.Claim) {
			others = append(others, Note{
				Text: fmt.Sprintf("pull request %s is open for it as well", o.PR.Shown()),
				URL:  o.URL,
			})
		}
	}

	if j.own {
		switch c := *j.holder.Claim; {
		case c.Revoked != nil:
			out = append(out, Note{Text: c.Revoked.Who() + " asked your run to stop: " +
				cmp.Or(c.Revoked.Reason, "no reason given"), URL: c.Revoked.URL})
		case c.Overdue(j.rules.Terms, j.facts.Now):
			end, _ := c.Until(j.rules.Terms)
			out = append(out, Note{Text: fmt.Sprintf("the lease of your run %s expired at %s",
				c.Record.Worker.FiringID, j.now.at(end)), URL: c.URL})
		}

		return append(out, others...)
	}

	if c := j.lost(); c != nil && (c.End == nil || c.End.By != "") {
		out = append(out, Note{Text: lostText(*c, j.rules.Terms, j.now) + "; nobody has taken it over", URL: c.URL})
	}
	out = append(out, others...)
	for _, l := range j.expired {
		end, _ := l.Claim.Until(j.rules.Terms)
		out = append(out, Note{Text: fmt.Sprintf("the lease of %s expired at %s and does not count",
			l.Claim.Holder(), j.now.at(end)), URL: l.URL})
	}

	switch {
	case j.holder != nil:
		text := fmt.Sprintf("%s holds it, but pull request %s from this branch is open", j.holder.Claim.Holder(),
			j.ownPR.PR)
		out = append(out, Note{Text: text, URL: j.holder.URL})
	case j.facts.PullRequest:
		return out // its labels and assignees say nothing about a push
	// labels decide nothing: that one promises what nothing bears out is said when nothing else is
	case len(out) > 0 || j.ownPR != nil:
	case labels.Has(j.facts.Labels, j.rules.Scheme.Name(labels.PROpen)):
		out = []Note{{
			Text: "labelled " + j.rules.Scheme.PROpen + ", but no open pull request closes it",
			URL:  j.facts.URL,
		}}
	case labels.Has(j.facts.Labels, j.rules.Scheme.Name(labels.Claimed)):
		out = []Note{{Text: "labelled " + j.rules.Scheme.Claimed + ", but nobody has claimed it", URL: j.facts.URL}}
	}

	if j.facts.Unshown > 0 && j.ownPR == nil {
		out = append(out, Note{Text: lifecycle.Unshown(j.facts.Unshown), URL: j.facts.URL})
	}
	person := slices.IndexFunc(j.verdict.Reasons, func(r lifecycle.Reason) bool { return r.Code.Meaning().Noted })
	if person >= 0 && j.ownPR == nil && j.holder == nil {
		out = append(out, Note{Text: j.verdict.Reasons[person].Text, URL: j.verdict.Reasons[person].URL})
	}

	return out
}
