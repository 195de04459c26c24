package github

import (
	"context"
	"errors"
	"strings"

	"github.com/label-state/label-state/internal/prchain"
)

// Checks lists the newest run of every check and the newest status of every context on a commit,
// all pages of both. A status is a check of the older kind.
func (c *Client) Checks(ctx context.Context, repo, sha string) ([]prchain.Check, error) {
	r := place(repo)
	runs := at(r, "/commits/%s/check-runs?per_page=100&filter=latest", sha).about(Object{Kind: CommitObject})
	if sha == "" || strings.Trim(sha, "0123456789abcdef") != "" {
		runs.err = errors.New("no commit to ask about")
	}

	var out []prchain.Check
	add := func(name, state string) {
		out = append(out, prchain.Check{Name: oneLine(name), State: oneLine(strings.ToLower(state))})
	}

	type runPage struct {
		Total *int                                        `json:"total_count"`
		Runs  []struct{ Name, Status, Conclusion string } `json:"check_runs"`
	}

	err := counted(ctx, c, runs, func(p runPage) (int, *int) {
		for _, run := range p.Runs {
			state := run.Status
			if run.Status == "completed" && run.Conclusion != "" {
				state = run.Conclusion
			}
			add(run.Name, state)
		}

		return len(p.Runs), p.Total
	})

	if err == nil {
		type statusPage struct {
			Total    *int                              `json:"total_count"`
			Statuses []struct{ Context, State string } `json:"statuses"`
		}

		err = counted(ctx, c, at(r, "/commits/%s/status?per_page=100", sha).about(Object{Kind: CommitObject}),
			func(p statusPage) (int, *int) {
				for _, s := range p.Statuses {
					add(s.Context, s.State)
				}
				return len(p.Statuses), p.Total
			})
	}

	return out, failed(err, "read checks of %s in %s", oneLine(sha), repo)
}
