package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// An Answer has three values, never two (spec.md#the-verdict). The zero value is Unknown.
type Answer int

// The answers to "may this worker take it?".
const (
	Unknown Answer = iota
	Free
	Held // no, for the reasons given
)

// String returns unknown, free or held.
func (a Answer) String() string { return [...]string{"unknown", "free", "held"}[a] }

// A Verdict is the answer with all its reasons.
type Verdict struct {
	Answer  Answer
	Reasons []Reason
	Notes   []Reason      // what was seen and does not matter to the answer
	Expired []claim.Claim // live claims whose end must be recorded before a new claim
}

// Has reports whether a reason of that code was given.
func (v Verdict) Has(c Code) bool {
	return slices.ContainsFunc(v.Reasons, func(r Reason) bool { return r.Code == c })
}

// Stops is why people have the holder of an issue stop at its next heartbeat, by a verdict: they
// have closed the issue, or keep agents off it. nil is that they have not.
func (r Rules) Stops(v Verdict) error {
	for _, one := range v.Reasons {
		switch {
		case one.Code == CodeClosed && one.Pull != "":
			return errors.New("the pull request has ended")
		case one.Code == CodeClosed:
			return errors.New("the issue was closed")
		case one.Code == CodeHold:
			return errors.New("a person keeps agents off it (label " + r.Scheme.Hold + ")")
		}
	}

	return nil
}

// String returns the answer and its reasons as one line.
func (v Verdict) String() string {
	if len(v.Reasons) == 0 {
		return v.Answer.String()
	}
	return v.Answer.String() + ": " + v.Why()
}

// Why is the reasons in one line.
func (v Verdict) Why() string {
	texts := make([]string, len(v.Reasons))
	for i, r := range v.Reasons {
		texts[i] = r.Text
	}

	return strings.Join(texts, "; ")
}

// A Seeker is who asks: a run, or a person, and the branch that is pushed, if any. Its own claim
// and its own branch's pull request are not an obstacle to pushing.
type Seeker struct {
	Worker claim.Worker
	Token  int64  // fencing token of the worker's hold as its process knows it; 0 is unknown
	Person bool   // the login that made the snapshot asks for itself; an app is not a person
	As     string // codename under which it would claim; empty is the worker's
	Repo   string // owner/repo of the branch
	Branch string

	// Contributor says the same as Person of a login whose records do not count, for which the
	// Action claims (docs/action.md#contributors).
	Contributor bool

	// Earlier tells the workers whose holds were the asker's own, under other keys; nil knows none.
	// That such a hold expired keeps others off the issue for a while, and not the asker.
	Earlier func(claim.Worker) bool
}

// unexpired is the state without the attempts that are over because a hold of the asker's own
// expired.
func (w Seeker) unexpired(log claim.State) claim.State {
	if w.Earlier == nil {
		return log
	}
	log.Attempts = slices.DeleteFunc(slices.Clone(log.Attempts), func(a claim.Attempt) bool {
		return a.Release.Outcome == claim.OutcomeStaleSwept && w.Earlier(a.Worker)
	})

	return log
}

// Verdict answers "may this worker take the issue?" for claim, dedup-check, the hook, the sweep and
// the work source alike (spec.md#the-verdict). Anything that could not be read makes it Unknown. A
// hold that has expired is judged as the claim would judge it: after its end was recorded. While
// somebody holds the issue nobody records ends for a new claim.
func (r Rules) Verdict(f Facts, who Seeker) Verdict {
	log := f.Log
	if _, held := r.Holder(f); !held {
		log = f.Log.Ended(r.Over(f), f.ExpiryOutcome, f.Now)
	}
	return r.predicate(f, who, log)
}

// Admits is Verdict for a claim that has not yet recorded the ends of expired holds: what follows
// from those ends is left out, so that the claim records them before it is refused.
func (r Rules) Admits(f Facts, who Seeker) Verdict {
	return r.predicate(f, who, f.Log)
}

