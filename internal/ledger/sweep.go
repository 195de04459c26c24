package ledger

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Sweep is what to look at.
type Sweep struct {
	Repos  []Repo
	By     string                // who ends lapsed holds, for the record: sweep-<time>-<random>
	MaxAge time.Duration         // shortens the lease of claims without a ttl of their own; 0 leaves it
	Since  time.Time             // besides everything labelled, look at what changed since then
	DryRun bool                  // look and report, write nothing
	Seen   func(lifecycle.Facts) // called for every issue looked at, for progress; may be nil
}

// A Finding is one issue a sweep changed, or failed at.
type Finding struct {
	Repair
	Ended    []claim.Claim // holds given back
	Mirrored *claim.Claim  // a lease store's hold whose record was missing; nil when none was
	Answered *Vote         // the reaction that answered a plan
	Err      error
}

// A Report is what a sweep saw and did. It is complete only if Complete says so.
type Report struct {
	Examined int
	States   map[labels.State]int // after the sweep, by projection
	Findings []Finding
	Ageing   []Aged   // live holds past half their lease
	Stranded []Strand // what nobody works on and nothing will move
	Skipped  []string // what was not looked at, and why
	Failed   int
	Stopped  error // why the sweep ended early, nil when it did not
}

// An Aged hold has gone more than half its lease without a sign of life.
type Aged struct {
	Issue claim.Issue
	Title string
	URL   string
	Claim claim.Claim
	Until time.Time // when the lease ends
}

// Sweep gives back lapsed holds and repairs labels in every repository, oldest issue first. It
// goes on past an issue that fails and stops cleanly when the request budget is used up; the
// report says what was left.
func (l *Ledger) Sweep(ctx context.Context, repos Repos, s Sweep) Report {
	run := l.sweeper(s)
	for _, repo := range s.Repos {
		if run.stopped != nil {
			run.skip(repo.String(), run.stopped)
			continue
		}
		run.repo(ctx, repo, repos.Scan(ctx, repo, s.Since))
	}
	return run.finish()
}

// Tend does for given readings what Sweep does for whole repositories. s.Repos and s.Since mean nothing.
func (l *Ledger) Tend(ctx context.Context, readings iter.Seq2[lifecycle.Facts, error], s Sweep) Report {
	run := l.sweeper(s)
	run.each(ctx, "issues", readings)
	return run.finish()
}

func (l *Ledger) sweeper(s Sweep) *sweeper {
	return &sweeper{
		Ledger: l.shortened(s.MaxAge), s: s, report: Report{States: map[labels.State]int{}},
		waits: map[claim.Issue][]claim.Issue{}, waiting: map[claim.Issue]Strand{},
	}
}

func (l *Ledger) shortened(age time.Duration) *Ledger {
	short := *l
	if age > 0 {
		terms := &short.set.Rules.Terms
		terms.TTL, terms.Legacy = min(age, terms.TTL), min(age, terms.Legacy)
	}
	return &short
}

type sweeper struct {
	*Ledger
	s       Sweep
	report  Report
	stopped error        // why nothing further is looked at
	hidden  map[int]bool // issues of which only a lease store may know that they are held
	waits   map[claim.Issue][]claim.Issue
	waiting map[claim.Issue]Strand // those that wait, by the issue
}

// repo sweeps one repository. Without its lease store nothing is known about its issues.
func (w *sweeper) repo(ctx context.Context, r Repo, readings iter.Seq2[lifecycle.Facts, error]) {
	var err error
	if w.hidden, err = w.known(ctx, r); err != nil {
		w.skip(r.String(), err)
		w.stop(err)
		return
	}
	w.each(ctx, r.String(), readings)
}

func (w *sweeper) skip(what string, err error) {
	w.report.Skipped = append(w.report.Skipped, what+": "+err.Error())
}

// each looks at one reading after the other; name is of all of them together.
func (w *sweeper) each(ctx context.Context, name string, readings iter.Seq2[lifecycle.Facts, error]) {
	for f, err := range readings {
		switch {
		case err != nil && f.Issue.Number == 0:
			w.skip(name, err)
			w.stop(err)
		case w.stopped != nil:
			w.skip(f.Issue.String(), w.stopped)
		case err != nil:
			w.found(Finding{Repair: Repair{Issue: f.Issue}, Err: err})
		default:
			w.issue(ctx, f)
		}
	}
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

func (w *sweeper) found(f Finding) {
	if f.Err != nil {
		w.report.Failed++
		w.stop(f.Err)
	}
	w.report.Findings = append(w.report.Findings, f)
}

func (w *sweeper) issue(ctx context.Context, f lifecycle.Facts) {
	w.report.Examined++
	if w.s.Seen != nil {
		w.s.Seen(f)
	}
	f, err := w.doubtful(ctx, f)
	if err != nil {
		w.found(Finding{Repair: Repair{Issue: f.Issue, Title: f.Title, URL: f.URL}, Err: err})
		return
	}
	if f.Open {
		w.waits[f.Issue], w.waiting[f.Issue] = f.Waits(), Strand{Issue: f.Issue, Title: f.Title, URL: f.URL}
	}
	vote, err := w.ballot(ctx, f)
	if err != nil {
		w.found(Finding{Repair: Repair{Issue: f.Issue, Title: f.Title, URL: f.URL}, Err: err})
		return
	}
	picture, _ := w.set.Rules.Label(f)
	if vote == nil && w.inOrder(f, picture) {
		w.note(f, picture)
		return
	}
	finding := w.mend(ctx, f, vote)
	w.report.States[finding.Picture.State]++
	w.strand(finding.Repair)
	w.found(finding)
	w.forbid(finding.Err)
}

// forbid ends the sweep when the token may not write: every further write would be refused too.
func (w *sweeper) forbid(err error) {
	if refusal := denied(err); refusal != nil {
		w.stopped = refusal
	}
}

func (w *sweeper) inOrder(f lifecycle.Facts, p labels.Picture) bool {
	if _, missing := unmirrored(f); missing {
		return false
	}
	if len(w.over(f)) > 0 || len(w.set.Rules.Due(f)) > 0 || len(f.Log.Repeats(f.Viewer)) > 0 {
		return false
	}
	if _, _, delivered := w.set.Rules.Delivered(f); delivered {
		return false
	}
	return w.set.Rules.Scheme.Change(f.Labels, p).Empty()
}

// note counts an issue that needs nothing.
func (w *sweeper) note(f lifecycle.Facts, p labels.Picture) {
	w.report.States[p.State]++
	w.strand(Repair{Issue: f.Issue, Title: f.Title, URL: f.URL, Stranded: w.set.Rules.Stranded(f)})
	c, held := f.Log.Holder()
	end, limited := c.Until(w.set.Rules.Terms)
	if held && limited && f.Now.Sub(c.Updated) > end.Sub(c.Updated)/2 {
		w.report.Ageing = append(w.report.Ageing, Aged{f.Issue, f.Title, f.URL, c, end})
	}
}

// SweepID makes the name a sweep signs its records with.
func SweepID(now time.Time, word string) string {
	return "sweep-" + runID(now, word)
}
