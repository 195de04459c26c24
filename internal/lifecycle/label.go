package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// Label is the projection: which labels the facts ask for, and why in one clause. It is the
// same for every reader and for every event (spec.md#projection). A snapshot
// with something missing, or without server time, changes nothing.
func (r Rules) Label(f Facts) (labels.Projection, string) {
	if len(f.Missing) > 0 {
		return keep("not read: " + f.Missing[0])
	}
	if f.Now.IsZero() {
		return keep("no server time")
	}
	if f.PullRequest {
		return r.pull(f)
	}
	stage := r.Stage(f)
	r.Scheme = r.Scheme.At(stage)
	bundle, undone := r.leftovers(f)
	all := f
	f.Log = withoutRivals(f.Log).Lasting()
	want, why := r.state(f)
	if undone {
		want, why = bundle.tidy(want, why)
	}
	want.Stage = stage
	if r.gated(f) && !want.Keep && (want.State == labels.Available || want.State == labels.Claimed) {
		want.Gate = true
		why = "the label " + r.Scheme.PlanPending + " was put on by hand; " + why
	}
	r.modifiers(f, &want)
	r.holdLabel(all, &want)
	if person, held := all.Log.Holder(); held && person.Person != "" && f.Open {
		why = "held by " + person.Person
	}
	return want, why
}