// predicate is that of Verdict and Admits. log is what back-off and failed attempts are counted
// from.
func (r Rules) predicate(f Facts, who Seeker, log claim.State) Verdict {
	var v Verdict
	if f.PullRequest { // it has neither
		f.PRs, f.Excessive, f.Blockers = nil, nil, nil
	}

	for _, m := range f.Missing {
		v.because(CodeUnread, "", "%s", m)
	}

	if f.Now.IsZero() {
		v.because(CodeUnread, "", "no server time")
	}

	if f.PauseErr != nil {
		v.because(CodeUnread, "", "%s", f.PauseErr)
	}

	if len(v.Reasons) > 0 {
		return v
	}

	if !f.Open {
		text, state := f.ending()
		v.because(CodeClosed, f.URL, "%s", text).Pull = state
	}
	v.holds(r, f, who)
	v.pulls(r, f, who)
	v.people(r, f, log)

	v.assigned(r, f)
	v.history(r, f, who.unexpired(log))
	if (who.Person || who.Contributor) && f.Viewer != "" && !claim.IsApp(f.Viewer) {
		v.Reasons = slices.DeleteFunc(v.Reasons, func(one Reason) bool { return !one.stops(f, who) })
	}
	if who.Contributor {
		v.cutShort(r, f, log)
	}

	switch {
	case len(v.Reasons) > 0:
		v.Answer = Held
	case len(f.Doubts) > 0:
		for _, d := range f.Doubts {
			v.because(CodeUnread, "", "%s", d)
		}
	default:
		v.Answer = Free
	}

	// whoever wants to take the issue cannot know then that it is free; all else, a push among it,
	// goes by what can be read
	if f.Unshown > 0 {
		reason := Reason{Code: CodeUnshown, Text: Unshown(f.Unshown), URL: f.URL}
		if v.Answer == Held || who.Repo != "" || who.Branch != "" {
			v.Notes = append(v.Notes, reason)
		} else {
			v.Answer, v.Reasons = Unknown, append(v.Reasons, reason)
		}
	}

	return v
}

// ending says how what is not open ended, and of a pull request in which state it is.
func (f Facts) ending() (string, PRState) {
	switch {
	case !f.PullRequest:
		return "the issue is closed", ""
	case f.Merged():
		return "the pull request was merged", PRMerged
	}

	return "the pull request is closed", PRClosed
}

// Unshown words that GitHub counts n comments more than it shows.
func Unshown(n int) string {
	return fmt.Sprintf("GitHub counts more comments than it shows (%d more), and a claim may be among those", n)
}

// because adds a reason and returns it, for what else belongs to it.
func (v *Verdict) because(c Code, url, format string, args ...any) *Reason {
	v.Reasons = append(v.Reasons, Reason{Code: c, Text: fmt.Sprintf(format, args...), URL: url})
	return &v.Reasons[len(v.Reasons)-1]
}

// holds names the claim that decides. To its worker it is its own, but for a process from which
// another one of the same run has taken it over (spec-writing.md#resuming); a live claim after
// somebody else's is nobody's hold, not even for the worker that made it.
func (v *Verdict) holds(r Rules, f Facts, who Seeker) {
	for _, c := range f.Log.Live() {
		if c.Expired(r.Terms, f.Now) {
			v.Expired = append(v.Expired, c)
			v.Notes = append(v.Notes, Reason{
				Code:  CodeExpired,
				Text:  "the lease of " + c.Record.Worker.String() + " has expired",
				URL:   c.URL,
				Claim: &c,
			})
		}
	}

	c, held := r.Holder(f)
	if !held {
		return
	}

	code, resumed := CodeInFlight, false
	if who.owns(c, f) {
		code = CodeOwn
		if resumed = who.Token > 0 && c.Record.Token > who.Token; resumed {
			code = CodeInFlight
		}
	}

	end, ends := c.Until(r.Terms)
	var text string
	switch {
	case c.Person != "" && c.Held():
		text = c.Person + " has held it since " + printable.Minute(c.Created)
		if ends {
			text += ", until " + printable.Minute(end)
		}
	case c.Person != "":
		text = c.Person + " has been claiming it since " + printable.Minute(c.Created)
	default:
		verb := "held"
		if !c.Held() {
			verb = "being claimed"
		}

		text = fmt.Sprintf("%s by %s (run %s)", verb, c.Record.Worker.Codename, c.Record.Worker.FiringID)
		if !c.Created.IsZero() { // a lease store knows holds that the log does not show yet
			text += " since " + printable.Minute(c.Created)
		}

		if ends {
			text += ", lease until " + printable.Minute(end)
		} else {
			text += ", without end"
		}

		if resumed {
			text += ", by another process of that run, which has taken it over"
		}
	}

	reason := v.because(code, c.URL, "%s", text)
	reason.Claim, reason.Until, reason.Resumed = &c, end, resumed
	reason.Overdue = c.Overdue(r.Terms, f.Now)
}

