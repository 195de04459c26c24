package lifecycle

import (
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// Stranded says why nothing will ever move an issue that nobody works on, once its labels are in
// line; empty when something will. What waits for a person on purpose is not stranded: a person's
// hold, needs:human-scope, a plan with its own time limit.
func (r Rules) Stranded(f Facts) string {
	want, why := r.Label(f)
	missing := func(p PR) bool { return f.pending(p) && p.State == PRMissing } // for ten minutes
	switch {
	case !r.Stuck(f), want.State == labels.PROpen && slices.ContainsFunc(f.PRs, missing):
		return ""
	case r.BareHold(f), labels.Has(f.Labels, r.Scheme.NeedsScope), r.escalated(f.Log):
		return ""
	case want.State == labels.Done, want.Keep && labels.Has(f.Labels, r.Scheme.Done):
		return "done and still open: " + why
	}

	return why
}

// forWorkers reports whether the issue is ours to label. One that only persons ever held waits for
// no worker.
func (r Rules) forWorkers(f Facts) bool {
	f.Log = f.Log.Lasting()
	return managed(r.Scheme, f)
}

// Stuck reports whether nobody works on the open issue and only a person can move it on: a reset
// that begins it again does (spec-writing.md#beginning-again). It is done and still open, its
// labels say what no record bears out, or all that it waits for are pull requests that GitHub does
// not show.
func (r Rules) Stuck(f Facts) bool {
	want, _ := r.Label(f)
	_, held := f.Log.Holder()
	switch {
	case len(f.Missing) > 0, f.Now.IsZero(), f.PullRequest, !f.Open, !r.forWorkers(f), held, want.Gate:
		return false
	case want.State == labels.PROpen:
		return !slices.ContainsFunc(f.PRs,
			func(p PR) bool { return f.pending(p) && p.State != PRUnreadable && p.State != PRMissing })
	}

	return want.Keep || want.State == labels.Done
}

// Wished reports whether the queue's label is on an issue that is stuck: if a person put it there,
// that begins the issue again. Beside the label for done it is a leftover.
func (r Rules) Wished(f Facts) bool {
	queued := slices.ContainsFunc(r.Scheme.Queues(), func(q string) bool { return labels.Has(f.Labels, q) })
	return queued && !labels.Has(f.Labels, r.Scheme.Done) && r.Stuck(f)
}

// Waits are the issues that keep f from going on: its open blockers.
func (f Facts) Waits() []claim.Issue {
	var out []claim.Issue
	for _, b := range f.Blockers {
		if b.Open {
			out = append(out, b.Issue)
		}
	}

	return out
}

// Cycles returns the issues that wait for each other in a ring, so that none ever wakes. waits has
// for each issue those that it waits for. Each ring begins with its first issue and is listed once;
// rings that share an issue may be listed as one.
func Cycles(waits map[claim.Issue][]claim.Issue) [][]claim.Issue {
	s := search{waits: map[claim.Issue][]claim.Issue{}, seen: map[claim.Issue]bool{}}
	var all []claim.Issue
	for i, on := range waits {
		all = append(all, i.Folded())
		for _, o := range on {
			s.waits[i.Folded()] = append(s.waits[i.Folded()], o.Folded())
		}
	}

	slices.SortFunc(all, claim.Issue.Compare)
	for _, i := range all {
		s.from(i, nil)
	}

	return s.rings
}

// Round is the Path of a ring in words: a waits for b waits for a.
func Round(path []string) string { return strings.Join(path, " waits for ") }

// InCycle says of the Path of a ring that its issues are blocked by it.
func InCycle(path []string) string { return "blocked in a dependency cycle: " + Round(path) }

// Path is a ring of Cycles as it is walked: the names of its issues, and that of the first again at
// the end.
func Path(ring []claim.Issue) []string {
	var names []string
	for _, i := range ring {
		names = append(names, i.String())
	}
	return append(names, names[:min(1, len(names))]...)
}

type search struct {
	waits map[claim.Issue][]claim.Issue
	seen  map[claim.Issue]bool
	rings [][]claim.Issue
}

// from follows what i waits for; path has led to it.
func (s *search) from(i claim.Issue, path []claim.Issue) {
	if at := slices.Index(path, i); at >= 0 {
		ring := path[at:]
		first := slices.Index(ring, slices.MinFunc(ring, claim.Issue.Compare))
		s.rings = append(s.rings, slices.Concat(ring[first:], ring[:first]))
		return
	}
	if s.seen[i] {
		return
	}

	s.seen[i] = true
	for _, o := range s.waits[i] {
		s.from(o, append(slices.Clone(path), i))
	}
}
