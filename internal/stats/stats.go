// Package stats turns the logs of many issues into figures: how long work takes, how much is done
// in a day, and how often it goes wrong.
//
// It is pure: snapshots and a span of time go in, figures, a text or a picture come out.
package stats

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// Figures say what happened from From up to To.
type Figures struct {
	From, To time.Time
	Issues   int // with a record or a merge in that time
	Totals   Totals
	States   []Stay
	Days     []Day
	Workers  []Worker // most holds first
	Merges   []Merge  // from ready to merged: all, then by deliverer, most first
	Before   *Figures // of as much time before From; nil where it was not read
}

// Totals count ends of holds, each once, and what else ends in that time.
type Totals struct {
	Holds     int `json:"holds"`      // begun
	Delivered int `json:"delivered"`  // ended with a pull request, a finished stage, or the work done
	Failed    int `json:"failed"`     // ended as a failed attempt by the holder's own word
	Expired   int `json:"expired"`    // released because the holder gave no heartbeat
	Forced    int `json:"forced"`     // ended by somebody else
	Returned  int `json:"returned"`   // ended in any other way: cancelled, rate-limited, a plan that was rejected
	Yielded   int `json:"yielded"`    // claims that lost a race; they never were holds
	Merged    int `json:"merged"`     // pull requests for these issues
	Twice     int `json:"done_twice"` // issues for which a second pull request was merged or closed
}

// A Merge is how long issues took from ready to merged: in all, or those that one worker or person
// delivered.
type Merge struct {
	Who    string `json:"who"` // a codename or a login, other people's text; empty for all
	Person bool   `json:"person"`
	Merged int    `json:"merged"`
	Median Length `json:"median"`
	P90    Length `json:"p90"`
}

// A Stay is how long issues were in a state, over the stays that ended in that time.
type Stay struct {
	State  labels.State `json:"state"`
	Ended  int          `json:"ended"`
	Now    int          `json:"now"` // they are in it still
	Median Length       `json:"median"`
	P90    Length       `json:"p90"`
}

// A Day is one day in UTC.
type Day struct {
	Date      string `json:"date"`
	Holds     int    `json:"holds"`
	Delivered int    `json:"delivered"`
	Troubled  int    `json:"troubled"` // failed or expired
}

// A Worker is what all runs of one codename did, or one person.
type Worker struct {
	Codename  string `json:"codename"` // as the log has it: other people's text
	Person    bool   `json:"person"`
	Holds     int    `json:"holds"`
	Delivered int    `json:"delivered"`
	Failed    int    `json:"failed"`
	Expired   int    `json:"expired"`
	Forced    int    `json:"forced"`
	Yielded   int    `json:"yielded"`
	Median    Length `json:"median"` // of its holds that ended
}

// A Length is a length of time: in JSON in whole seconds, for people as a Span.
type Length time.Duration

// MarshalJSON is in whole seconds.
func (l Length) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(l) / time.Second) }

func (l Length) String() string { return printable.Span(time.Duration(l)) }

// Of counts what the snapshots tell about the time from from up to to.
func Of(snapshots []lifecycle.Facts, from, to time.Time) Figures {
	c := counting{
		from:    from,
		to:      to,
		stays:   map[labels.State]*sample{},
		workers: map[deliverer]*tally{},
		days:    map[time.Time]*Day{},
		merges:  map[deliverer][]time.Duration{},
	}

	for day := midnight(from); day.Before(to); day = day.AddDate(0, 0, 1) {
		c.days[day] = &Day{Date: date(day)}
	}

	for _, f := range snapshots {
		c.issue(f)
	}

	return c.figures()
}

