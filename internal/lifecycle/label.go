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
	all := f
	f.Log = withoutRivals(f.Log).Lasting()
	want, why := r.state(f, all)
	want, why = r.undone(all, want, why)
	want.Stage = stage
	if gated(r.Scheme, f) && !want.Keep && (want.State == labels.Available || want.State == labels.Claimed) {
		want.Gate = true
		why = "the label " + r.Scheme.PlanPending + " was put on by hand; " + why
	}

	if f.Open && managed(r.Scheme, f) { // what coexists with the lifecycle label; a person's labels are never removed
		if r.escalated(f.Log) {
			want.Set = append(want.Set, r.Scheme.NeedsScope)
		}

		switch {
		case !f.BlockersRead:
		case len(f.Waits()) > 0:
			want.Set = append(want.Set, r.Scheme.Blocked)
		default:
			want.Clear = append(want.Clear, r.Scheme.Blocked)
		}
	}

	return personsLabel(r.Scheme, all, want, why)
}

// state is the table of spec.md#projection: the numbers are those of its lines, which come in its
// order, but where one of ours stands for several. f has the reduced log, all the whole one.
func (r Rules) state(f, all Facts) (labels.Projection, string) {
	have := r.Scheme.Of(f.Labels)
	queued, isFresh := slices.Contains(have, labels.Available), fresh(r, f)
	merge, rest, shipped := f.shipped()

	// without a label of the queue: the setting decides
	again, whyAgain := show(labels.None, "reopened; on_reopen is not requeue")
	if r.Requeue {
		again, whyAgain = show(labels.Available, "reopened")
	}

	if !f.Open {
		switch {
		case !managed(r.Scheme, f): // 3
			return keep("never part of the lifecycle")
		case !shipped && rest.Chain != "": // 4
			return show(labels.PROpen, rest.String()+" of its chain is open")
		case f.StateReason == "completed" || shipped: // 5
			return show(labels.Done, "closed as completed")
		}

		return show(labels.None, "closed without being done") // 6
	}
	if c, held := f.Log.Holder(); held { // 7, 8
		return r.live(c)
	}

	if managed(r.Scheme, f) {
		if shipped { // 9
			return show(labels.Done, merge.Shown()+" was merged")
		}
		moves := func(p PR) bool { return f.pending(p) && !all.beside(p) }
		if n := slices.IndexFunc(f.PRs, moves); n >= 0 && !r.staged() { // 10; in a pipeline none is waited for
			return show(labels.PROpen, f.PRs[n].Shown()+f.PRs[n].stands())
		}
	}

	// nobody ever claimed it through the log: people's labels stand, as long as they say one thing
	// and it can be true
	if f.Log.Records == 0 {
		const byHand = "labelled done by a person"
		switch done := slices.Contains(have, labels.Done); {
		case len(have) == 0: // 11
			return keep("not part of the lifecycle")
		case done && f.wasReopened() && queued: // 12
			return show(labels.Available, "reopened and put into the queue")
		case done && f.wasReopened(): // 12
			return again, whyAgain
		case done && len(have) == 1: // 13
			return keep(byHand)
		case done && isFresh: // 14
			return keep(handMade)
		case done: // 14
			return show(labels.Done, byHand)
		case isFresh: // 15
			return show(labels.Claimed, handMade)
		case slices.Contains(have, labels.Claimed) && f.ClaimedAt.IsZero(): // 16
			return keep("claimed label without a claim, age not known")
		case slices.Equal(have, []labels.State{labels.PlanPending}): // 17
			return keep("plan label put on by hand")
		}

		return show(labels.Available, "nobody holds it and no pull request is open") // 18
	}

	switch {
	case r.escalated(f.Log): // 19
		return show(labels.None, fmt.Sprintf("%d failed attempts; a person must look", len(f.Log.Attempts)))
	case isFresh: // 20
		return show(labels.Claimed, handMade)
	case f.ReopenedAt.After(f.Log.Last) && !queued: // 21
		return again, whyAgain
	case f.implemented(f.Log): // 22
		return show(labels.Done, "released as already implemented")
	case through(r, f): // 23
		return show(labels.Done, "went through all stages")
	}

	return show(labels.Available, "nobody holds it and no pull request is open") // 24
}

