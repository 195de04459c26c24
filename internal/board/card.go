// Package board shows a repository's issues as cards in columns: who holds what, since when, and what is stuck.
//
// Everything but Program is pure: readings go in, cards and lines of text come out; time is an argument and what
// is asked of GitHub goes through Desk.
package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// A Lane is a column of the board.
type Lane int

// The lanes, from left to right. People holds what waits for a person's decision.
const (
	Ready Lane = iota
	InFlight
	Planned
	Pull
	Done
	People
	lanes // how many there are
)

// String is the lane's name in JSON; where a lane is a lifecycle state it is that state's.
func (l Lane) String() string {
	return [...]string{"available", "claimed", "plan-pending", "pr-open", "done", "people"}[l]
}

// title is the lane's name for people.
func (l Lane) title() string {
	return [...]string{"READY", "IN FLIGHT", "PLAN", "PULL REQUEST", "DONE", "FOR PEOPLE"}[l]
}

// A Mark is something that is worth a look at a card.
type Mark struct {
	Text  string // one or two words
	Alert bool   // it will not go away by itself
}

// A Link is a pull request: #20, or owner/repo#20 when it is elsewhere.
type Link struct{ Name, URL string }

// A Card is one issue as the board shows it. Its texts are plain: one line without escapes.
type Card struct {
	Issue  claim.Issue
	Title  string
	URL    string
	Lane   Lane
	Why    string // in one clause, why it is in this lane
	Holder string // codename of who holds it or asks for it
	Worker string // codename:firing_id
	Login  string
	Branch string
	Since  time.Time
	Seen   time.Time     // last sign of life
	Lease  time.Duration // how long after that the hold stands; 0 when it never lapses
	Lapsed bool          // the lease is over: anyone may take it
	Marks  []Mark
	Pulls  []Link   // the pull requests that are open for it
	Person bool     // a person holds it: the label is on
	Circle []string // the issues that wait for each other, of which this is one; the first again at the end
}

// Deal makes the cards of readings, in the order of their lanes. Issues that are no part of the
// lifecycle have none, and pull requests neither.
func Deal(r lifecycle.Rules, readings []lifecycle.Facts) []Card {
	var out []Card
	for _, f := range readings {
		if c, ok := deal(r, f); ok {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Card) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), a.Issue.Compare(b.Issue))
	})
	return out
}

func deal(r lifecycle.Rules, f lifecycle.Facts) (Card, bool) {
	picture, why := r.Label(f)
	lane, ok := laneOf(r, f, picture)
	if !ok || f.PullRequest {
		return Card{}, false
	}
	c := Card{
		Issue: f.Issue, Title: printable.Line(f.Title), URL: printable.Line(f.URL), Lane: lane, Why: printable.Line(why),
		Person: f.Open && labels.Has(f.Labels, r.Scheme.Hold),
	}
	if h, held := f.Log.Holder(); held {
		c.hold(r.Terms, h, f.Now)
	}
	for _, p := range f.PRs {
		if p.State == lifecycle.PROpened {
			name := strings.TrimPrefix(p.String(), f.Issue.Slug())
			c.Pulls = append(c.Pulls, Link{printable.Line(name), printable.Line(p.URL)})
		}
	}
	c.Marks = marks(r, f, picture)
	return c, true
}

func (c *Card) hold(t claim.Terms, h claim.Claim, now time.Time) {
	c.Holder, c.Worker = printable.Line(h.Record.Worker.Codename), printable.Line(h.Record.Worker.String())
	c.Login, c.Branch = printable.Line(h.Author), printable.Line(h.Record.Branch)
	c.Since, c.Seen, c.Lapsed = h.Created, h.Updated, h.Lapsed(t, now)
	if end, ends := h.Until(t); ends {
		c.Lease = end.Sub(h.Updated)
	}
}

