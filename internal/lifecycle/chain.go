package lifecycle

import (
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

// shipped returns the merge that finished the issue. Of a chain the merge counts once no other part
// is open, because what it began has not shipped before; one of those is rest, if that is all that
// is missing.
func (f Facts) shipped() (by, rest PR, yes bool) {
	for _, p := range f.PRs {
		if !f.shippedBy(p) {
			continue
		}
		open := slices.IndexFunc(f.PRs,
			func(o PR) bool { return p.Chain != "" && o.Chain == p.Chain && o.State == PROpened })
		if open < 0 {
			return p, PR{}, true
		}

		rest = f.PRs[open]
	}

	return PR{}, rest, false
}

// family reports whether p, or another part of its chain, is the work of the one that asks is.
func (f Facts) family(p PR, is func(PR) bool) bool {
	for _, o := range f.PRs {
		if p.Chain != "" && o.Chain == p.Chain && is(o) {
			return true
		}
	}
	return is(p)
}

// Of reports whether a pull request, as these facts have it, or another part of its chain is the
// work of the claim's holder.
func (f Facts) Of(p PR, c claim.Claim) bool {
	return f.family(p, func(o PR) bool { return o.Of(c) })
}

// pushes reports whether an open pull request is from the seeker's branch.
func (w Seeker) pushes(p PR) bool {
	return w.Branch != "" && p.State == PROpened && p.Head == w.Branch && strings.EqualFold(p.HeadRepo, w.Repo)
}