// owns reports whether the claim is the seeker's own: it is the claim's worker. Who names no worker
// is the person whose hold it is, or pushes the branch the claim names, or a part of the chain in
// which the claim's holder has a part. Of a pull request everybody who works on it pushes the same
// branch, which tells nothing. Everybody can read a key in the log, so it is not the seeker's when
// another login wrote the claim, unless an app wrote it for the seeker. A snapshot without a login
// goes by the key alone.
func (w Seeker) owns(c claim.Claim, f Facts) bool {
	switch {
	case !w.Worker.IsZero():
		return c.Record.Worker == w.Worker && (f.Viewer == "" || c.WrittenBy(f.Viewer) || c.IsOf(f.Viewer))
	case c.IsOf(f.Viewer):
		return true
	case w.Branch != "" && !f.PullRequest && c.Record.Branch == w.Branch && strings.EqualFold(w.Repo, f.Issue.Slug()):
		return true
	}

	return slices.ContainsFunc(f.PRs, func(p PR) bool { return w.pushes(p) && p.Chain != "" && f.Of(p, c) })
}

// Holder returns the claim that decides now: of the live claims that have not expired the first
// confirmed one, else the first. A contender that is not confirmed yet blocks newcomers as well.
func (r Rules) Holder(f Facts) (first claim.Claim, held bool) {
	for _, c := range f.Log.Live() {
		if !c.Expired(r.Terms, f.Now) && (!held || c.Held() && !first.Held()) {
			first, held = c, true
		}
	}
	return first, held
}

// Shown returns the claim that people see as the hold: the one that decides now, else the first
// whose end by time is not recorded yet.
func (r Rules) Shown(f Facts) (claim.Claim, bool) {
	if c, held := r.Holder(f); held {
		return c, true
	}
	return f.Log.Holder()
}

// Over lists the claims whose end is to be recorded: those that have expired, those that a lease
// store gave away a lease and a grace ago, and all of an issue or a pull request that has ended.
func (r Rules) Over(f Facts) []claim.Claim {
	ended := !f.Open
	all := append(f.Log.Live(), f.Log.Overruled()...)
	return slices.DeleteFunc(all, func(c claim.Claim) bool {
		return !(ended && c.Live()) && (c.Stored || !c.Over(r.Terms, f.Now))
	})
}

// ExpiryOutcome is the outcome of a hold that ran out. It counts as an attempt only when there was
// work to do and nobody did it.
func (f Facts) ExpiryOutcome(c claim.Claim) string {
	switch {
	case f.Merged():
		return claim.OutcomeSuccess
	case !f.Open:
		return claim.OutcomeCancelled
	case c.Plan.Pending():
		return claim.OutcomePlanTimeout
	case c.Provisional():
		return claim.OutcomeBundleRolledBack
	}

	return claim.OutcomeStaleSwept
}

// pulls are the pull requests for the issue, and those that name too many.
func (v *Verdict) pulls(r Rules, f Facts, who Seeker) {
	for _, e := range f.Excessive {
		v.Notes = append(v.Notes, Reason{Code: CodeExcessive, Text: e.String(), URL: e.PR.URL})
	}

	for _, p := range f.PRs {
		switch {
		case who.pushes(p):
			v.Notes = append(v.Notes, Reason{
				Code: CodePROpen,
				Text: p.String() + " is this branch's own pull request",
				URL:  p.URL,
				PR:   &p,
			})

		case f.pending(p) && f.family(p, who.pushes):
			v.Notes = append(v.Notes, Reason{
				Code: CodePROpen,
				Text: p.String() + " is in the same chain as this branch's pull request",
				URL:  p.URL,
				PR:   &p,
			})
		case f.pending(p) && r.staged():
		case f.pending(p) && p.State == PRMerged:
			v.because(CodeMerged, p.URL, "pull request %s%s", p.Shown(), p.stands()).PR = &p
		case f.pending(p):
			v.because(CodePROpen, p.URL, "pull request %s%s for it", p.Shown(), p.stands()).PR = &p
		case f.Open && f.shippedBy(p):
			v.because(CodeMerged, p.URL, "pull request %s for it was merged", p.Shown()).PR = &p
		}
	}
}

