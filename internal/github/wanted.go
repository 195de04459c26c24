package github

import (
	"slices"

	"github.com/label-state/label-state/internal/claim"
)

// wanted are the issues, or pull requests, that a batch of snapshots asks for besides its own, each once.
type wanted []claim.Issue

// add asks for one more.
func (w *wanted) add(i claim.Issue) {
	if !slices.ContainsFunc(*w, i.Same) {
		*w = append(*w, i)
	}
}

// at returns the place of one that was added.
func (w wanted) at(i claim.Issue) int { return slices.IndexFunc(w, i.Same) }
