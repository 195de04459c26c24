package dedup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// Bounds of what a person is shown; programs get everything.
const (
	mostIssues    = 20
	longestReason = 380 // characters
)

// A Style is how the text looks on the terminal at hand.
type Style struct{ Color bool }

func (s Style) paint(code, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) red(text string) string { return s.paint("1;31", text) }

// Text writes the report for people. It is empty when there is nothing to say, ends in a line
// break otherwise, and holds no control character but those of the style.
func Text(r Report, s Style) string {
	w := writer{report: r, style: s}
	if all := r.Refusals; len(all) > 0 {
		w.refusals(all)
		w.wayOut()
	}

	for _, n := range r.Notes[:min(len(r.Notes), mostIssues)] {
		about := ""
		if n.Issue != (claim.Issue{}) {
			about = w.short(n.Issue) + ": "
		}
		w.line("label-state: note: %s%s", about, clause(n.Text))
	}

	w.unknown()
	return w.out.String()
}

type writer struct {
	out    strings.Builder
	report Report
	style  Style
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.out, format+"\n", args...)
}

// short names an issue as its repository's people do.
func (w *writer) short(i claim.Issue) string {
	if strings.EqualFold(i.Slug(), w.report.Home) {
		return fmt.Sprintf("#%d", i.Number)
	}
	return i.String()
}

// refusals names one refused issue in its first line and the reason in its second. Of several, the
// first line has the number, and each issue follows in a line of its own.
func (w *writer) refusals(all []Refusal) {
	refused := "label-state: " + w.style.red("push refused") + ", "
	if len(all) == 1 {
		one := all[0]
		w.line("%s%s %q%s%s", refused, w.name(one), title(one.Title), w.whose(" is", " has"), finishes(one))
		w.line("  %s", printable.Short(why(one), longestReason))
		return
	}

	w.line("%s%s%s", refused, count(all), w.whose(" are", " have"))
	for _, r := range all[:min(len(all), mostIssues)] {
		rest := fmt.Sprintf("%q%s: %s", title(r.Title), finishes(r), why(r))
		w.line("  %s %s", w.name(r), printable.Short(rest, longestReason))
	}

	if more := len(all) - mostIssues; more > 0 {
		w.line("  and %d more", more)
	}
}

func (w *writer) name(r Refusal) string { return w.style.paint("1", w.short(r.Issue)) }

// whose says why the issues are refused. An open pull request may be the pusher's own.
func (w *writer) whose(is, has string) string {
	if w.first(lifecycle.CodeInFlight) == nil {
		return has + " an open pull request"
	}
	return is + " someone else's work"
}

// count counts issues and pull requests.
func count(all []Refusal) string {
	pulls := 0
	for _, r := range all {
		if r.Branch != "" {
			pulls++
		}
	}

	var parts []string
	if n := len(all) - pulls; n > 0 {
		parts = append(parts, printable.Count(n, "issue", "issues"))
	}
	if pulls > 0 {
		parts = append(parts, printable.Count(pulls, "pull request", "pull requests"))
	}

	return strings.Join(parts, " and ")
}

// finishes says what in the push is about the issue.
func finishes(r Refusal) string {
	if len(r.Commits) == 0 {
		return " (pull request from " + title(r.Branch) + ")"
	}

	c := r.Commits[0]
	text := fmt.Sprintf(" (closed by %s %q", c.OID[:min(len(c.OID), 7)], title(c.Subject))
	if more := len(r.Commits) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ")"
}

// why joins the reasons of one refusal.
func why(r Refusal) string {
	var parts []string
	at := clock{r.Now}
	if r.Lost != nil {
		parts = append(parts, clause(lostText(*r.Lost, r.Terms, at)))
	}

	for _, reason := range r.Reasons {
		text := clause(describe(reason, at))
		if strings.HasPrefix(reason.URL, "https://") || strings.HasPrefix(reason.URL, "http://") {
			text += " (" + clause(reason.URL) + ")"
		}
		parts = append(parts, text)
	}

	if r.Guess {
		parts = append(parts, "this is a guess: GitHub calls the author a member, but does not show you the role")
	}
	return strings.Join(parts, "; ")
}

