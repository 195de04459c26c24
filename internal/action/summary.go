package action

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/labels"
)

// summaryLimit keeps a job summary under the runner's 1 MiB, in bytes, with room for the last lines.
const summaryLimit = 900 << 10

// A page is a job summary under construction.
type page struct{ strings.Builder }

func (p *page) add(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// writeSummary writes the job summary: the numbers, what changed, one picture, and what was not looked at.
func (s *Step) writeSummary(r result) error {
	var p page
	p.add("## label-state: %s\n\n", markdown(r.mode))
	p.add("**%d** examined · **%d** given back · **%d** repaired · **%d** failed · **%d** not examined\n\n",
		r.report.Examined, r.report.GaveBack(), r.report.Repaired(), r.report.Failed, len(r.report.Skipped))
	if s.dry() {
		p.add("> Nothing was written: %s. This is what would have been.\n\n", s.reasonToBeDry())
	}
	if r.err != nil {
		p.bullets("What went wrong", []string{markdown(r.err.Error())})
	}
	p.refused(r.refused)
	p.bullets("Done", each(r.notes))
	p.changes(r)
	p.labels(r.labels)
	p.picture(r.report.States)
	p.ageing(r)
	p.stranded(r)
	p.bullets("Not examined", each(r.report.Skipped))
	p.bullets("Left alone", each(r.left))
	_, err := io.WriteString(s.Summary, p.String())
	return err
}

func (s *Step) reasonToBeDry() string {
	if s.Inputs.DryRun {
		return "dry run"
	}
	return "the token of this run may only read"
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

func (p *page) refused(all []refusal) {
	var lines []string
	for _, r := range all {
		line := issueLink(r.issue.Issue, r.issue.URL) + ": " + markdown(r.reason.Text)
		if r.reason.URL != "" {
			line += " (" + link("evidence", r.reason.URL) + ")"
		}
		lines = append(lines, line)
	}
	p.bullets("Refused: somebody else has it", lines)
}

func (p *page) changes(r result) {
	var rows [][]string
	for _, f := range r.changed() {
		rows = append(rows, []string{
			issueLink(f.Issue, f.URL) + " " + markdown(f.Title), names(f.Was), names(f.Is), markdown(why(f)),
		})
	}
	p.table("Changed", []string{"Issue", "Was", "Is", "Why"}, rows)
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

func (p *page) labels(all []shelved) {
	var rows [][]string
	for _, l := range all {
		rows = append(rows, []string{markdown(l.repo.String()), names([]string{l.name}), markdown(l.status)})
	}
	p.table("Labels", []string{"Repository", "Label", "Status"}, rows)
}

// picture draws how many issues are in each state.
func (p *page) picture(states map[labels.State]int) {
	total := 0
	for _, n := range states {
		total += n
	}
	if total == 0 {
		return
	}
	p.add("### Issues by state\n\n```mermaid\npie showData\n")
	for st := labels.None; st <= labels.Done; st++ {
		if n := states[st]; n > 0 {
			p.add("  \"%s\" : %d\n", sliceName(st), n)
		}
	}
	p.add("```\n\n")
}

func sliceName(st labels.State) string {
	if st == labels.None {
		return "no label"
	}
	return st.String()
}

const clock = "2006-01-02 15:04 UTC"

// ageing lists the holds that have gone more than half their lease without a sign of life.
func (p *page) ageing(r result) {
	var rows [][]string
	for _, a := range r.report.Ageing {
		rows = append(rows, []string{
			issueLink(a.Issue, a.URL) + " " + markdown(a.Title), link(a.Claim.Record.Worker.String(), a.Claim.URL),
			stamp(a.Claim.Updated), stamp(a.Until),
		})
	}
	p.table("Holds past half their lease", []string{"Issue", "Holder", "Last sign of life", "Lease ends"}, rows)
}

// stranded lists what nobody works on and nothing will move.
func (p *page) stranded(r result) {
	var rows [][]string
	for _, s := range r.report.Stranded {
		rows = append(rows, []string{issueLink(s.Issue, s.URL) + " " + markdown(s.Title), markdown(s.Why)})
	}
	p.table("Stranded: a person must look", []string{"Issue", "Why"}, rows)
}

func stamp(t time.Time) string { return t.UTC().Format(clock) }