func (r Rules) state(f Facts) (labels.Projection, string) {
	if !f.Open {
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
	return r.unheld(f)
}

func keep(why string) (labels.Projection, string) { return labels.Projection{Keep: true}, why }

func show(s labels.State, why string) (labels.Projection, string) {
	return labels.Projection{State: s}, why
}

// managed reports whether the issue is ours to label at all: it has records or a lifecycle label.
func (r Rules) managed(f Facts) bool {
	return f.Log.Records > 0 || len(r.Scheme.Of(f.Labels)) > 0
}

func (r Rules) closed(f Facts) (labels.Projection, string) {
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

func (r Rules) live(c claim.Claim) (labels.Projection, string) {
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

// shippedBy reports whether the merge of p finished the issue: into the default branch, of more than a part that closes nothing.
// One from before the last reopening did not, nor one from before somebody began the issue again.
func (f Facts) shippedBy(p PR) bool {
	again := f.ReopenedAt
	if f.Log.Restart.Created.After(again) {
		again = f.Log.Restart.Created
	}
	return p.State == PRMerged && p.DefaultBase && !p.Sibling && (again.IsZero() || p.MergedAt.After(again))
}

// searched is how long a pull request that the log names is looked for before it counts as never made.
const searched = 10 * time.Minute

// pending reports a pull request that may still ship. One the log names counts on any base, also when it was
// merged there and waits to ship. What GitHub does not show counts as open: for ten minutes, when its
// repository is there and does not have it, else until somebody begins the issue again.
func (f Facts) pending(p PR) bool {
	switch {
	case p.Sibling:
		return p.State == PROpened
	case !p.Recorded:
		return p.State == PROpened && p.DefaultBase
	case p.State == PRMissing:
		return f.hidden(p) && f.Now.Sub(p.Named.Created) < searched
	case p.State == PRUnreadable:
		return f.hidden(p)
	}
	return p.State == PROpened || p.State == PRMerged && !p.DefaultBase
}

// hidden reports whether a pull request that GitHub does not show was named since the issue was begun again.
func (f Facts) hidden(p PR) bool {
	return f.Log.Restart == claim.Rank{} || p.Named.Compare(f.Log.Restart) > 0
}

// Unlinked returns the claims whose release says that a pull request closed the issue by its own word, when that one does
// not any more: somebody took the keyword out, and no record says so yet. It is still open, or it was merged and the
// issue stayed open.
func (f Facts) Unlinked() []claim.Claim {
	var out []claim.Claim
	for _, c := range f.Log.Claims {
		if c.End == nil || !c.End.Closes || c.End.Unlinked {
			continue
		}
		if slices.ContainsFunc(f.PRs, func(p PR) bool { return p.At(c.End.PR) && f.wordless(p) }) {
			out = append(out, c)
		}
	}
	return out
}

// Relinked is the snapshot as if records had unlinked what Unlinked lists.
func (f Facts) Relinked() Facts {
	of := f.Unlinked()
	f.PRs = slices.DeleteFunc(slices.Clone(f.PRs), func(p PR) bool {
		return f.wordless(p) && slices.ContainsFunc(of, func(c claim.Claim) bool { return p.At(c.End.PR) })
	})
	return f
}

// wordless reports whether a pull request counts for the open issue by nothing but a record that names it.
func (f Facts) wordless(p PR) bool {
	return f.Open && p.Bare && p.DefaultBase && (p.State == PROpened || f.shippedBy(p))
}

// At reports whether an address is the pull request's, or of a page below it.
func (p PR) At(address string) bool {
	if p.URL == "" || len(address) < len(p.URL) || !strings.EqualFold(address[:len(p.URL)], p.URL) {
		return false
	}
	rest := address[len(p.URL):]
	return rest == "" || strings.ContainsAny(rest[:1], "/?#")
}

func (r Rules) byPR(f Facts) (labels.Projection, string, bool) {
	if !r.managed(f) {
		return labels.Projection{}, "", false
	}
	if p, _, yes := f.shipped(); yes {
		return labels.Projection{State: labels.Done}, p.Shown() + " was merged", true
	}
	for _, p := range f.PRs {
		if f.pending(p) && !r.staged() {
			return labels.Projection{State: labels.PROpen}, p.Shown() + p.stands(), true
		}
	}
	return labels.Projection{}, "", false
}

// stands says what makes a pull request pending.
func (p PR) stands() string {
	switch p.State {
	case PRUnreadable:
		return " cannot be read and counts as open"
	case PRMissing:
		return " is not there yet and counts as open for ten minutes"
	case PRMerged:
		return " was merged into " + p.Base + " and has not shipped"
	}
	return " is open"
}

// String returns owner/repo#7.
func (p PR) String() string { return fmt.Sprintf("%s#%d", p.Repo, p.Number) }

// Shown is String, and of a fork's pull request whose branch it is: owner/repo#7 (mallory:work).
func (p PR) Shown() string {
	owner, _, known := strings.Cut(p.HeadRepo, "/")
	if !known || p.Head == "" || strings.EqualFold(p.HeadRepo, p.Repo) {
		return p.String()
	}
	return fmt.Sprintf("%s (%s:%s)", p, owner, p.Head)
}

// unrecorded is an issue nobody ever claimed through the log: people's labels stand, as long
// as they say one thing and it can be true.
func (r Rules) unrecorded(f Facts) (labels.Projection, string) {
	have := r.Scheme.Of(f.Labels)
	switch {
	case len(have) == 0:
		return keep("not part of the lifecycle")
	case slices.Contains(have, labels.Done):
		return r.labelledDone(f, have)
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

// labelledDone is an issue without records that somebody has labelled done and left open. It stays done
// beside a leftover of another state; after a reopening, the label of the queue is a person's wish.
func (r Rules) labelledDone(f Facts, have []labels.State) (labels.Projection, string) {
	const why = "labelled done by a person"
	switch {
	case len(have) == 1, f.wasReopened() && !slices.Contains(have, labels.Available):
		return r.reopened(f, why)
	case f.wasReopened():
		return show(labels.Available, "reopened and put into the queue")
	case r.stray(f):
		return keep("claimed label put on by hand a moment ago")
	default:
		return show(labels.Done, why)
	}
}

// wasReopened reports whether the issue is known to have been closed and opened again.
func (f Facts) wasReopened() bool { return !f.ReopenedAt.IsZero() || f.StateReason == "reopened" }

// doneByHand reports whether an open issue stays done by a person's label although another lifecycle label, such as the
// queue's, was left beside it. One that shows done alone is not offered, but whoever names it may take it.
func (r Rules) doneByHand(f Facts) bool {
	have := r.Scheme.Of(f.Labels)
	return f.Log.Lasting().Records == 0 && len(have) > 1 && slices.Contains(have, labels.Done) && !f.wasReopened()
}

// gated reports whether a plan label without any plan record is on the open issue: whoever put it there, a
// person or an older tool, wants a person to approve first and takes it off then.
func (r Rules) gated(f Facts) bool {
	planned := slices.ContainsFunc(f.Log.Claims, func(c claim.Claim) bool { return c.Plan != nil })
	return f.Open && !f.PullRequest && !planned && labels.Has(f.Labels, r.Scheme.PlanPending)
}

// reopened is a done issue that is open: after a reopening the setting decides, else people's label stands.
func (r Rules) reopened(f Facts, otherwise string) (labels.Projection, string) {
	switch {
	case !f.wasReopened():
		return keep(otherwise)
	case r.Requeue:
		return show(labels.Available, "reopened")
	default:
		return show(labels.None, "reopened; on_reopen is not requeue")
	}
}

// stray reports a claimed label that is newer than every record and younger than Stray: an
// older tool labels first and comments later (spec.md#projection).
func (r Rules) stray(f Facts) bool {
	return labels.Has(f.Labels, r.Scheme.Claimed) && f.ClaimedAt.After(f.Log.Last) && f.Now.Sub(f.ClaimedAt) < r.Stray
}

// unheld is an open issue with records that nobody holds and no pull request is about.
func (r Rules) unheld(f Facts) (labels.Projection, string) {
	switch {
	case r.escalated(f.Log):
		return show(labels.None, fmt.Sprintf("%d failed attempts; a person must look", len(f.Log.Attempts)))
	case r.stray(f):
		return show(labels.Claimed, "claimed label put on by hand a moment ago")
	case f.ReopenedAt.After(f.Log.Last) && !slices.Contains(r.Scheme.Of(f.Labels), labels.Available):
		return r.reopened(f, "")
	case f.implemented(f.Log):
		return show(labels.Done, "released as already implemented")
	case r.through(f):
		return show(labels.Done, "went through all stages")
	default:
		return show(labels.Available, "nobody holds it and no pull request is open")
	}
}

// implemented reports whether the last holder of the log found the work done already, and nobody reopened the issue since.
func (f Facts) implemented(log claim.State) bool {
	last, ended := log.Lasting().LastEnded()
	return ended && last.End.Rank().Compare(log.Restart) > 0 && last.End.Outcome == claim.OutcomeAlreadyImplemented && !f.ReopenedAt.After(last.End.At)
}

// modifiers adds what coexists with the lifecycle label. A person's labels are never removed.
func (r Rules) modifiers(f Facts, want *labels.Projection) {
	if !f.Open || !r.managed(f) {
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
