package ledger

import (
	"context"
	"errors"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// A Sweep is what to look at.
type Sweep struct {
	Repos  []claim.Repo
	By     string                // who ends expired holds, for the record: sweep-<time>-<random>
	MaxAge time.Duration         // shortens the lease of claims without a ttl of their own; 0 leaves it
	Since  time.Time             // besides everything labelled, look at what changed since then
	DryRun bool                  // look and report, write nothing
	Seen   func(lifecycle.Facts) // called for every issue looked at, for progress; may be nil
}

// A Finding is one issue a sweep changed, or failed at.
type Finding struct {
	Repair
	Ended    []claim.Claim // holds released
	Swept    int           // how many of them because their time was over
	Mirrored *claim.Claim  // a lease store's hold whose record was missing; nil when none was
	Answered *Vote         // the reaction that answered a plan
	Err      error
}

// A Report is what a sweep saw and did. It is complete only if Complete says so.
type Report struct {
	Examined []claim.Issue
	Lanes    map[claim.Issue]lifecycle.Lane // where the board shows the issues after the sweep
	Findings []Finding
	Holds    []Aged    // live holds, as far as the sweep has left them
	Waiting  []Strand  // what waits for a person on purpose: a plan, or an issue that failed too often
	Stranded []Strand  // what nobody works on and nothing will move
	Skipped  []string  // what was not looked at, and why
	Unshown  []Unshown // issues of which not all comments can be read
	Failed   int
	Stopped  error // why the sweep ended early, nil when it did not

	Minimized    int   // comments of ended holds that were minimized
	NotMinimized error // why others could not be; it makes no sweep incomplete
}

// Unshown is an issue of which GitHub counts more comments than it shows: nobody can claim it.
type Unshown struct {
	Issue    claim.Issue
	Comments int // how many more
}

// String says so in one clause.
func (u Unshown) String() string { return u.Issue.String() + ": " + lifecycle.Unshown(u.Comments) }

// An Aged is a hold with the end of its lease.
type Aged struct {
	Issue claim.Issue
	Title string
	URL   string
	Claim claim.Claim
	Until time.Time // when the lease ends
	Late  bool      // more than half of it went without a heartbeat
}

// Sweep releases expired holds and repairs labels in every repository, oldest issue first. It
// goes on past an issue that fails and stops cleanly when the request budget is used up; the
// report says what was left.
func (l *Ledger) Sweep(ctx context.Context, repos Repos, s Sweep) Report {
	run := l.sweeper(s)
	for _, repo := range s.Repos {
		if run.stopped != nil {
			run.skip(repo.String(), run.stopped)
			continue
		}

		snapshots := repos.Scan(ctx, repo, s.Since)
		var err error

		// without its lease store nothing is known about its issues
		if run.hidden, err = run.leases.known(ctx, repo); err != nil {
			run.skip(repo.String(), err)
			run.stop(err)
			continue
		}

		run.each(ctx, repo.String(), snapshots)
	}

	// Comments of ended holds are for people's eyes alone, so that a failure does not make the
	// sweep incomplete.
	if len(run.outdated) > 0 && run.stopped == nil {
		run.report.Minimized, run.report.NotMinimized = repos.Minimize(ctx, run.outdated)
	}

	return run.finish()
}

// Tend does for given snapshots what Sweep does for whole repositories. s.Repos and s.Since mean
// nothing.
func (l *Ledger) Tend(ctx context.Context, snapshots iter.Seq2[lifecycle.Facts, error], s Sweep) Report {
	run := l.sweeper(s)
	run.each(ctx, "issues", snapshots)
	return run.finish()
}

// sweeper begins a sweep, with a ledger of its own for the leases that MaxAge shortens.
func (l *Ledger) sweeper(s Sweep) *sweeper {
	own := *l
	if s.MaxAge > 0 {
		terms := &own.set.Rules.Terms
		terms.TTL, terms.Legacy = min(s.MaxAge, terms.TTL), min(s.MaxAge, terms.Legacy)
	}

	name := fnv.New64a() // what the sweep signs with is another for every run
	name.Write([]byte(s.By))
	return &sweeper{
		Ledger:  &own,
		s:       s,
		order:   rand.New(rand.NewPCG(name.Sum64(), 0)),
		report:  Report{Lanes: map[claim.Issue]lifecycle.Lane{}},
		waits:   map[claim.Issue][]claim.Issue{},
		waiting: map[claim.Issue]Strand{},
	}
}

type sweeper struct {
	*Ledger
	s        Sweep
	order    *rand.Rand // in which issues are repaired
	report   Report
	stopped  error           // why nothing further is looked at
	hidden   map[int]bool    // issues of which only a lease store may know that they are held
	outdated []claim.Comment // to be minimized
	waits    map[claim.Issue][]claim.Issue
	waiting  map[claim.Issue]Strand // those that wait, by the issue
}

// skip reports what is not looked at, and why.
func (w *sweeper) skip(what string, err error) {
	w.report.Skipped = append(w.report.Skipped, what+": "+err.Error())
}

const (
	batch             = 100 // snapshots: what they show is repaired before the next is read
	minimizedPerSweep = 100 // comments; the next sweep goes on
)

// each looks at one snapshot after the other; name is of all of them together.
func (w *sweeper) each(ctx context.Context, name string, snapshots iter.Seq2[lifecycle.Facts, error]) {
	var found []repairs
	n := 0
	for f, err := range snapshots {
		if n++; n%batch == 0 {
			found = w.repair(ctx, found)
		}

		switch {
		case f.Issue.Number == 0: // of the list
			found = w.repair(ctx, found)
			w.skip(name, err)
			w.stop(err)
		case w.stopped != nil:
			w.skip(f.Issue.String(), w.stopped)
		case err != nil:
			w.found(Finding{Repair: Repair{Issue: f.Issue}, Err: err})
		default:
			if r, due := w.issue(ctx, f); due {
				found = append(found, r)
			}
		}
	}

	w.repair(ctx, found)
}

// A repairs is an issue that needs some, by the scan's snapshot.
type repairs struct {
	facts lifecycle.Facts
	vote  *Vote
	done  Finding
}

// repair repairs the issues in an order of this sweep's own: of two sweeps that run at once each
// then finds most of what the other repaired, instead of writing the same record beside it. It
// reports them in the order of the scan. It returns nil.
func (w *sweeper) repair(ctx context.Context, all []repairs) []repairs {
	for _, n := range w.order.Perm(len(all)) {
		done := w.mend(ctx, all[n].facts, all[n].vote)
		all[n].done = done
		w.stop(done.Err)
		var refusal interface {
			error
			Denied() bool
		}

		// this token may never write so: every further write would be refused too
		if errors.As(done.Err, &refusal) && refusal.Denied() {
			w.stopped = refusal
		}
	}

	for _, r := range all {
		left := without(r.facts, r.done.Ended)
		w.lane(left, r.done.Projection, r.done.Err)
		w.standing(left)
		w.strand(r.done.Repair)
		w.found(r.done)
	}

	return nil
}

// stop ends the sweep when going on can only do harm: the budget is gone or the caller is.
func (w *sweeper) stop(err error) {
	var exhausted interface {
		error
		Exhausted() bool
	}

	switch {
	case errors.As(err, &exhausted) && exhausted.Exhausted():
		w.stopped = exhausted
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		w.stopped = err
	}
}

// found reports what was done to an issue, or went wrong.
func (w *sweeper) found(f Finding) {
	if f.Err != nil {
		w.report.Failed++
		w.stop(f.Err)
	}
	w.report.Findings = append(w.report.Findings, f)
}

// issue looks at one snapshot, and reports whether it shows anything to mend.
func (w *sweeper) issue(ctx context.Context, f lifecycle.Facts) (repairs, bool) {
	w.report.Examined = append(w.report.Examined, f.Issue)
	if w.s.Seen != nil {
		w.s.Seen(f)
	}

	if f.Unshown > 0 {
		w.report.Unshown = append(w.report.Unshown, Unshown{f.Issue, f.Unshown})
	}

	if w.set.Minimize && !w.s.DryRun {
		// what no longer says anything of today, of keys that have ended: an end is for ever, so
		// its age does not matter
		for _, e := range f.Log.Log {
			own, claimed := f.Log.Find(e.Record.Worker)
			outdated := e.Record.Kind.About().Aging && (!claimed || own.End != nil)
			if outdated && e.Node != "" && !e.Minimized && len(w.outdated) < minimizedPerSweep {
				w.outdated = append(w.outdated, e.Comment)
			}
		}
	}

	// Of an issue that somebody may hold a store is asked; for all others the store, the log and
	// the labels agree that nobody does. A closed issue needs no holder: its lease runs out.
	var err error
	if len(f.Log.Live()) > 0 || labels.Has(f.Labels, w.set.Rules.Scheme.Claimed) || f.Open && w.hidden[f.Issue.Number] {
		f, err = w.Ruled(ctx, f)
	}

	if err != nil {
		return w.unknown(f, err)
	}

	if f.Open {
		w.waits[f.Issue], w.waiting[f.Issue] = f.Waits(), Strand{Issue: f.Issue, Title: f.Title, URL: f.URL}
	}
	vote, err := w.decisiveVote(ctx, f)
	if err != nil {
		return w.unknown(f, err)
	}

	projection, _ := w.set.Rules.Label(f)
	if vote == nil && w.inOrder(f, projection) {
		w.lane(f, projection, nil)
		w.standing(f)
		w.strand(Repair{
			Issue:    f.Issue,
			Title:    f.Title,
			URL:      f.URL,
			Stranded: w.set.Rules.Stranded(f),
		})

		return repairs{}, false
	}

	return repairs{facts: f, vote: vote}, true
}

// unknown reports an issue of which a snapshot does not say enough.
func (w *sweeper) unknown(f lifecycle.Facts, err error) (repairs, bool) {
	w.found(Finding{Repair: Repair{Issue: f.Issue, Title: f.Title, URL: f.URL}, Err: err})
	return repairs{}, false
}

// inOrder reports whether a sweep has nothing to write about an issue whose labels should be p.
func (w *sweeper) inOrder(f lifecycle.Facts, p labels.Projection) bool {
	if _, missing := protocol.Unmirrored(f); missing {
		return false
	}
	rules := w.set.Rules
	if len(rules.Over(f)) > 0 || len(rules.Due(f)) > 0 || len(rules.Unassigns(f)) > 0 ||
		len(f.Log.Repeats(f.Viewer)) > 0 {
		return false
	}
	if _, _, delivered := w.set.Rules.Delivered(f); delivered || len(f.Unlinked()) > 0 {
		return false
	}

	return w.set.Rules.Scheme.Change(f.Labels, p).Empty()
}

// lane notes in which lane an issue shows now: by what the projection says, or by its own labels
// where that could not be brought about, and where nothing is written.
func (w *sweeper) lane(f lifecycle.Facts, p labels.Projection, err error) {
	if err != nil || w.s.DryRun {
		p = labels.Projection{Keep: true}
	}
	if lane, ok := w.set.Rules.Lane(f, p); ok {
		w.report.Lanes[f.Issue] = lane
	}
}

// standing notes who holds the issue and whether it waits for a person, as it stands after the
// sweep.
func (w *sweeper) standing(f lifecycle.Facts) {
	c, held := f.Log.Holder()
	if held && f.Open {
		end, _ := c.Until(w.set.Rules.Terms)
		w.report.Holds = append(w.report.Holds, Aged{f.Issue, f.Title, f.URL, c, end, c.Late(w.set.Rules.Terms, f.Now)})
	}

	wait := Strand{Issue: f.Issue, Title: f.Title, URL: f.URL}
	switch {
	case !f.Open:
		return
	case c.Plan.Pending():
		wait.URL, wait.Why = c.Plan.URL, "the plan of "+c.Holder()+" is waiting for /approve or /reject"
	case labels.Has(f.Labels, w.set.Rules.Scheme.NeedsScope):
		wait.Why = "it failed too often or is too vague: say more, then /requeue"
	default:
		return
	}

	w.report.Waiting = append(w.report.Waiting, wait)
}

// SweepID makes the name a sweep signs its records with.
func SweepID(now time.Time, word string) string {
	return "sweep-" + runID(now, word)
}
