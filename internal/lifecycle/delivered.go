package lifecycle

import (
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

// Of reports whether the pull request is the work of the claim's holder: it comes from the branch
// the claim names, or the claim names none and the same login wrote both, or is the person whose
// hold an App wrote.
func (p PR) Of(c claim.Claim) bool {
	sameAuthor := p.Author != "" && (claim.SameLogin(c.Author, p.Author) || c.IsOf(p.Author))
	if c.Record.Branch == "" {
		return sameAuthor
	}
	return c.Record.Branch == p.Head && (strings.EqualFold(p.HeadRepo, p.Repo) || sameAuthor)
}

// Is reports whether both are one pull request.
func (p PR) Is(o PR) bool { return p.Number == o.Number && strings.EqualFold(p.Repo, o.Repo) }

// Delivered returns the confirmed holder and its own pull request that is open or merged: the hold
// has done its work, and from here on the pull request shows who works on the issue. Of a chain it
// is the part that closes the issue, whichever part comes from the claim's branch. A draft counts
// (spec-writing.md#hand-over); a waiting plan keeps the hold, a stage of a pipeline ends by
// advancing, and a person's hold ends when the person says so. A snapshot with something missing,
// or in doubt, shows nothing of the kind.
func (r Rules) Delivered(f Facts) (claim.Claim, PR, bool) {
	c, held := f.Log.Holder()
	if !held || len(f.Missing) > 0 || len(f.Doubts) > 0 || f.PullRequest || !c.Held() || c.Person != "" ||
		c.Plan.Pending() || r.staged() {
		return c, PR{}, false
	}

	for _, p := range f.PRs {
		// before it was reopened, or claimed
		earlier := p.State == PRMerged && (!p.MergedAt.After(f.ReopenedAt) || p.MergedAt.Before(c.Created))
		if (p.State == PROpened || p.State == PRMerged) && p.DefaultBase && !p.Sibling && f.Of(p, c) && !earlier {
			return c, p, true
		}
	}

	return c, PR{}, false
}