// Compared is Of with the figures of as much time before.
func Compared(snapshots []lifecycle.Facts, from, to time.Time) Figures {
	f, before := Of(snapshots, from, to), Of(snapshots, from.Add(-to.Sub(from)), from)
	f.Before = &before
	return f
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// A sample is a set of lengths of time, and how many go on.
type sample struct {
	lengths []time.Duration
	now     int
}

// A tally is a Worker in the making.
type tally struct {
	Worker
	lengths []time.Duration
}

type counting struct {
	from, to time.Time
	issues   int
	totals   Totals
	stays    map[labels.State]*sample
	workers  map[deliverer]*tally
	days     map[time.Time]*Day
	merges   map[deliverer][]time.Duration
}

// A deliverer is who delivered; the zero value is everybody.
type deliverer struct {
	who    string
	person bool
}

// compare orders by name; of one name the worker comes first.
func (d deliverer) compare(o deliverer) int {
	switch {
	case d.who != o.who:
		return strings.Compare(d.who, o.who)
	case d.person == o.person:
		return 0
	case o.person:
		return -1
	}

	return 1
}

// within reports whether t is in the time that is counted.
func (c *counting) within(t time.Time) bool { return !t.Before(c.from) && t.Before(c.to) }

func (c *counting) issue(f lifecycle.Facts) {
	if f.PullRequest {
		return
	}
	touched := slices.ContainsFunc(f.Log.Log,
		func(e claim.Entry) bool { return c.within(e.Created) || c.within(e.Updated) })
	for _, p := range f.PRs {
		if c.within(p.MergedAt) { // zero for what was not merged
			touched = true
			c.totals.Merged++
		}
	}

	if touched {
		c.issues++
	}

	for _, one := range f.Log.Claims {
		c.claim(f, one)
	}

	// a claim that lost a race and was turned into its own end: the log has only that end
	// (spec-writing.md#quiet-comments)
	for _, e := range f.Log.Log {
		_, claimed := f.Log.Find(e.Record.Worker)
		if e.Record.Kind == claim.KindRelease && !claimed &&
			strings.HasPrefix(e.Record.Outcome, claim.OutcomeRaceYielded) && c.within(e.Created) {
			c.totals.Yielded++
			c.worker(deliverer{e.Record.Worker.Codename, false}).Yielded++
		}
	}

	c.twice(f)
	c.merge(f)
	c.stay(f)
}

// twice counts an issue for which a second pull request was merged or closed in the time. The parts
// of a chain are one.
func (c *counting) twice(f lifecycle.Facts) {
	var ends []time.Time
	chains := map[string]bool{}
	for _, p := range f.PRs {
		if p.ClosedAt.IsZero() || p.Sibling || p.Chain != "" && chains[p.Chain] {
			continue
		}
		chains[p.Chain] = true
		ends = append(ends, p.ClosedAt)
	}

	slices.SortFunc(ends, time.Time.Compare)
	if len(ends) > 1 && slices.ContainsFunc(ends[1:], c.within) {
		c.totals.Twice++
	}
}

// merge counts the time from ready to the first merge after it. Ready is when the queue's label was
// first put on, or when the first hold began, if that was earlier, or GitHub does not tell.
func (c *counting) merge(f lifecycle.Facts) {
	var by deliverer
	ready := f.ReadyAt
	for _, one := range f.Log.Claims {
		if one.Held() && (ready.IsZero() || one.Created.Before(ready)) {
			ready = one.Created
		}
	}

	var merged time.Time
	for _, p := range f.PRs {
		if !p.MergedAt.Before(ready) && (merged.IsZero() || p.MergedAt.Before(merged)) {
			merged = p.MergedAt
		}
	}

	if ready.IsZero() || !c.within(merged) { // zero for what was not merged
		return
	}

	for _, one := range f.Log.Claims { // the last hold that began before it delivered it
		if one.Held() && one.Created.Before(merged) {
			by = delivererOf(one)
		}
	}

	took := merged.Sub(ready)
	c.merges[deliverer{}] = append(c.merges[deliverer{}], took)
	if by != (deliverer{}) {
		c.merges[by] = append(c.merges[by], took)
	}
}

// delivered reports whether a hold that has ended brought something: a success without a pull
// request, of an issue that is open, did not. A person's hold that was there when the pull request
// was merged did: it ends with the issue, as cancelled.
func delivered(f lifecycle.Facts, one claim.Claim) bool {
	e := *one.End
	if one.Person != "" && !f.Open && e.Outcome == claim.OutcomeCancelled {
		return e.PR != "" || slices.ContainsFunc(f.PRs, func(p lifecycle.PR) bool {
			return p.MergedAt.After(one.Created) && !p.MergedAt.After(e.At)
		})
	}

	return e.PR != "" || e.Outcome == claim.OutcomeAlreadyImplemented || e.Outcome == claim.OutcomeAdvanced ||
		e.Outcome == claim.OutcomeSuccess && (!f.Open || len(f.PRs) > 0)
}

// claim counts one claim: where it began, and how it ended.
func (c *counting) claim(f lifecycle.Facts, one claim.Claim) {
	w := c.worker(delivererOf(one))
	if one.End != nil && strings.HasPrefix(one.End.Outcome, claim.OutcomeRaceYielded) {
		if c.within(one.End.At) {
			c.totals.Yielded++
			w.Yielded++
		}
		return
	}
	if !one.Held() {
		return
	}

	if c.within(one.Created) {
		c.totals.Holds++
		w.Holds++
		c.days[midnight(one.Created)].Holds++
	}

	if one.End == nil || !c.within(one.End.At) {
		return
	}
	e := *one.End
	w.lengths = append(w.lengths, e.At.Sub(one.Created))
	day := c.days[midnight(e.At)]
	switch {
	case delivered(f, one):
		c.totals.Delivered++
		w.Delivered++
		day.Delivered++

	case e.Outcome == claim.OutcomeStaleSwept:
		c.totals.Expired++
		w.Expired++
		day.Troubled++

	case e.Outcome == claim.OutcomeForced:
		c.totals.Forced++
		w.Forced++

	case claim.CountsAgainst(e.Outcome):
		c.totals.Failed++
		w.Failed++
		day.Troubled++
	default:
		c.totals.Returned++
	}
}

// delivererOf is whose claim it is: a person may be called as a worker is.
func delivererOf(one claim.Claim) deliverer {
	if one.Person != "" {
		return deliverer{one.Person, true}
	}
	return deliverer{one.Record.Worker.Codename, false}
}

func (c *counting) worker(by deliverer) *tally {
	if c.workers[by] == nil {
		c.workers[by] = &tally{Worker: Worker{Codename: by.who, Person: by.person}}
	}
	return c.workers[by]
}

func (c *counting) figures() Figures {
	out := Figures{
		From:   c.from,
		To:     c.to,
		Issues: c.issues,
		Totals: c.totals,
	}

	for _, s := range []labels.State{labels.Available, labels.Claimed, labels.PlanPending, labels.PROpen} {
		if all := c.stays[s]; all != nil {
			out.States = append(out.States,
				Stay{s, len(all.lengths), all.now, quantile(all.lengths, 50), quantile(all.lengths, 90)})
		}
	}

	for _, d := range c.days {
		out.Days = append(out.Days, *d)
	}
	slices.SortFunc(out.Days, func(a, b Day) int { return strings.Compare(a.Date, b.Date) })

	for _, w := range c.workers {
		w.Median = quantile(w.lengths, 50)
		if w.Worker != (Worker{Codename: w.Codename, Person: w.Person}) {
			out.Workers = append(out.Workers, w.Worker)
		}
	}

	for by, took := range c.merges {
		out.Merges = append(out.Merges, Merge{by.who, by.person, len(took), quantile(took, 50), quantile(took, 90)})
	}

	slices.SortFunc(out.Merges, func(a, b Merge) int { // all have the most
		return cmp.Or(cmp.Compare(b.Merged, a.Merged),
			deliverer{a.Who, a.Person}.compare(deliverer{b.Who, b.Person}))
	})

	slices.SortFunc(out.Workers, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(b.Holds, a.Holds), cmp.Compare(b.Delivered, a.Delivered),
			deliverer{a.Codename, a.Person}.compare(deliverer{b.Codename, b.Person}))
	})

	return out
}

// quantile is the smallest length that so many per cent are not longer than; of none it is 0.
func quantile(lengths []time.Duration, percent int) Length {
	if len(lengths) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(lengths))
	return Length(sorted[(len(sorted)*percent+99)/100-1])
}
