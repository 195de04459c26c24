package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/trouble"
)

// Stamp is a server time in JSON: RFC 3339 in UTC, to the second. The zero time is empty.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// when prints a server time for people, with the distance to now.
func when(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return fmt.Sprintf("%s (%s)", Moment(t), distance(t.Sub(now)))
}

// Moment prints a server time for people.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// Lasts is how long a hold lasts that ends then; the zero time is no end.
func Lasts(until time.Time) string {
	if until.IsZero() {
		return "without end"
	}
	return "until " + Moment(until)
}

func distance(d time.Duration) string {
	switch {
	case d >= time.Second:
		return "in " + printable.Span(d)
	case d <= -time.Second:
		return printable.Span(-d) + " ago"
	}

	return "now"
}

// RenewBefore is when the next heartbeat is due for a hold that ends at until and lasts lease after
// each, in server time. It is zero for a hold that never expires, and where the lease is not known.
func RenewBefore(until time.Time, lease time.Duration) time.Time {
	if until.IsZero() || lease <= 0 {
		return time.Time{}
	}
	return trouble.Second(until.Add(claim.HeartbeatDue(lease) - lease))
}

// RenewOwn is RenewBefore of a claim as the log shows it. It is zero while a plan of it waits for
// its answer.
func RenewOwn(own claim.Claim, t claim.Terms) time.Time {
	end, ends := own.Until(t)
	if !ends || own.Plan.Pending() {
		return time.Time{}
	}
	return RenewBefore(end, own.Lease(t))
}

// ViewHold is the answer of whoever has a hold: won, renewed, held already.
func ViewHold(h ledger.Hold, word answer.Word) answer.Answer {
	out := answer.Answer{
		Issue:    h.Issue.String(),
		Answer:   word,
		Codename: h.Record.Worker.Codename,
		FiringID: h.Record.Worker.FiringID,
		Person:   h.Record.Person,
		Since:    trouble.Second(h.Since),
		Until:    trouble.Second(h.Until),
		Token:    h.Token,
		Branch:   h.Record.Branch,
		URL:      h.URL,
	}

	if !h.Waits {
		out.RenewBefore = RenewBefore(h.Until, h.Lease())
	}

	return out
}

// DescribeHold is a hold for people, below what else they read about its issue.
func DescribeHold(h ledger.Hold, about ...[2]string) string {
	until := Lasts(h.Until)
	if !h.Until.IsZero() && h.Record.TTL > 0 && !h.Waits {
		until += " (" + printable.Exact(h.Record.TTL) + ")"
	}

	w := h.Record.Worker
	return fmt.Sprintf("%s %s\n", h.Issue, OneLine(h.Title)) + Table(append(about,
		[2]string{"  worker", w.Codename + " (run " + w.FiringID + ")"},
		[2]string{"  lease", until},
		[2]string{"  token", fmt.Sprint(h.Token)},
		[2]string{"  record", h.URL},
	))
}

// ViewOwn is the answer of whoever has had a hold already, as the log shows it.
func ViewOwn(i claim.Issue, own claim.Claim, t claim.Terms) answer.Answer {
	out := answer.Answer{
		Issue:    i.String(),
		Answer:   answer.Won,
		Yours:    true,
		Codename: own.Record.Worker.Codename,
		FiringID: own.Record.Worker.FiringID,
		Person:   own.Person,
		Since:    trouble.Second(own.Created),
		Token:    own.Record.Token,
		Branch:   own.Record.Branch,
		URL:      own.URL,
	}

	if end, ends := own.Until(t); ends {
		out.Until = trouble.Second(end)
	}
	return out
}

// Table lays out names and values, a line for each. A name without a value is left out.
func Table(rows [][2]string) string {
	shown := slices.DeleteFunc(slices.Clone(rows), func(row [2]string) bool { return row[1] == "" })
	width, text := table{Rows: shown}.Width(), ""
	for _, row := range shown {
		text += fmt.Sprintf("%-*s  %s\n", width, row[0], row[1])
	}

	return text
}

// Columns lays out rows of cells, each column as wide as its widest cell.
func Columns(rows [][]string) string {
	widths := map[int]int{}
	for _, row := range rows {
		for n, cell := range row {
			widths[n] = max(widths[n], ansi.StringWidth(cell))
		}
	}

	var b strings.Builder
	for _, row := range rows {
		line := ""
		for n, cell := range row {
			line += cell + strings.Repeat(" ", widths[n]-ansi.StringWidth(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}

	return b.String()
}

// ViewMove is the answer of a command that moved the labels of an issue, or found them right.
func ViewMove(rep ledger.Repair, word answer.Word) answer.Answer {
	return answer.Answer{
		Issue:  rep.Issue.String(),
		Answer: word,
		Was:    trouble.LabelNames(rep.Was),
		Is:     trouble.LabelNames(rep.Is),
		Why:    rep.Why,
	}
}

// UnprovenWarning is what a worker should know who has released an issue as success and named
// nothing that shows it.
func UnprovenWarning(i claim.Issue, w claim.Worker) string {
	return fmt.Sprintf("the issue is ready again: success was recorded without a pull request; next time name it with --pr; "+
		"if the issue is done, close it with: label-state release %s --codename %s --firing-id %s --done", i, printable.ShellWord(w.Codename), printable.ShellWord(w.FiringID))
}

// StateOf names the lifecycle labels of an issue for people.
func StateOf(labels []string) string {
	return cmp.Or(strings.Join(labels, ", "), "(no lifecycle label)")
}

// Move shows the lifecycle labels before and after; where they stay, the others that came and went.
// A snapshot that was stale may show before what came only now: each label is named once.
func Move(was, is []string, c labels.Change) string {
	if !slices.Equal(was, is) {
		return StateOf(was) + " -> " + StateOf(is)
	}

	text := StateOf(is)
	came := besides(c.Add, is)
	if len(came) > 0 {
		text += ", now with " + strings.Join(came, ", ")
	}
	if went := besides(c.Remove, slices.Concat(is, came)); len(went) > 0 {
		text += ", now without " + strings.Join(went, ", ")
	}

	return text
}

// besides are the names that are not among those that were said, each once.
func besides(names, said []string) []string {
	var out []string
	for _, name := range names {
		if !labels.Has(said, name) && !labels.Has(out, name) {
			out = append(out, name)
		}
	}

	return out
}

// CycleRemedy is how a person ends a cycle.
const CycleRemedy = "remove one of these dependencies: under Relationships on the page of the issue, or its \"Blocked by\" line in the text"
