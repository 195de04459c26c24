package lifecycle

import (
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

// A Code names a reason.
type Code string

// The reasons why an issue may not be taken.
const (
	CodeUnread     Code = "unread"  // a fact is missing
	CodeUnshown    Code = "unshown" // GitHub counts comments that it does not show
	CodeClosed     Code = "closed"
	CodeInFlight   Code = "in-flight" // somebody else holds it, or asks for it
	CodeOwn        Code = "own"       // this very run holds it already
	CodePROpen     Code = "pr-open"   // an open pull request closes it
	CodeMerged     Code = "merged"    // a merged pull request was for it, the issue stayed open
	CodeDone       Code = "done"      // released as already implemented, or labelled so by a person
	CodePlan       Code = "plan"      // a plan label without a plan record: a person approves first
	CodeHold       Code = "person-hold"
	CodeScope      Code = "needs-scope"
	CodePaused     Code = "paused"
	CodeExcluded   Code = "excluded-label"
	CodeBlocked    Code = "blocked"
	CodeBackingOff Code = "backing-off"
	CodeAttempts   Code = "too-many-attempts"
	CodeExcessive  Code = "too-many-issues" // a note: a pull request that names too many issues moves none
	CodeExpired    Code = "expired"         // a note: the hold's lease is over
	CodeAssigned   Code = "assigned"        // to somebody else
)

// A Reason is one cause of a verdict with its evidence.
type Reason struct {
	Code  Code
	Text  string // one clause, plain facts; may contain other people's text
	URL   string // evidence
	Claim *claim.Claim
	PR    *PR
	Until time.Time // when it ends by itself; zero when it does not
	Here  bool      // of CodePaused: on this host only
}

// ByStranger reports whether the reason is a stranger's pull request. Somebody whose records count may claim in spite of it.
func (r Reason) ByStranger() bool { return r.Code == CodePROpen && r.PR != nil && r.PR.Stranger }

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

// String returns the reasons as one line.
func (v Verdict) String() string {
	if len(v.Reasons) == 0 {
		return v.Answer.String()
	}
	texts := make([]string, len(v.Reasons))
	for i, r := range v.Reasons {
		texts[i] = r.Text
	}
	return v.Answer.String() + ": " + strings.Join(texts, "; ")
}

// A Seeker is who asks: a run, and the branch it pushes, if any. Its own claim and its own
// branch's pull request are no obstacle to pushing.
type Seeker struct {
	Worker claim.Worker
	Repo   string // owner/repo of the branch
	Branch string
}

// Verdict answers "may this worker take the issue?" for claim, dedup-check, the hook, the sweep
// and the work source alike (spec.md#the-verdict). Anything that could not be read makes it Unknown.
// A hold that has expired is judged as the claim would judge it: after its end was recorded.
func (r Rules) Verdict(f Facts, who Seeker) Verdict {
	return r.judge(f, who, r.expired(f))
}

// Admits is Verdict for a claim that has not yet recorded the ends of expired holds: what follows from
// those ends is left out, so that the claim records them before it is refused.
func (r Rules) Admits(f Facts, who Seeker) Verdict {
	return r.judge(f, who, f.Log)
}

// judge is the predicate. log is what back-off and failed attempts are counted from.
func (r Rules) judge(f Facts, who Seeker, log claim.State) Verdict {
	var v Verdict
	if f.PullRequest { // it has neither
		f.PRs, f.Excessive, f.Blockers = nil, nil, nil
	}
	for _, m := range f.Missing {
		v.Reasons = append(v.Reasons, Reason{Code: CodeUnread, Text: m})
	}
	if f.Now.IsZero() {
		v.Reasons = append(v.Reasons, Reason{Code: CodeUnread, Text: "no server time"})
	}
	if f.PauseErr != nil {
		v.Reasons = append(v.Reasons, Reason{Code: CodeUnread, Text: f.PauseErr.Error()})
	}
	if len(v.Reasons) > 0 {
		return v
	}
	if !f.Open {
		v.because(CodeClosed, f.URL, "%s", f.ending())
	}
	r.holds(f, who, &v)
	r.pulls(f, who, &v)
	r.people(f, log, &v)
	r.assigned(f, &v)
	r.history(f, log, &v)
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
	f.unshown(who, &v)
	return v
}

// unshown takes in comments that nobody can read. Whoever wants to take the issue cannot know then that it is free. All else,
// a push among it, goes by what can be read.
func (f Facts) unshown(who Seeker, v *Verdict) {
	if f.Unshown == 0 {
		return
	}
	reason := Reason{Code: CodeUnshown, Text: Unshown(f.Unshown), URL: f.URL}
	if v.Answer == Held || who.Repo != "" || who.Branch != "" {
		v.Notes = append(v.Notes, reason)
		return
	}
	v.Answer, v.Reasons = Unknown, append(v.Reasons, reason)
}

// Unshown words that GitHub counts n comments more than it shows.
func Unshown(n int) string {
	return fmt.Sprintf("GitHub counts more comments than it shows (%d more), and a claim may be among those", n)
}

func (v *Verdict) because(c Code, url, format string, args ...any) *Reason {
	v.Reasons = append(v.Reasons, Reason{Code: c, Text: fmt.Sprintf(format, args...), URL: url})
	return &v.Reasons[len(v.Reasons)-1]
}

// holds names the claim that decides. To its worker it is its own; a live claim behind somebody
// else's is nobody's hold, not even for the worker that made it.
func (r Rules) holds(f Facts, who Seeker, v *Verdict) {
	for _, c := range f.Log.Live() {
		if c.Expired(r.Terms, f.Now) {
			v.Expired = append(v.Expired, c)
			v.Notes = append(v.Notes, Reason{Code: CodeExpired, Text: "the lease of " + c.Record.Worker.String() + " is over", URL: c.URL, Claim: &c})
		}
	}
	c, held := r.Holder(f)
	switch {
	case !held:
	case who.owns(c, f) || who.Worker.IsZero() && (c.IsOf(f.Viewer) || f.through(who, c)):
		r.hold(CodeOwn, c, v)
	default:
		r.hold(CodeInFlight, c, v)
	}
}

// Holder returns the claim that decides now: of the live claims that have not expired the first confirmed
// one, else the first. A contender that is not confirmed yet blocks newcomers as well.
func (r Rules) Holder(f Facts) (first claim.Claim, held bool) {
	for _, c := range f.Log.Live() {
		if !c.Expired(r.Terms, f.Now) && (!held || c.Held() && !first.Held()) {
			first, held = c, true
		}
	}
	return first, held
}

// Over lists the claims whose end is to be recorded: those that have expired, those that a lease
// store gave away a lease and a grace ago, and all of a pull request that has ended.
func (r Rules) Over(f Facts) []claim.Claim {
	all := append(f.Log.Live(), f.Log.Overruled()...)
	return slices.DeleteFunc(all, func(c claim.Claim) bool {
		return !(f.ended() && c.Live()) && (c.Stored || !c.Over(r.Terms, f.Now))
	})
}

// expired is the log as it will be once the claims that are over have their ends recorded. While
// somebody holds the issue it is the log as it is: nobody records them for a new claim.
func (r Rules) expired(f Facts) claim.State {
	if _, held := r.Holder(f); held {
		return f.Log
	}
	return f.Log.Ended(r.Over(f), f.ExpiryOutcome, f.Now)
}

// ExpiryOutcome is the outcome of a hold that ran out. It counts as an attempt only when there was work to do
// and nobody did it.
func (f Facts) ExpiryOutcome(c claim.Claim) string {
	switch {
	case f.Merged():
		return claim.OutcomeSuccess
	case !f.Open, c.Record.Worker.Codename == claim.StageLock: // whose end nobody writes down
		return claim.OutcomeCancelled
	case c.Plan.Pending():
		return claim.OutcomePlanTimeout
	case c.Provisional():
		return claim.OutcomeBundleRolledBack
	}
	return claim.OutcomeStaleSwept
}

func (r Rules) hold(code Code, c claim.Claim, v *Verdict) {
	reason := v.because(code, c.URL, "%s", r.describe(c))
	reason.Claim = &c
	reason.Until, _ = c.Until(r.Terms)
}

// owns reports whether the seeker is the claim's worker, or pushes the branch the claim names. Of a pull request
// everybody who works on it pushes the same branch, which tells nothing. Everybody can read a key in the log,
// so it is not the seeker's when another login wrote the claim, unless an app wrote it for the seeker. A snapshot without a login goes by the key alone.
func (w Seeker) owns(c claim.Claim, f Facts) bool {
	if !w.Worker.IsZero() {
		return c.Record.Worker == w.Worker && (f.Viewer == "" || c.WrittenBy(f.Viewer) || c.IsOf(f.Viewer))
	}
	return w.Branch != "" && !f.PullRequest && c.Record.Branch == w.Branch && strings.EqualFold(w.Repo, f.Issue.Slug())
}

// through reports whether the seeker pushes a part of the chain in which the claim's holder has a part.
func (f Facts) through(who Seeker, c claim.Claim) bool {
	for _, p := range f.PRs {
		if who.pushes(p) && p.Chain != "" && f.Of(p, c) {
			return true
		}
	}
	return false
}

func (r Rules) describe(c claim.Claim) string {
	switch {
	case c.Person != "" && c.Held(): // without an end
		return c.Person + " holds it since " + printable.Minute(c.Created)
	case c.Person != "":
		return c.Person + " is claiming it since " + printable.Minute(c.Created)
	}
	verb := "held"
	if !c.Held() {
		verb = "being claimed"
	}
	text := fmt.Sprintf("%s by %s (run %s)", verb, c.Record.Worker.Codename, c.Record.Worker.FiringID)
	if !c.Created.IsZero() { // a lease store knows holds that the log does not show yet
		text += " since " + printable.Minute(c.Created)
	}
	if end, ok := c.Until(r.Terms); ok {
		return text + ", lease until " + printable.Minute(end)
	}
	return text + ", without end"
}

func (r Rules) pulls(f Facts, who Seeker, v *Verdict) {
	for _, e := range f.Excessive {
		v.Notes = append(v.Notes, Reason{Code: CodeExcessive, Text: e.String(), URL: e.PR.URL})
	}
	for _, p := range f.PRs {
		switch {
		case who.pushes(p):
			v.Notes = append(v.Notes, Reason{Code: CodePROpen, Text: p.String() + " is this branch's own pull request", URL: p.URL, PR: &p})
		case f.pending(p) && f.family(p, who.pushes):
			v.Notes = append(v.Notes, Reason{Code: CodePROpen, Text: p.String() + " is of the same chain as this branch's pull request", URL: p.URL, PR: &p})
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

// people are the labels and marks by which persons steer. A person's claim that has expired does not stand for the label of a
// person's hold: log has its end.
func (r Rules) people(f Facts, log claim.State, v *Verdict) {
	f.Log = log
	if p := f.Pause; p != nil {
		where := ""
		if p.Here {
			where = " on this host"
		}
		reason := v.because(CodePaused, "", "%s is paused%s since %s by %s", f.Issue.Slug(), where, printable.Minute(p.Since), p.By)
		reason.Here = p.Here
		if p.Reason != "" {
			reason.Text += ": " + p.Reason
		}
	}
	switch known := f.HoldBy != "" && !f.HoldAt.IsZero(); {
	case !r.bareHold(f):
	case known:
		v.because(CodeHold, f.URL, "%s holds it since %s (label %s, without a claim)", f.HoldBy, printable.Minute(f.HoldAt), r.Scheme.Hold)
	default:
		v.because(CodeHold, f.URL, "a person holds it (label %s)", r.Scheme.Hold)
	}
	if labels.Has(f.Labels, r.Scheme.NeedsScope) {
		v.because(CodeScope, f.URL, "it needs a person (label %s)", r.Scheme.NeedsScope)
	}
	if r.gated(f) {
		v.because(CodePlan, f.URL, "a plan waits for approval (label %s)", r.Scheme.PlanPending)
	}
	for _, x := range r.Exclude {
		if labels.Has(f.Labels, x) {
			v.because(CodeExcluded, f.URL, "label %s keeps it out", x)
		}
	}
	for _, b := range f.openBlockers() {
		v.because(CodeBlocked, b.URL, "blocked by %s", b.Issue)
	}
}

func (r Rules) history(f Facts, log claim.State, v *Verdict) {
	f.Log = log
	switch {
	case f.PullRequest:
		return
	case !f.Open:
	case f.implemented(log):
		v.because(CodeDone, f.URL, "its last holder found it implemented already")
	case r.doneByHand(f):
		v.because(CodeDone, f.URL, "a person labelled it done (label %s)", r.Scheme.Done)
	}
	if f.Open && r.through(f) {
		v.because(CodeDone, f.URL, "it went through all stages")
	}
	if r.escalated(log) {
		v.because(CodeAttempts, f.URL, "%d attempts failed", len(log.Attempts))
	}
	if until := r.RestUntil(log); until.After(f.Now) {
		v.because(CodeBackingOff, f.URL, "it is backing off until %s", printable.Minute(until)).Until = until
	}
}
