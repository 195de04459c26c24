package lifecycle

import (
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// Label is the projection: which labels the facts ask for, and why in one clause. It is the
// same for every reader and for every event (PROTOCOL section 7, extended by PRODUCT). A reading
// with something missing changes nothing (PRODUCT ruling 1).
func (r Rules) Label(f Facts) (labels.Picture, string) {
	if len(f.Missing) > 0 {
		return keep("not read: " + f.Missing[0])
	}
	stage := r.Stage(f)
	r.Scheme = r.Scheme.At(stage)
	bundle, undone := r.leftovers(f)
	f.Log = f.Log.Lasting()
	want, why := r.state(f)
	if undone {
		want, why = bundle.tidy(f, want, why)
	}
	want.Stage = stage
	r.modifiers(f, &want)
	return want, why
}

func (r Rules) state(f Facts) (labels.Picture, string) {
	switch {
	case f.PullRequest:
		return keep("a pull request is not an issue")
	case !f.Open:
		return r.closed(f)
	}
	if c, held := f.Log.Holder(); held {
		return r.live(c)
	}
	if want, why, ok := r.byPR(f); ok {
		return want, why
	}
	if f.Log.Records == 0 {
		return r.unrecorded(f)
	}
	return r.resting(f)
}

func keep(why string) (labels.Picture, string) { return labels.Picture{Keep: true}, why }

func show(s labels.State, why string) (labels.Picture, string) {
	return labels.Picture{State: s}, why
}

// managed reports whether the issue is ours to label at all: it has records or a lifecycle label.
func (r Rules) managed(f Facts) bool {
	return f.Log.Records > 0 || len(r.Scheme.Of(f.Labels)) > 0
}

func (r Rules) closed(f Facts) (labels.Picture, string) {
	_, rest, shipped := f.shipped()
	switch {
	case !r.managed(f):
		return keep("never part of the lifecycle")
	case !shipped && rest.Chain != "":
		return show(labels.PROpen, rest.String()+" of its chain is open")
	case f.StateReason == "completed" || shipped:
		return show(labels.Done, "closed as completed")
	default:
		return show(labels.None, "closed without being done")
	}
}

func (r Rules) live(c claim.Claim) (labels.Picture, string) {
	who := c.Record.Worker.String()
	want, why := show(labels.Claimed, "held by "+who)
	switch {
	case c.Plan.Pending():
		want, why = show(labels.PlanPending, "plan of "+who+" waits for approval")
	case !c.Held():
		return show(labels.Claimed, "being claimed by "+who)
	}
	if name, err := r.Scheme.Bundle(c.Record.Bundle); err == nil && !c.Provisional() {
		want.Set = []string{name}
	}
	return want, why
}

// merged reports a merge that ships: into the default branch, of more than a part that closes nothing.
func (p PR) merged() bool { return p.State == PRMerged && p.DefaultBase && !p.Sibling }

// shippedBy reports whether the merge of p finished the issue: one from before the last
// reopening did not.
func (f Facts) shippedBy(p PR) bool {
	return p.merged() && (f.ReopenedAt.IsZero() || p.MergedAt.After(f.ReopenedAt))
}

// pending reports a pull request that may still ship. One the log names counts on any base, also
// when it was merged there and waits to ship, and when nobody can read it.
func (p PR) pending() bool {
	if p.Sibling {
		return p.State == PROpened
	}
	if p.Recorded {
		return p.State == PRUnreadable || p.State == PROpened || p.State == PRMerged && !p.DefaultBase
	}
	return p.State == PROpened && p.DefaultBase
}

func (r Rules) byPR(f Facts) (labels.Picture, string, bool) {
	if !r.managed(f) {
		return labels.Picture{}, "", false
	}
	if p, _, yes := f.shipped(); yes {
		return labels.Picture{State: labels.Done}, p.String() + " was merged", true
	}
	for _, p := range f.PRs {
		if p.pending() && !r.staged() {
			return labels.Picture{State: labels.PROpen}, p.String() + p.stands(), true
		}
	}
	return labels.Picture{}, "", false
}

// stands says what makes a pull request pending.
func (p PR) stands() string {
	switch p.State {
	case PRUnreadable:
		return " cannot be read and counts as open"
	case PRMerged:
		return " was merged into " + p.Base + " and has not shipped"
	}
	return " is open"
}

// String returns owner/repo#7.
func (p PR) String() string { return fmt.Sprintf("%s#%d", p.Repo, p.Number) }

// unrecorded is an issue nobody ever claimed through the log: people's labels stand, as long
// as they say one thing and it can be true.
func (r Rules) unrecorded(f Facts) (labels.Picture, string) {
	have := r.Scheme.Of(f.Labels)
	switch {
	case len(have) == 0:
		return keep("not part of the lifecycle")
	case slices.Equal(have, []labels.State{labels.Done}):
		return r.reopened(f, "labelled done by a person")
	case r.stray(f):
		return show(labels.Claimed, "claimed label put on by hand a moment ago")
	case slices.Contains(have, labels.Claimed) && f.ClaimedAt.IsZero():
		return keep("claimed label without a claim, age not known")
	case slices.Equal(have, []labels.State{labels.PlanPending}):
		return keep("plan label put on by hand")
	default:
		return show(labels.Available, "nobody holds it and no pull request is open")
	}
}

// reopened is a done issue that is open: after a reopening the setting decides, else people's label stands.
func (r Rules) reopened(f Facts, otherwise string) (labels.Picture, string) {
	switch {
	case f.ReopenedAt.IsZero() && f.StateReason != "reopened":
		return keep(otherwise)
	case r.Requeue:
		return show(labels.Available, "reopened")
	default:
		return show(labels.None, "reopened; on_reopen is not requeue")
	}
}

// stray reports a claimed label that is newer than every record and younger than Stray: an
// older tool labels first and comments later (PROTOCOL section 7).
func (r Rules) stray(f Facts) bool {
	return labels.Has(f.Labels, r.Scheme.Claimed) && f.ClaimedAt.After(f.Log.Last) && f.Now.Sub(f.ClaimedAt) < r.Stray
}

// resting is an open issue with records that nobody holds and no pull request is about.
func (r Rules) resting(f Facts) (labels.Picture, string) {
	switch {
	case r.escalated(f.Log):
		return show(labels.None, fmt.Sprintf("%d failed attempts; a person must look", len(f.Log.Attempts)))
	case r.stray(f):
		return show(labels.Claimed, "claimed label put on by hand a moment ago")
	case f.ReopenedAt.After(f.Log.Last) && !slices.Contains(r.Scheme.Of(f.Labels), labels.Available):
		return r.reopened(f, "")
	case f.implemented():
		return show(labels.Done, "released as already implemented")
	case r.through(f):
		return show(labels.Done, "went through all stages")
	default:
		return show(labels.Available, "nobody holds it and no pull request is open")
	}
}

// implemented reports whether the last holder found the work done already, and nobody reopened the issue since.
func (f Facts) implemented() bool {
	last, ended := f.Log.Lasting().LastEnded()
	return ended && last.End.Outcome == claim.OutcomeAlreadyImplemented && !f.ReopenedAt.After(last.End.At)
}

// modifiers adds what coexists with the lifecycle label. A person's labels are never removed.
func (r Rules) modifiers(f Facts, want *labels.Picture) {
	if f.PullRequest || !f.Open || !r.managed(f) {
		return
	}
	if r.escalated(f.Log) {
		want.Set = append(want.Set, r.Scheme.NeedsScope)
	}
	if !f.BlockersRead {
		return
	}
	if len(f.openBlockers()) > 0 {
		want.Set = append(want.Set, r.Scheme.Blocked)
	} else {
		want.Clear = append(want.Clear, r.Scheme.Blocked)
	}
}

func (f Facts) openBlockers() []Blocker {
	var out []Blocker
	for _, b := range f.Blockers {
		if b.Open {
			out = append(out, b)
		}
	}
	return out
}
