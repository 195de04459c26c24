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

// An Answer has three values, never two (PRODUCT ruling 1). The zero value is Unknown.
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
	CodeUnread      Code = "unread"       // a fact is missing
	CodePullRequest Code = "pull-request" // the number is a pull request
	CodeClosed      Code = "closed"
	CodeInFlight    Code = "in-flight" // somebody else holds it, or asks for it
	CodeOwn         Code = "own"       // this very run holds it already
	CodePROpen      Code = "pr-open"   // an open pull request closes it
	CodeMerged      Code = "merged"    // a merged pull request was for it, the issue stayed open
	CodeDone        Code = "done"      // released as already implemented
	CodeHold        Code = "person-hold"
	CodeScope       Code = "needs-scope"
	CodePaused      Code = "paused"
	CodeExcluded    Code = "excluded-label"
	CodeBlocked     Code = "blocked"
	CodeResting     Code = "resting"
	CodeAttempts    Code = "too-many-attempts"
	CodeLapsed      Code = "lapsed" // a note: the hold's lease is over
)

// A Reason is one cause of a verdict with its evidence.
type Reason struct {
	Code  Code
	Text  string // one clause, plain facts; may contain other people's text
	URL   string // evidence
	Claim *claim.Claim
	PR    *PR
	Until time.Time // when it ends by itself; zero when it does not
}

// A Verdict is the answer with all its reasons.
type Verdict struct {
	Answer  Answer
	Reasons []Reason
	Notes   []Reason      // what was seen and does not matter to the answer
	Lapsed  []claim.Claim // live claims whose end must be recorded before a new claim
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
// and the work source alike (PRODUCT ruling 2). Anything that could not be read makes it Unknown.
func (r Rules) Verdict(f Facts, who Seeker) Verdict {
	var v Verdict
	for _, m := range f.Missing {
		v.Reasons = append(v.Reasons, Reason{Code: CodeUnread, Text: m})
	}
	if f.Now.IsZero() {
		v.Reasons = append(v.Reasons, Reason{Code: CodeUnread, Text: "no server time"})
	}
	if len(v.Reasons) > 0 {
		return v
	}
	r.issue(f, &v)
	r.holds(f, who, &v)
	r.pulls(f, who, &v)
	r.people(f, &v)
	r.history(f, &v)
	v.Answer = Free
	if len(v.Reasons) > 0 {
		v.Answer = Held
	}
	return v
}

func (v *Verdict) because(c Code, url, format string, args ...any) *Reason {
	v.Reasons = append(v.Reasons, Reason{Code: c, Text: fmt.Sprintf(format, args...), URL: url})
	return &v.Reasons[len(v.Reasons)-1]
}

func (r Rules) issue(f Facts, v *Verdict) {
	if f.PullRequest {
		v.because(CodePullRequest, f.URL, "it is a pull request")
	}
	if !f.Open {
		v.because(CodeClosed, f.URL, "the issue is closed")
	}
}

// holds looks at every live claim: a contender that is not confirmed yet blocks newcomers as
// well. Of the others only the one that counts is named.
func (r Rules) holds(f Facts, who Seeker, v *Verdict) {
	var first *claim.Claim
	for _, c := range f.Log.Live() {
		switch {
		case c.Lapsed(r.Terms, f.Now):
			v.Lapsed = append(v.Lapsed, c)
			v.Notes = append(v.Notes, Reason{Code: CodeLapsed, Text: "the lease of " + c.Record.Worker.String() + " is over", URL: c.URL, Claim: &c})
		case who.owns(c, f.Issue) || who.Worker.IsZero() && f.through(who, c):
			r.hold(CodeOwn, c, v)
		case first == nil, c.Held() && !first.Held():
			first = &c
		}
	}
	if first != nil {
		r.hold(CodeInFlight, *first, v)
	}
}

func (r Rules) hold(code Code, c claim.Claim, v *Verdict) {
	reason := v.because(code, c.URL, "%s", r.describe(c))
	reason.Claim = &c
	reason.Until, _ = c.Until(r.Terms)
}

// owns reports whether the seeker is the claim's worker, or pushes the branch the claim names.
func (w Seeker) owns(c claim.Claim, i claim.Issue) bool {
	if !w.Worker.IsZero() {
		return c.Record.Worker == w.Worker
	}
	return w.Branch != "" && c.Record.Branch == w.Branch && strings.EqualFold(w.Repo, i.Slug())
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
	for _, p := range f.PRs {
		switch {
		case who.pushes(p):
			v.Notes = append(v.Notes, Reason{Code: CodePROpen, Text: p.String() + " is this branch's own pull request", URL: p.URL, PR: &p})
		case p.pending() && f.family(p, who.pushes):
			v.Notes = append(v.Notes, Reason{Code: CodePROpen, Text: p.String() + " is of the same chain as this branch's pull request", URL: p.URL, PR: &p})
		case p.pending() && r.staged():
		case p.pending() && p.State == PRMerged:
			v.because(CodeMerged, p.URL, "pull request %s%s", p, p.stands()).PR = &p
		case p.pending():
			v.because(CodePROpen, p.URL, "pull request %s%s for it", p, p.stands()).PR = &p
		case f.Open && f.shippedBy(p):
			v.because(CodeMerged, p.URL, "pull request %s for it was merged", p).PR = &p
		}
	}
}

// people are the labels and marks by which persons steer.
func (r Rules) people(f Facts, v *Verdict) {
	if f.Pause != nil {
		v.because(CodePaused, "", "%s is paused since %s by %s: %s", f.Issue.Slug(), printable.Minute(f.Pause.Since), f.Pause.By, f.Pause.Reason)
	}
	if labels.Has(f.Labels, r.Scheme.Hold) {
		v.because(CodeHold, f.URL, "a person holds it (label %s)", r.Scheme.Hold)
	}
	if labels.Has(f.Labels, r.Scheme.NeedsScope) {
		v.because(CodeScope, f.URL, "it needs a person (label %s)", r.Scheme.NeedsScope)
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

func (r Rules) history(f Facts, v *Verdict) {
	if f.Open && f.implemented() {
		v.because(CodeDone, f.URL, "its last holder found it implemented already")
	}
	if f.Open && r.through(f) {
		v.because(CodeDone, f.URL, "it went through all stages")
	}
	if r.escalated(f.Log) {
		v.because(CodeAttempts, f.URL, "%d attempts failed", len(f.Log.Attempts))
	}
	if until := r.RestUntil(f.Log); until.After(f.Now) {
		v.because(CodeResting, f.URL, "it rests until %s", printable.Minute(until)).Until = until
	}
}
