package action

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// summaryLimit keeps a job summary under the runner's 1 MiB, in bytes.
const summaryLimit = 900 << 10

// log prints what was done, foldable, and the failures as annotations.
func (s *Step) log(r result) {
	rep := r.report
	s.Console.line("%s: %d examined, %d given back, %d repaired, %d failed, %d not examined",
		r.mode, rep.Examined, givenBack(rep), repaired(rep), rep.Failed, len(rep.Skipped))
	if len(rep.Findings) > 0 {
		s.Console.group(fmt.Sprintf("%d issues changed", len(rep.Findings)), func() {
			for _, f := range rep.Findings {
				s.Console.line("%s: %s -> %s: %s", f.Issue, state(f.Was), state(after(f)), why(f))
			}
		})
	}
	for _, f := range rep.Findings {
		if f.Err != nil {
			s.Console.fail("%s: %s", f.Issue, f.Err)
		}
	}
	for _, skipped := range rep.Skipped {
		s.Console.warn("not examined: %s", skipped)
	}
}

func givenBack(r ledger.Report) int {
	n := 0
	for _, f := range r.Findings {
		n += len(f.Ended)
	}
	return n
}

func repaired(r ledger.Report) int {
	n := 0
	for _, f := range r.Findings {
		if f.Err == nil && !f.Change.Empty() {
			n++
		}
	}
	return n
}

func state(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return strings.Join(names, " ")
}

// after is what the issue shows now, or in a dry run would show.
func after(f ledger.Finding) []string {
	if f.Is == nil && !f.Change.Empty() {
		return f.Change.Add
	}
	return f.Is
}

func why(f ledger.Finding) string {
	var parts []string
	for _, c := range f.Ended {
		parts = append(parts, "gave back the hold of "+c.Record.Worker.String())
	}
	if f.Err != nil {
		return strings.Join(append(parts, f.Err.Error()), "; ")
	}
	return strings.Join(append(parts, f.Why), "; ")
}

// writeSummary writes the job summary: one table, one picture, and what was not looked at.
func (s *Step) writeSummary(r result) error {
	var b strings.Builder
	rep := r.report
	fmt.Fprintf(&b, "## label-state %s\n\n", markdown(r.mode))
	fmt.Fprintf(&b, "**%d** examined · **%d** given back · **%d** repaired · **%d** failed · **%d** not examined\n\n",
		rep.Examined, givenBack(rep), repaired(rep), rep.Failed, len(rep.Skipped))
	if s.Inputs.DryRun {
		b.WriteString("> Dry run: nothing was written.\n\n")
	}
	table(&b, rep)
	picture(&b, rep)
	bullets(&b, "Refused", r.refused)
	ageing(&b, rep)
	bullets(&b, "Not examined", rep.Skipped)
	if r.err != nil {
		bullets(&b, "Could not find out", []string{r.err.Error()})
	}
	_, err := io.WriteString(s.Summary, b.String())
	return err
}

func table(b *strings.Builder, rep ledger.Report) {
	if len(rep.Findings) == 0 {
		return
	}
	b.WriteString("| Issue | Was | Is | Why |\n| --- | --- | --- | --- |\n")
	for n, f := range rep.Findings {
		if b.Len() > summaryLimit {
			fmt.Fprintf(b, "\nand %d more; the log has them all\n", len(rep.Findings)-n)
			break
		}
		fmt.Fprintf(b, "| %s %s | %s | %s | %s |\n", link(f.Issue.String(), f.URL), markdown(f.Title),
			markdown(state(f.Was)), markdown(state(after(f))), markdown(why(f)))
	}
	b.WriteString("\n")
}

// picture draws how many issues are in each state.
func picture(b *strings.Builder, rep ledger.Report) {
	if len(rep.States) == 0 {
		return
	}
	b.WriteString("```mermaid\npie showData title Issues by state\n")
	for st := labels.None; st <= labels.Done; st++ {
		if n := rep.States[st]; n > 0 {
			fmt.Fprintf(b, "  \"%s\" : %d\n", st, n)
		}
	}
	b.WriteString("```\n\n")
}

func ageing(b *strings.Builder, rep ledger.Report) {
	var lines []string
	for _, c := range rep.Ageing {
		lines = append(lines, fmt.Sprintf("%s, last sign of life %s", c.Record.Worker, c.Updated.UTC().Format("2006-01-02 15:04 UTC")))
	}
	bullets(b, "Holds past half their lease", lines)
}

func bullets(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "### %s\n\n", title)
	for n, l := range lines {
		if b.Len() > summaryLimit {
			fmt.Fprintf(b, "- and %d more\n", len(lines)-n)
			break
		}
		fmt.Fprintf(b, "- %s\n", markdown(l))
	}
	b.WriteString("\n")
}

// A transition is one entry of the transitions output.
type transition struct {
	Issue string   `json:"issue"`
	Was   []string `json:"was"`
	Is    []string `json:"is"`
	Why   string   `json:"why"`
	Error string   `json:"error,omitempty"`
}

func (s *Step) writeOutputs(r result) error {
	rep := r.report
	moved := []transition{}
	for _, f := range rep.Findings {
		t := transition{Issue: f.Issue.String(), Was: some(f.Was), Is: some(after(f)), Why: why(f)}
		if f.Err != nil {
			t.Error = f.Err.Error()
		}
		moved = append(moved, t)
	}
	encoded, err := json.Marshal(moved)
	if err != nil {
		return err
	}
	return outputs(s.Output, "label-state-"+s.Word()+s.Word(), [][2]string{
		{"examined", strconv.Itoa(rep.Examined)},
		{"swept", strconv.Itoa(givenBack(rep))},
		{"repaired", strconv.Itoa(repaired(rep))},
		{"skipped", strconv.Itoa(len(rep.Skipped))},
		{"failed", strconv.Itoa(rep.Failed)},
		{"transitions", string(encoded)},
		{"refused", strconv.Itoa(len(r.refused))},
		{"incomplete", strconv.FormatBool(r.err != nil || !rep.Complete())},
		{"next-sweep-advice", advice(r)},
	})
}

func advice(r result) string {
	switch {
	case r.err != nil:
		return "run again: nothing could be read"
	case len(r.report.Skipped) > 0:
		return "run again soon: something was not examined"
	case r.report.Failed > 0:
		return "run again: a write failed"
	}
	return "none"
}

func some(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
