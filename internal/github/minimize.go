package github

import (
	"context"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
)

// minimizedAtOnce is how many comments one mutation minimizes.
const minimizedAtOnce = 20

// Minimize implements ledger.Minimizer. Comments that were not read by GraphQL are left alone, those that are gone, or were
// minimized meanwhile, are no error. A token that may not minimize is a *PermissionError.
func (mt *mutations) Minimize(ctx context.Context, comments []claim.Comment) (done int, err error) {
	for part := range slices.Chunk(comments, minimizedAtOnce) {
		minimized, err := mt.minimize(hinted(ctx, repeatable), part)
		done += minimized
		if err != nil {
			return done, fmt.Errorf("minimize comments: %w", err)
		}
	}
	return done, nil
}

func (mt *mutations) minimize(ctx context.Context, comments []claim.Comment) (done int, err error) {
	d := newDocument()
	for n, m := range comments {
		if m.Node != "" {
			d.add("  m%d: minimizeComment(input: {subjectId: %s, classifier: OUTDATED}) { minimizedComment { isMinimized } }\n", n, d.bind("ID!", m.Node))
		}
	}
	if len(d.declared) == 0 {
		return 0, nil
	}
	var data map[string]*struct {
		MinimizedComment *struct{ IsMinimized bool }
	}
	got, err := mt.api.ask(ctx, d.mutation("Minimize", ""), d.variables, &data)
	if err != nil {
		return 0, err
	}
	for _, one := range data {
		if one != nil && one.MinimizedComment != nil && one.MinimizedComment.IsMinimized {
			done++
		}
	}
	for _, e := range got.errors {
		if err := e.typed("comment"); !is[*NotFoundError](err) {
			return done, err
		}
	}
	return done, nil
}
