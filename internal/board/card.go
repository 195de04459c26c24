// Package board shows the issues of repositories as cards in columns: who holds what, since when,
// and what needs a person.
//
// Everything but Program is pure: snapshots go in, cards and lines of text come out; time is an
// argument and what is asked of GitHub goes through Desk.
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
	"github.com/label-state/label-state/work"
)

// A Mark is something that is worth a look at a card.
type Mark struct {
	Text  string // one or two words
	Alert bool   // a person is needed: no rule moves it on
}

// A Link is a pull request: #20, or owner/repo#20 when it is elsewhere.
type Link struct{ Name, URL string }

// A Card is one issue as the board shows it, or a pull request that somebody holds. Its texts are
// plain: one line without escapes.
type Card struct {
	Issue   claim.Issue
	Title   string
	URL     string
	Lane    lifecycle.Lane
	Why     string // in one clause, why it is in this lane
	Holder  string // login of the person or codename of the worker who holds it or asks for it
	Worker  string // codename:firing_id
	Login   string
	Branch  string
	Since   time.Time
	Seen    time.Time // last heartbeat
	Until   time.Time // when the hold ends without another one; zero when it does not
	Ends    string    // what ends a hold that time does not end: until ...
	Expired bool      // the lease is over: a claim or sweep ends it
	Plan    bool      // its plan is waiting for an answer
	Marks   []Mark
	Pulls   []Link   // the pull requests that are open for it
	Person  bool     // a person holds it, by a claim or by the label alone
	Mine    bool     // the viewer holds it, or it waits for a person
	Request bool     // it is itself a pull request
	Free    bool     // the next worker that asks may have it
	Cycle   []string // the dependency cycle of which it is a part; the first again at the end

	// Stranded is set where nothing moves it on until a person does, as in the sweep's summary.
	Stranded bool

	item work.Item // its place in the queue
}

// Deal makes the cards of snapshots, in the order of their lanes. In Ready it is the order in which
// "next" hands issues out, and then those that it passes over; elsewhere the lowest number is
// first. Issues that are not part of the lifecycle have a card while a person holds them, and pull
// requests while anybody does.
func Deal(r lifecycle.Rules, snapshots []lifecycle.Facts) []Card {
	var out []Card
	for _, f := range snapshots {
		if c, ok := deal(r, f); ok {
			out = append(out, c)
		}
	}

	Sort(out)
	return out
}

// Sort puts cards into the order that Deal describes.
func Sort(cards []Card) {
	slices.SortStableFunc(cards, func(a, b Card) int {
		queue := 0
		if a.Lane == lifecycle.LaneReady && b.Lane == lifecycle.LaneReady {
			queue = cmp.Or(yes(b.Free)-yes(a.Free), work.Compare(a.item, b.item))
		}
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), queue, a.Issue.Compare(b.Issue))
	})
}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}

func deal(r lifecycle.Rules, f lifecycle.Facts) (Card, bool) {
	h, held := r.Shown(f)
	projection, why := r.Label(f)
	lane, ok := r.Lane(f, projection)
	switch {
	case !ok:
		return Card{}, false
	case f.PullRequest:
		why = "held for work on the pull request itself"
	}

	verdict := r.Verdict(f, lifecycle.Seeker{})
	c := Card{
		Issue:   f.Issue,
		Title:   printable.Line(f.Title),
		URL:     printable.Line(f.URL),
		Lane:    lane,
		Why:     printable.Line(why),
		Person:  f.Open && r.BareHold(f),
		Request: f.PullRequest,
		Free:    verdict.Answer == lifecycle.Free,
		item: work.Item{
			Priority:   work.DefaultWords().Of(f.Labels),
			Created:    f.Created,
			ExternalID: fmt.Sprint(f.Issue.Number),
			ID:         f.Issue.String(),
		},
	}

	// labels say where it belongs, the verdict why nobody may have it
	if (lane == lifecycle.LaneReady || lane == lifecycle.LanePeople) && len(verdict.Reasons) > 0 {
		var why []string
		for _, r := range verdict.Reasons {
			why = append(why, r.Text)
		}
		c.Why = printable.Line(strings.Join(why, "; "))
	}

	switch {
	case held:
		c.Holder, c.Worker = printable.Line(h.Record.Worker.Codename), printable.Line(h.Record.Worker.String())
		if h.Person != "" {
			c.Holder, c.Person = printable.Line(h.Person), true
		}

		c.Login, c.Branch = printable.Line(h.Author), printable.Line(h.Record.Branch)
		c.Since, c.Seen, c.Expired, c.Plan = h.Created, h.LastSeen(), h.Expired(r.Terms, f.Now), h.Plan.Pending()
		c.Until, _ = h.Until(r.Terms)
		c.Ends = "until released"
		if h.Person != "" && h.Record.TTL > 0 {
			c.Ends = "until its PR closes"
		}
	case c.Person:
		c.Holder, c.Since, c.Seen = printable.Line(f.HoldBy), f.HoldAt, f.HoldAt
		c.Ends = "until released"
	}

	for _, p := range f.PRs {
		if p.State == lifecycle.PROpened {
			name := strings.TrimPrefix(p.String(), f.Issue.Slug())
			c.Pulls = append(c.Pulls, Link{printable.Line(name), printable.Line(p.URL)})
		}
	}

	c.Marks, c.Stranded = marks(r, f, projection, verdict), r.Stranded(f) != ""
	viewers := func(login string) bool { return f.Viewer != "" && claim.SameLogin(login, f.Viewer) }
	c.Mine = held && viewers(cmp.Or(h.Person, h.Author)) || c.isOf(f.Viewer) || c.Plan || c.alerts() ||
		f.Open && slices.ContainsFunc(f.Assignees, viewers)

	return c, true
}

