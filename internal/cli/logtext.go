package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/trouble"
)

// LogLines are the entries for people: when, who, and what it did to the issue.
func LogLines(entries []EntryView) []string {
	// whose record it is: the person's or the worker's, or for one that does not count the login's
	wide, actors := 0, make([]string, len(entries))
	for n, e := range entries {
		actors[n] = OneLine(cmp.Or(e.Person, e.Worker, e.Author))
		wide = max(wide, len(actors[n]))
	}

	out := make([]string, len(entries))
	for n, e := range entries {
		out[n] = OneLine(fmt.Sprintf("%s  %-*s  %s", Stamp(e.At), wide, actors[n], e.Deed())) + "\n"
	}

	return out
}

// History is the log in sentences, with times as status has them and workers by codename alone.
func History(s claim.State) string {
	var rows [][2]string
	for _, e := range Timeline(s) {
		codename, _, _ := strings.Cut(e.Worker, ":")
		text := cmp.Or(e.Person, codename, e.Author) + " " + e.Deed()
		if winner, yielded := claim.Yielded(e.Outcome); yielded {
			text = strings.ReplaceAll(text, winner.String(), winner.Codename)
		}

		rows = append(rows, [2]string{Moment(e.At), OneLine(text)})
	}

	return Table(rows)
}

// Deed is what the record says, in words.
func (e EntryView) Deed() string {
	text := e.Kind.About().Deed
	winner, yielded := claim.Yielded(e.Outcome)
	switch {
	case e.Ignored != "":
		return "wrote a record that does not count: " + e.Ignored
	case e.Kind == claim.KindClaim && e.State == "asked":
		return "asked for it"
	case e.Kind == claim.KindClaim:
		text = "claimed it" + strings.Replace(strings.TrimPrefix(e.State, "held"), "renewed 1 time", "renewed once", 1)
		if e.Forced != "" {
			text += ", despite " + e.Forced
		}
		if e.Reason != "" {
			text += ", noting " + e.Reason
		}
		return text
	case e.Kind == claim.KindRelease && yielded:
		text = "lost the race to " + winner.String()
	case e.Kind == claim.KindRelease: // how the hold, or the claim before it was one, came to its end
		held := "" // for how long, when that is worth telling
		if !e.Begun.IsZero() && e.At.Sub(e.Begun) >= time.Minute {
			held = " after " + printable.Span(e.At.Sub(e.Begun))
		}

		switch e.Outcome {
		case claim.OutcomeSuccess, claim.OutcomeAlreadyImplemented:
			text = fmt.Sprintf("delivered it%s: %s", held, e.Outcome)
		case claim.OutcomeStaleSwept:
			text = fmt.Sprintf("lost it%s without a heartbeat: %s", held, e.Outcome)
		case claim.OutcomeForced:
			text = fmt.Sprintf("lost it%s: %s", held, e.Outcome)
		case claim.OutcomeAdvanced:
			text = fmt.Sprintf("moved it on%s to stage %s: %s", held, cmp.Or(e.Stage, "?"), e.Outcome)
		case claim.OutcomeAbandoned:
			text = "gave up its claim: " + e.Outcome
		default:
			text = fmt.Sprintf("released it%s: %s", held, cmp.Or(e.Outcome, "no outcome given"))
		}
	}

	text = cmp.Or(text, string(e.Kind))
	// Who else had a hand in it, why, and what came of it.
	for _, p := range [][2]string{{" by ", claim.Signature(e.Author, e.By)}, {", because ", e.Reason}, {", ", e.PR}} {
		if p[1] != "" {
			text += p[0] + p[1]
		}
	}

	return text
}

// An EntryView is one line of log --json.
type EntryView struct {
	At      time.Time  `json:"at"`
	Edited  time.Time  `json:"edited,omitzero"`
	Kind    claim.Kind `json:"kind"`
	Worker  string     `json:"worker"`
	Person  string     `json:"person,omitempty"`
	Author  string     `json:"author"`
	State   string     `json:"state,omitempty"`
	Outcome string     `json:"outcome,omitempty"`
	By      string     `json:"by,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	PR      string     `json:"pr,omitempty"`
	Stage   string     `json:"stage,omitempty"`
	URL     string     `json:"url"`
	Ignored string     `json:"ignored,omitempty"`
	Forced  string     `json:"-"` // codes of the reasons that a claim was made in spite of
	Begun   time.Time  `json:"-"` // when its worker claimed; zero where nobody knows

	Comment claim.Comment `json:"-"` // with its place in the log
}

// Timeline mixes what counts and what does not, in the order of the log.
func Timeline(s claim.State) []EntryView {
	out := []EntryView{}
	for _, e := range s.Log {
		r := e.Record
		v := EntryView{
			At:      trouble.Second(e.Created),
			Kind:    r.Kind,
			Worker:  r.Worker.String(),
			Author:  e.Author,
			Outcome: r.Outcome,
			By:      r.By,
			Reason:  OneLine(r.Reason),
			Forced:  OneLine(r.Forced),
			PR:      r.PR,
			URL:     e.URL,
			Comment: e.Comment,
		}

		if c, claimed := s.Find(r.Worker); claimed {
			v.Person = c.Person
		}

		switch {
		case r.Kind == claim.KindClaim && !r.Held:
			v.State = "asked"
		case r.Kind == claim.KindClaim && r.Heartbeat > 0:
			v.State = "held, renewed " + printable.Count(int(r.Heartbeat), "time", "times")
		case r.Kind == claim.KindClaim:
			v.State = "held"
		case r.Kind == claim.KindRelease:
			v.Stage = OneLine(r.Stage) // where it has moved the issue in a pipeline
		}

		if e.Updated.After(e.Created) {
			v.Edited = trouble.Second(e.Updated)
		}
		out = append(out, v)
	}

	for _, g := range s.Ignored {
		out = append(out, EntryView{
			At:      trouble.Second(g.Comment.Created),
			Kind:    "ignored",
			Author:  g.Comment.Author,
			URL:     g.Comment.URL,
			Ignored: OneLine(g.Reason),
			Comment: g.Comment,
		})
	}

	slices.SortStableFunc(out, func(a, b EntryView) int {
		return cmp.Or(a.Comment.Created.Compare(b.Comment.Created), cmp.Compare(a.Comment.ID, b.Comment.ID))
	})
	begun := map[string]time.Time{}
	for i, v := range out {
		if v.Kind == claim.KindClaim {
			begun[v.Worker] = v.At
		}
		out[i].Begun = begun[v.Worker]
	}

	return out
}
