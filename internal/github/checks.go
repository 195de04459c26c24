package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/prchain"
)

// checks reads what was found out about commits.
type checks struct{ api *api }

// Checks lists the newest run of every check and the newest status of every context on a commit, all
// pages of both. A status is a check of the older kind.
func (ck *checks) Checks(ctx context.Context, repo, sha string) ([]prchain.Check, error) {
	r := place(repo)
	path, err := at(r.Owner, r.Name, "/commits/%s", sha)
	if sha == "" || strings.Trim(sha, "0123456789abcdef") != "" {
		err = errNoCommit
	}
	var out []prchain.Check
	if err == nil {
		type page struct {
			Total *int                                        `json:"total_count"`
			Runs  []struct{ Name, Status, Conclusion string } `json:"check_runs"`
		}
		err = each(ctx, ck.api, path+"/check-runs?per_page=100&filter=latest", func(p page) (int, int) {
			for _, run := range p.Runs {
				state := run.Status
				if run.Status == "completed" && run.Conclusion != "" {
					state = run.Conclusion
				}
				out = append(out, prchain.Check{Name: oneLine(run.Name), State: oneLine(strings.ToLower(state))})
			}
			return len(p.Runs), counted(p.Total)
		})
	}
	if err == nil {
		type page struct {
			Total    *int                              `json:"total_count"`
			Statuses []struct{ Context, State string } `json:"statuses"`
		}
		err = each(ctx, ck.api, path+"/status?per_page=100", func(p page) (int, int) {
			for _, s := range p.Statuses {
				out = append(out, prchain.Check{Name: oneLine(s.Context), State: oneLine(strings.ToLower(s.State))})
			}
			return len(p.Statuses), counted(p.Total)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read checks of %s in %s: %w", oneLine(sha), repo, missing(err, "commit"))
	}
	return out, nil
}

var errNoCommit = errors.New("no commit to ask about")
