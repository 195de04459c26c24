package action

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// summaryLimit keeps a job summary under the runner's 1 MiB, in bytes, with room for the last
// lines.
const summaryLimit = 900 << 10

// A page is a job summary under construction.
type page struct{ strings.Builder }

func (p *page) add(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// writeSummary writes the job summary: what changed and why, what waits for a person, who holds
// what, one picture, and what was not looked at. A run that writes nothing says what it would
// change, and counts no change.
func (s *Step) writeSummary(r result) error {
	var p page
	rep, would := r.report, ""
	if s.dry() {
		would = "would be "
	}

	p.add("## label-state: %s\n\n", markdown(r.mode))
	ended, swept, repaired := rep.Totals()
	p.add("**%d** examined · **%d** %sswept · **%d** %shanded over or released · **%d** %srepaired · **%d** failed · **%d** not examined\n\n",
		len(rep.Examined), swept, would, ended-swept, would, repaired, would, rep.Failed, len(rep.Skipped))

	_, bad := errors.AsType[*github.AuthError](r.err) // of one that is refused nobody knows what it may
	switch {
	case s.Inputs.DryRun:
		p.add("> Nothing was written: dry run.\n\n")
	case s.Unusable != nil:
		p.add("> Nothing was written: %s\n\n", markdown(s.Unusable.Brief()))
	case s.dry() && !bad:
		p.add("> Nothing was written: the token of this run may only read.\n\n")
	}

	if r.err != nil {
		p.bullets("What went wrong", []string{markdown(r.err.Error())})
	}
	var refused []string
	for _, one := range r.refused {
		line := issueLink(one.issue.Issue, one.issue.URL) + ": " + markdown(one.reason.Text)
		if one.reason.URL != "" {
			line += " (" + link("evidence", one.reason.URL) + ")"
		}
		refused = append(refused, line)
	}

	p.bullets("Refused: somebody else has it", refused)
	var unclaimed []string
	for _, one := range r.unclaimed {
		unclaimed = append(unclaimed, issueLink(one.issue.Issue, one.issue.URL)+": "+markdown(one.reason.Text))
	}

	p.bullets("Not held by the author", unclaimed)
	var unknown []string
	for _, one := range r.unjudged {
		unknown = append(unknown, markdown(one.String())+".")
	}

	p.bullets("Not judged", unknown)
	if r.proposed != nil {
		p.bullets("The configuration that this pull request proposes cannot be used",
			each(strings.Split(r.proposed.Error(), "\n")))
	}

	p.bullets("Done", each(r.notes))
	changed, unwritten := r.findings()
	var done, failed [][]string
	for _, f := range changed {
		done = append(done, []string{
			issueLink(f.Issue, f.URL) + " " + markdown(f.Title), names(f.Was),
			becomes(f), markdown(explained(f, s.dry())),
		})
	}
	for _, f := range unwritten {
		issue := issueLink(f.Issue, f.URL) + " " + markdown(f.Title)
		failed = append(failed, []string{issue, names(f.Was), markdown(f.Err.Error())})
	}

	title, is := "Changed", "Is"
	if s.dry() {
		title, is = "Would change", "Would be"
	}

	p.table(title, []string{"Issue", "Was", is, "Why"}, done)
	p.table("Failed", []string{"Issue", "Shows", "Why not"}, failed)
	p.strands("Waiting for a person", "For what", rep.Waiting)
	p.strands("Stranded: a person must look", "Why", rep.Stranded)
	var held [][]string // who holds what, people by their names
	holds := slices.SortedFunc(slices.Values(rep.Holds), func(a, b ledger.Aged) int { return a.Issue.Compare(b.Issue) })
	for _, a := range holds {
		who, ends := link(a.Claim.Record.Worker.String(), a.Claim.URL), "never"
		if a.Claim.Person != "" {
			who = link(a.Claim.Person, a.Claim.URL) + " (a person)"
		}

		if !a.Until.IsZero() {
			ends = printable.Minute(a.Until)
		}

		if a.Late {
			ends = "**late:** " + ends
		}
		held = append(held, []string{
			issueLink(a.Issue, a.URL) + " " + markdown(a.Title), who,
			printable.Minute(a.Claim.Updated), ends,
		})
	}

	p.table("Who holds what", []string{"Issue", "Holder", "Last heartbeat", "Lease ends"}, held)
	var shelf [][]string
	for _, l := range r.labels {
		shelf = append(shelf, []string{markdown(l.repo.String()), names([]string{l.name}), markdown(l.status)})
	}

	p.table("Labels", []string{"Repository", "Label", "Status"}, shelf)
	p.picture(rep.Lanes)
	if n := rep.Minimized; n > 0 {
		p.add("Minimized %s of ended holds.\n\n", printable.Count(n, "comment", "comments"))
	}

	if err := rep.NotMinimized; err != nil {
		p.add("Comments of ended holds stay as they are: %s\n\n", markdown(err.Error()))
	}
	p.bullets("Not examined", each(r.report.Skipped))
	p.bullets("Left alone", each(r.left))
	_, err := io.WriteString(s.Summary, p.String())

	return err
}

// each makes other people's text fit for the summary.
func each(lines []string) []string {
	out := make([]string, len(lines))
	for n, l := range lines {
		out[n] = markdown(l)
	}
	return out
}

const bulletLimit = 100 // lines of one list

// bullets lists lines that are Markdown already.
func (p *page) bullets(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.add("### %s\n\n", title)

	for n, l := range lines {
		if n == bulletLimit || p.Len() > summaryLimit {
			p.add("- and %d more; the log has them all\n", len(lines)-n)
			break
		}
		p.add("- %s\n", l)
	}

	p.add("\n")
}

// table is like bullets, in columns.
func (p *page) table(title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.add("### %s\n\n| %s |\n|%s\n", title, strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))

	for n, row := range rows {
		if p.Len() > summaryLimit {
			p.add("\nand %d more; the log has them all\n", len(rows)-n)
			break
		}
		p.add("| %s |\n", strings.Join(row, " | "))
	}

	p.add("\n")
}