// people are the labels and marks by which persons steer. A person's claim that has expired does
// not stand for the label of a person's hold: log has its end.
func (v *Verdict) people(r Rules, f Facts, log claim.State) {
	f.Log = log
	if p := f.Pause; p != nil {
		v.because(CodePaused, "", "%s is paused%s", f.Issue.Slug(), p.Told()).Here = p.Here
	}

	if f.Limit != "" {
		v.because(CodeLimit, "", "%s", f.Limit)
	}

	switch known := f.HoldBy != "" && !f.HoldAt.IsZero(); {
	case !r.BareHold(f):
	case known:
		v.because(CodeHold, f.URL, "%s has held it since %s (label %s, without a claim)", f.HoldBy,
			printable.Minute(f.HoldAt), r.Scheme.Hold)
	default:
		v.because(CodeHold, f.URL, "a person holds it (label %s)", r.Scheme.Hold)
	}

	if labels.Has(f.Labels, r.Scheme.NeedsScope) {
		v.because(CodeScope, f.URL, "it needs a person (label %s)", r.Scheme.NeedsScope)
	}

	if gated(r.Scheme, f) {
		v.because(CodePlan, f.URL, "a plan waits for approval (label %s)", r.Scheme.PlanPending)
	}

	for _, x := range r.Exclude {
		if labels.Has(f.Labels, x) {
			v.because(CodeExcluded, f.URL, "label %s keeps it out", x)
		}
	}

	for _, b := range f.Blockers {
		if b.Open {
			v.because(CodeBlocked, b.URL, "blocked by %s", b.Issue)
		}
	}
}

// history is what the past of an issue says, by log: that it is done, or failed too often, or waits
// for the next attempt. An open issue stays done by a person's label although another lifecycle
// label, such as the queue's, was left beside it. One that shows done alone is not offered, but
// whoever names it may take it.
func (v *Verdict) history(r Rules, f Facts, log claim.State) {
	have := r.Scheme.Of(f.Labels)
	switch {
	case f.PullRequest:
		return
	case !f.Open:
	case f.implemented(log):
		v.because(CodeDone, f.URL, "its last holder found that it is already implemented")
	case log.Lasting().Records == 0 && len(have) > 1 && slices.Contains(have, labels.Done) && !f.wasReopened():
		v.because(CodeDone, f.URL, "a person labelled it done (label %s)", r.Scheme.Done)
	}

	if f.Open && through(r, f) {
		v.because(CodeDone, f.URL, "it went through all stages")
	}

	if r.escalated(log) {
		v.because(CodeAttempts, f.URL, "%s failed",
			printable.Count(len(log.Attempts), "attempt", "attempts"))
	}

	switch until := r.RestUntil(log); {
	case !until.After(f.Now):
	case until.After(r.RestUntil(f.Log)): // it counts from an end that nobody has recorded yet
		v.because(CodeBackingOff, f.URL, "it backs off for %s once the end of its expired hold is recorded",
			printable.Exact(until.Sub(f.Now).Round(time.Second))).Until = until
	default:
		v.because(CodeBackingOff, f.URL, "it is backing off until %s", printable.Minute(until)).Until = until
	}
}

// cutShort lets a contributor wait whose last hold of the issue time or a maintainer has ended.
func (v *Verdict) cutShort(r Rules, f Facts, log claim.State) {
	last, until := r.CutShort(log, func(c claim.Claim) bool { return c.IsOf(f.Viewer) })
	if !f.Now.Before(until) {
		return
	}

	became := "expired"
	if last.End.Outcome == claim.OutcomeForced {
		became = "was ended by a maintainer"
	}
	v.because(CodeCutShort, last.URL, "your last hold of this issue %s; you can /claim it again from %s on", became,
		printable.Minute(until)).Until = until
}

// CutShort is the last of those holds that was cut short, and until when a contributor waits who
// had it: the zero time is no wait.
func (r Rules) CutShort(log claim.State, of func(claim.Claim) bool) (last claim.Claim, until time.Time) {
	last, ended := log.LastEnded(func(c claim.Claim) bool { return log.CutShort(c) && of(c) })
	if ended && r.ContributorTTL > 0 {
		until = last.End.At.Add(r.ContributorTTL)
	}
	return last, until
}
