package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/prchain"
)

// checks reads what was found out about commits.
type checks struct{ api *api }

// Checks lists the newest run of every check and the newest status of every context on a commit, all
// pages of both. A status is a check of the older kind.
func (ck *checks) Checks(ctx context.Context, repo, sha string) ([]prchain.Check, error) {
	runs, err := ck.checkRuns(ctx, place(repo), sha)
	var statuses []prchain.Check
	if err == nil {
		statuses, err = ck.statuses(ctx, place(repo), sha)
	}
	if err != nil {
		return nil, fmt.Errorf("read checks of %s in %s: %w", oneLine(sha), repo, missing(err, "commit"))
	}
	return append(runs, statuses...), nil
}

var errNoCommit = errors.New("no commit to ask about")

// onCommit is the path of something of a commit.
func onCommit(r ledger.Repo, sha, rest string) (string, error) {
	if sha == "" || strings.Trim(sha, "0123456789abcdef") != "" {
		return "", errNoCommit
	}
	return at(r.Owner, r.Name, "/commits/%s%s", sha, rest)
}

func (ck *checks) checkRuns(ctx context.Context, r ledger.Repo, sha string) ([]prchain.Check, error) {
	path, err := onCommit(r, sha, "/check-runs?per_page=100&filter=latest")
	if err != nil {
		return nil, err
	}
	var out []prchain.Check
	type page struct {
		Total *int                                        `json:"total_count"`
		Runs  []struct{ Name, Status, Conclusion string } `json:"check_runs"`
	}
	err = each(ctx, ck.api, path, func(p page) (int, int) {
		for _, run := range p.Runs {
			state := run.Status
			if run.Status == "completed" && run.Conclusion != "" {
				state = run.Conclusion
			}
			out = append(out, prchain.Check{Name: oneLine(run.Name), State: oneLine(strings.ToLower(state))})
		}
		return len(p.Runs), counted(p.Total)
	})
	return out, err
}

func (ck *checks) statuses(ctx context.Context, r ledger.Repo, sha string) ([]prchain.Check, error) {
	path, err := onCommit(r, sha, "/status?per_page=100")
	if err != nil {
		return nil, err
	}
	var out []prchain.Check
	type page struct {
		Total    *int                              `json:"total_count"`
		Statuses []struct{ Context, State string } `json:"statuses"`
	}
	err = each(ctx, ck.api, path, func(p page) (int, int) {
		for _, s := range p.Statuses {
			out = append(out, prchain.Check{Name: oneLine(s.Context), State: oneLine(strings.ToLower(s.State))})
		}
		return len(p.Statuses), counted(p.Total)
	})
	return out, err
}