// becomes shows the lifecycle labels after a change, or, where they stay, the other labels that
// came and went.
func becomes(f ledger.Finding) string {
	if f.Moved() {
		return names(f.Is)
	}
	var parts []string
	if len(f.Change.Add) > 0 {
		parts = append(parts, "with "+names(f.Change.Add))
	}

	if len(f.Change.Remove) > 0 {
		parts = append(parts, "without "+names(f.Change.Remove))
	}

	if len(parts) == 0 {
		return "the same"
	}

	return strings.Join(parts, ", ")
}

// names shows labels as code. A label with a backtick or a bar in it is shown as text.
func names(all []string) string {
	if len(all) == 0 {
		return "(none)"
	}
	shown := make([]string, len(all))
	for n, name := range all {
		shown[n] = "`" + plain(name) + "`"
		if strings.ContainsAny(name, "`|\\") {
			shown[n] = markdown(name)
		}
	}

	return strings.Join(shown, " ")
}

// pieColours can be told apart on a light page and on a dark one, which mermaid's own cannot.
const pieColours = `%%{init: {"themeVariables": {"pie1": "#1f883d", "pie2": "#cf222e", "pie3": "#8250df", "pie4": "#bf8700", "pie5": "#0969da", "pie6": "#6e7781", "pieSectionTextColor": "#ffffff"}}}%%`

// picture draws how many issues are in each column of the board.
func (p *page) picture(lanes map[claim.Issue]lifecycle.Lane) {
	if len(lanes) == 0 {
		return
	}

	var count [lifecycle.Lanes]int
	for _, lane := range lanes {
		count[lane]++
	}

	p.add("### Issues by state\n\n```mermaid\n%s\npie showData\n", pieColours)

	for lane := range lifecycle.Lanes {
		if n := count[lane]; n > 0 {
			p.add("  \"%s\" : %d\n", lane.Title(), n)
		}
	}

	p.add("```\n\n")
}

// strands lists issues that nothing but a person moves.
func (p *page) strands(title, why string, all []ledger.Strand) {
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{issueLink(s.Issue, s.URL) + " " + markdown(s.Title), markdown(s.Why)})
	}
	p.table(title, []string{"Issue", why}, rows)
}