// marks are what is worth a look, the gravest first.
func marks(r lifecycle.Rules, f lifecycle.Facts, p labels.Projection, v lifecycle.Verdict) []Mark {
	var out []Mark
	if urgent := work.DefaultWords().Of(f.Labels); urgent != work.Medium && f.Open {
		out = append(out, Mark{urgent.String(), false})
	}

	if stage := r.StageName(f); stage != "" {
		out = append(out, Mark{"stage " + stage, false})
	}

	h, held := r.Shown(f)
	switch {
	case !held:
	case h.Expired(r.Terms, f.Now):
		out = append(out, Mark{"expired", true})
	case h.Plan.Pending():
		out = append(out, Mark{"waits " + printable.Span(f.Now.Sub(h.Plan.At)), false})
	case !h.Held():
		out = append(out, Mark{"asking", false})
	case h.Person != "":
		out = append(out, Mark{"a person's", false})
	case h.Late(r.Terms, f.Now):
		out = append(out, Mark{"late", false})
	}

	for _, reason := range v.Reasons {
		if reason.Code == lifecycle.CodePaused && p.State != labels.Available {
			continue // only what is ready looks as if it could be taken
		}
		m := reason.Code.Meaning()
		switch {
		case m.Mark == "":
		case reason.Until.IsZero():
			out = append(out, Mark{m.Mark, m.Alert})
		default:
			out = append(out, Mark{m.Mark + " " + printable.Span(reason.Until.Sub(f.Now)), m.Alert})
		}
	}

	if n := len(f.Log.Attempts); n > 0 && f.Open {
		out = append(out, Mark{fmt.Sprintf("%d failed", n), n >= r.MaxAttempts && r.MaxAttempts > 0})
	}

	if r.Stranded(f) != "" {
		out = append(out, Mark{"stranded", true})
	}

	if !r.Scheme.Change(f.Labels, p).Empty() {
		out = append(out, Mark{"drift", false})
	}
	slices.SortStableFunc(out, func(a, b Mark) int { return yes(b.Alert) - yes(a.Alert) })

	return slices.Compact(out)
}

// Named is who holds it, in full: a person's login, else the worker's key.
func (c Card) Named() string {
	if c.Person {
		return c.Holder
	}
	return c.Worker
}

// end is when the hold ends, or what ends it.
func (c Card) end(now time.Time) string {
	left := c.Until.Sub(now)
	switch {
	case c.Until.IsZero():
		return c.Ends
	case left < 0:
		return "ended " + printable.Span(-left) + " ago"
	}

	return printable.Span(left) + " left"
}

// alerts reports whether the card has a mark that needs a person.
func (c Card) alerts() bool {
	return slices.ContainsFunc(c.Marks, func(m Mark) bool { return m.Alert })
}

// isOf reports whether that login holds it as a person.
func (c Card) isOf(login string) bool {
	return c.Person && login != "" && claim.SameLogin(c.Holder, login)
}

// matches reports whether every word is somewhere on the card, without case.
func (c Card) matches(words string) bool {
	text := strings.ToLower(strings.Join([]string{
		c.Issue.String(), c.Title, c.Holder, c.Worker, c.Login, c.Branch,
		c.marked(),
	}, " "))
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