// handMade is why a claimed label without a claim stays for a while.
const handMade = "claimed label put on by hand a moment ago"

// keep is a projection that leaves the lifecycle labels as they are.
func keep(why string) (labels.Projection, string) { return labels.Projection{Keep: true}, why }

// show is a projection of the label of a state.
func show(s labels.State, why string) (labels.Projection, string) {
	return labels.Projection{State: s}, why
}

// managed reports whether the issue is ours to label at all: it has records or a lifecycle label.
func managed(s labels.Scheme, f Facts) bool { return f.Log.Records > 0 || len(s.Of(f.Labels)) > 0 }

// live is what an issue shows whose holder, or first contender, has the claim c.
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

// shippedBy reports whether the merge of p finished the issue: into the default branch, of more
// than a part that closes nothing. One from before the last reopening did not, nor one from before
// somebody began the issue again.
func (f Facts) shippedBy(p PR) bool {
	again := claim.Latest(f.ReopenedAt, f.Log.Restart.Created)
	return p.State == PRMerged && p.DefaultBase && !p.Sibling && (again.IsZero() || p.MergedAt.After(again))
}

// searched is how long a pull request that the log names is looked for before it counts as never
// made.
const searched = 10 * time.Minute

// pending reports a pull request that may still ship. One the log names counts on any base, also
// when it was merged there and waits to ship. What GitHub does not show counts as open: for ten
// minutes, when its repository is there and does not have it, else until somebody begins the issue
// again.
func (f Facts) pending(p PR) bool {
	// it was named since the issue was begun again
	hidden := f.Log.Restart == claim.Rank{} || p.Named.Compare(f.Log.Restart) > 0
	switch {
	case p.Sibling:
		return p.State == PROpened
	case !p.Recorded:
		return p.State == PROpened && p.DefaultBase
	case p.State == PRMissing:
		return hidden && f.Now.Sub(p.Named.Created) < searched
	case p.State == PRUnreadable:
		return hidden
	}

	return p.State == PROpened || p.State == PRMerged && !p.DefaultBase
}

// Unlinked returns the claims whose release says that a pull request closed the issue by its own
// word, when that one no longer does: somebody took the keyword out, and no record says so yet. It
// is still open, or it was merged and the issue stayed open.
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

// wordless reports whether a pull request counts for the open issue by nothing but a record that
// names it.
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

// wasReopened reports whether the issue is known to have been closed and opened again.
func (f Facts) wasReopened() bool { return !f.ReopenedAt.IsZero() || f.StateReason == "reopened" }

// gated reports whether a plan label without any plan record is on the open issue: whoever put it
// there, a person or an older tool, wants a person to approve first and takes it off then.
func gated(s labels.Scheme, f Facts) bool {
	planned := slices.ContainsFunc(f.Log.Claims, func(c claim.Claim) bool { return c.Plan != nil })
	return f.Open && !f.PullRequest && !planned && labels.Has(f.Labels, s.PlanPending)
}

// fresh reports a claimed label that is newer than every record and younger than Stray: an
// older tool labels first and comments later (spec.md#projection).
func fresh(r Rules, f Facts) bool {
	return labels.Has(f.Labels, r.Scheme.Claimed) && f.ClaimedAt.After(f.Log.Last) && f.Now.Sub(f.ClaimedAt) < r.Stray
}

// implemented reports whether the last holder of the log found the work done already, and nobody
// reopened the issue since.
func (f Facts) implemented(log claim.State) bool {
	last, ended := log.Lasting().LastEnded(claim.Claim.Held)
	return ended && last.End.Rank.Compare(log.Restart) > 0 && last.End.Outcome == claim.OutcomeAlreadyImplemented &&
		!f.ReopenedAt.After(last.End.At)
}