// describe says who works on the issue, and until when.
func describe(r lifecycle.Reason, at clock) string {
	if p := r.PR; p != nil {
		text := "open pull request: "
		if p.Draft {
			text = "open draft pull request: "
		}

		text += p.String()
		if p.Author != "" {
			text += " by " + p.Author
		}

		if p.Head != "" {
			text += ", branch " + p.Head
		}

		return text
	}

	if r.Claim.Person != "" && r.Claim.Held() {
		text := r.Claim.Person + " has held it since " + at.at(r.Claim.Created)
		if !r.Until.IsZero() { // a contributor
			text += ", until " + at.at(r.Until)
		}

		return text
	}
	verb := "in flight"
	if !r.Claim.Held() {
		verb = "being claimed"
	}

	text := verb + ": " + r.Claim.Holder()
	if !r.Claim.Created.IsZero() { // a lease store knows holds that the log does not show yet
		text += " since " + at.at(r.Claim.Created)
	}

	switch {
	case r.Until.IsZero():
		text += ", without time limit"
	case r.Claim.Plan.Pending():
		text += ", its plan is waiting for an answer until " + at.at(r.Until)
	default:
		text += ", lease until " + at.at(r.Until)
	}
	if r.Resumed {
		text += "; another process of your run has taken it over"
	}

	return text
}

// wayOut lists what to do instead, as commands where there is one.
func (w *writer) wayOut() {
	var steps []string
	taken := w.first(lifecycle.CodeInFlight)
	if taken != nil {
		steps = append(steps, "wait for it")
	}

	if w.first(lifecycle.CodePROpen) != nil {
		steps = append(steps, "continue in the open pull request")
	}

	if slices.ContainsFunc(w.report.Refusals, func(r Refusal) bool { return r.Branch == "" }) {
		steps = append(steps, "pick another (label-state next --list)")
	}
	if taken != nil && taken.takeOver() != "" {
		steps = append(steps, "take it over ("+taken.takeOver()+")")
	}
	w.line("  %s,\n  or %s", strings.Join(steps, ", "), pushAnyway)
}

// A hook is not told the command line of its push, and another one may push another branch: people
// repeat their own. Programs are told the option with its command.
const (
	pushAnyway = "push anyway: repeat your push with --no-verify"
	bypass     = "git push --no-verify"
)

// takeOver is the command that takes the issue from the worker who holds it; empty where nobody is
// told to. That is where a person holds it, as an agent may be reading, and where GitHub tells the
// pusher no roles, who cannot claim it then.
func (r Refusal) takeOver() string {
	persons := func(r lifecycle.Reason) bool { return r.Claim != nil && r.Claim.Person != "" }
	held := func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeInFlight }
	if r.Guess || !slices.ContainsFunc(r.Reasons, held) || slices.ContainsFunc(r.Reasons, persons) {
		return ""
	}
	return fmt.Sprintf("label-state claim %s --force", r.Issue)
}

// first is the first refusal that was given for a reason of that code.
func (w *writer) first(c lifecycle.Code) *Refusal {
	for _, r := range w.report.Refusals {
		if slices.ContainsFunc(r.Reasons, func(x lifecycle.Reason) bool { return x.Code == c }) {
			return &r
		}
	}
	return nil
}

// unknown is one line, however much could not be found out.
func (w *writer) unknown() {
	all := w.report.Unknown
	if len(all) == 0 {
		return
	}

	var issues, reasons []string
	for _, u := range all {
		if u.Issue != (claim.Issue{}) {
			issues = append(issues, w.short(u.Issue))
		}
		if reason := clause(u.Reason); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}

	text := w.style.red("push refused") + ", could not check "
	switch {
	case len(w.report.Refusals) > 0:
		text = "not checked: "
	case w.report.Policy == Allow:
		text = "not checked, pushing anyway: "
	case len(issues) == 0:
		text += "it: "
	}

	if len(issues) > 0 {
		text += some(issues, ", ", 5) + ": "
	}
	text += some(reasons, "; ", 2)
	if len(w.report.Refusals) == 0 && w.report.Policy == Refuse {
		text += " (hook.on_unknown: refuse; find out why: label-state doctor; " + pushAnyway + ")"
	}

	w.line("label-state: %s", text)
}

// some joins at most n of the texts and says how many it left out.
func some(texts []string, separator string, n int) string {
	if len(texts) <= n {
		return strings.Join(texts, separator)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:n], separator), len(texts)-n)
}
