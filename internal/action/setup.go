package action

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
)

// A neededLabel is one that a repository needs, and how it was found.
type neededLabel struct {
	repo   claim.Repo
	name   string
	status string // ok, created, would be created, or what differs
}

// setUp makes sure that the labels exist. Colours that people chose stay.
func (s *Step) setUp(ctx context.Context) result {
	var r result
	repos, err := s.repos()
	if err != nil {
		return result{err: err}
	}

	for _, repo := range repos {
		if err := s.makeLabels(ctx, repo, &r); err != nil {
			r.skip("%s: %s", repo, err)
		}
	}

	return r
}

func (s *Step) makeLabels(ctx context.Context, repo claim.Repo, r *result) error {
	there, err := s.at(ctx, repo)
	if err != nil {
		return err
	}

	have, err := there.Hub.Labels(ctx, repo)
	if err != nil {
		return err
	}

	for _, want := range there.Ledger.Rules().Scheme.Definitions() {
		one := neededLabel{repo, want.Name, "ok"}
		differs, found := want.Among(have)
		switch {
		case !found && s.Inputs.DryRun:
			one.status = "would be created"
		case !found:
			if err := there.Hub.CreateLabel(ctx, repo, want); err != nil {
				return err
			}
			one.status = "created"
		case differs != "":
			one.status = differs
		}

		r.labels = append(r.labels, one)
	}

	return nil
}