// laneOf finds the column. What only a person can move on is in the people's.
func laneOf(r lifecycle.Rules, f lifecycle.Facts, p labels.Picture) (Lane, bool) {
	state := p.State
	if p.Keep {
		have := r.Scheme.Of(f.Labels)
		if len(have) == 0 {
			return 0, false
		}
		state = have[0]
	}
	waits := labels.Has(f.Labels, r.Scheme.Hold) || labels.Has(f.Labels, r.Scheme.NeedsScope) || labels.Has(p.Set, r.Scheme.NeedsScope)
	switch {
	case f.Open && waits && (state == labels.Available || state == labels.None):
		return People, true
	case state == labels.None:
		return 0, false
	}
	return Lane(state - labels.Available), true
}

// marks are what is worth a look, the gravest first.
func marks(r lifecycle.Rules, f lifecycle.Facts, p labels.Picture) []Mark {
	var out []Mark
	if len(f.Missing) > 0 {
		out = append(out, Mark{"not read", true})
	}
	if h, held := f.Log.Holder(); held {
		out = append(out, holdMarks(r.Terms, h, f.Now)...)
	}
	for _, reason := range r.Verdict(f, lifecycle.Seeker{}).Reasons {
		if m, ok := reasonMark(reason, f.Now); ok {
			out = append(out, m)
		}
	}
	if n := len(f.Log.Attempts); n > 0 && f.Open {
		out = append(out, Mark{fmt.Sprintf("%d failed", n), n >= r.MaxAttempts && r.MaxAttempts > 0})
	}
	if !r.Scheme.Change(f.Labels, p).Empty() {
		out = append(out, Mark{"drift", false})
	}
	slices.SortStableFunc(out, func(a, b Mark) int { return cmp.Compare(grave(b), grave(a)) })
	return slices.Compact(out)
}

func grave(m Mark) int {
	if m.Alert {
		return 1
	}
	return 0
}

// holdMarks tell a hold that is over from one that has gone more than half its lease without a
// sign of life, as the sweep's report does.
func holdMarks(t claim.Terms, h claim.Claim, now time.Time) []Mark {
	end, ends := h.Until(t)
	switch {
	case h.Lapsed(t, now):
		return []Mark{{"lapsed", true}}
	case h.Plan.Pending():
		return []Mark{{"waits " + printable.Span(now.Sub(h.Plan.At)), false}}
	case !h.Held():
		return []Mark{{"asking", false}}
	case ends && now.Sub(h.Updated) > end.Sub(h.Updated)/2:
		return []Mark{{"stale", false}}
	}
	return nil
}

// blocked is the mark of what waits for another issue.
var blocked = Mark{"blocked", false}

func reasonMark(r lifecycle.Reason, now time.Time) (Mark, bool) {
	switch r.Code {
	case lifecycle.CodeHold:
		return Mark{"a person's", false}, true
	case lifecycle.CodeScope:
		return Mark{"needs scope", true}, true
	case lifecycle.CodeBlocked:
		return blocked, true
	case lifecycle.CodeExcluded:
		return Mark{"excluded", false}, true
	case lifecycle.CodeMerged:
		return Mark{"merged", true}, true
	case lifecycle.CodeResting:
		return Mark{"rests " + printable.Span(r.Until.Sub(now)), false}, true
	}
	return Mark{}, false
}

// Stuck reports whether the card has a mark that will not go away by itself.
func (c Card) Stuck() bool {
	return slices.ContainsFunc(c.Marks, func(m Mark) bool { return m.Alert })
}

// matches reports whether every word is somewhere on the card, without case.
func (c Card) matches(words string) bool {
	text := strings.ToLower(strings.Join([]string{c.Issue.String(), c.Title, c.Worker, c.Login, c.Branch, c.marked()}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func (c Card) marked() string {
	texts := make([]string, len(c.Marks))
	for i, m := range c.Marks {
		texts[i] = m.Text
	}
	return strings.Join(texts, ", ")
}
