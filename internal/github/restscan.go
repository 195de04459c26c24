package github

import (
	"context"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// restLists lists what to scan without GraphQL. Page numbers shift when an issue leaves a list
// while it is being read, which would hide another; so a list of several pages is read again
// until it shows nothing new.
func (sc *scans) restLists(ctx context.Context, r ledger.Repo, what selection) ([]listed, error) {
	var found []listed
	for _, name := range what.labels {
		if name == "" {
			continue
		}
		part, err := sc.restList(ctx, r, "labels", name)
		if err != nil {
			return nil, err
		}
		found = append(found, part...)
	}
	if what.since.IsZero() {
		return found, nil
	}
	changed, err := sc.restList(ctx, r, "since", what.since.UTC().Format(time.RFC3339))
	return append(found, changed...), err
}

func (sc *scans) restList(ctx context.Context, r ledger.Repo, filter, value string) ([]listed, error) {
	path, err := at(r.Owner, r.Name, "/issues")
	if err != nil {
		return nil, err
	}
	path = query(path, "state", "all", "sort", "created", "direction", "asc", "per_page", "100", filter, value)
	var found []listed
	for range scanPasses {
		before := len(found)
		page, _, err := list[restIssue](ctx, sc.api, path)
		if err != nil {
			return nil, err
		}
		for _, one := range page {
			if one.PullRequest == nil || heldPull(sc.scheme, one) {
				found = append(found, listed{number: one.Number, updated: one.UpdatedAt})
			}
		}
		found = unique(found)
		if len(page) <= 100 || len(found) == before {
			break
		}
	}
	return found, nil
}

// heldPull reports whether a label says that the pull request is held.
func heldPull(scheme labels.Scheme, r restIssue) bool {
	return slices.ContainsFunc(r.Labels, func(l named) bool { return labels.Same(l.Name, scheme.Claimed) || labels.Same(l.Name, scheme.Hold) })
}
