package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
)

// sweep looks at every repository that was asked for, each by its own configuration. It goes on
// past one that cannot be read, and stops cleanly when the request budget is used up.
func (s *Step) sweep(ctx context.Context) result {
	var r result
	repos, err := s.repos()
	if err != nil {
		return result{err: err}
	}

	by := ledger.SweepID(s.Now, s.Word())
	for _, repo := range repos {
		err := r.report.Stopped
		if !final(err) {
			err = s.sweepOne(ctx, repo, by, &r)
		}

		switch {
		case err == nil:
		case len(repos) == 1:
			r.err = fmt.Errorf("%s: %w", repo, err)
		default:
			r.skip("%s: %s", repo, err)
		}
	}

	return r
}

// final reports whether what ended one repository's sweep ends all: the budget is used up, or the
// caller's time is. A token that may not write here may write elsewhere.
func final(err error) bool { return err != nil && !denied(err) }

// sweepOne sweeps one repository. The error is that it could not be read at all.
func (s *Step) sweepOne(ctx context.Context, repo claim.Repo, by string, r *result) error {
	there, err := s.at(ctx, repo)
	var known github.Repository
	if err == nil {
		known, err = there.Hub.Repository(ctx, repo)
	}

	switch {
	case err != nil:
		r.report.Stopped = nil
		_, exhausted := errors.AsType[*github.RateLimitError](err)
		if exhausted || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			r.report.Stopped = err // no further repository is worth asking
		}

		return err

	case known.Unsweepable() != "":
		r.leave("%s: %s", repo, known.Unsweepable())
		return nil
	}

	w := ledger.Sweep{
		Repos:  []claim.Repo{known.Repo},
		By:     by,
		MaxAge: s.Inputs.MaxAge,
		Since:  s.Now.Add(-ledger.Lookback),
		DryRun: s.Inputs.DryRun,
	}
	r.add(there.runSweep(ctx, w, func(w ledger.Sweep) ledger.Report { return there.Ledger.Sweep(ctx, there.Hub, w) }))
	there.catchUp(ctx, r)
	there.takeForAuthors(ctx, r)

	return nil
}

// at is the step in a repository, which it opens; the workflow's own is open.
func (s *Step) at(ctx context.Context, repo claim.Repo) (*Step, error) {
	if strings.EqualFold(repo.String(), s.Repo.String()) {
		return s, nil
	}
	p, err := s.Open(ctx, repo)
	there := *s
	there.Place = p

	return &there, err
}

// repos are the repositories that the input names, each once, or the workflow's own.
func (s *Step) repos() ([]claim.Repo, error) {
	if len(s.Inputs.Repos) == 0 {
		return []claim.Repo{s.Repo}, nil
	}
	var out []claim.Repo
	for _, name := range s.Inputs.Repos {
		owner, repo, ok := strings.Cut(name, "/")
		if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
			return nil, &InputError{"repos", name, "owner/name, separated by commas or new lines"}
		}

		known := slices.ContainsFunc(out, func(o claim.Repo) bool { return strings.EqualFold(o.String(), name) })
		if !known {
			out = append(out, claim.Repo{Owner: owner, Name: repo})
		}
	}

	return out, nil
}
