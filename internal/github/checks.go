package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/prchain"
)

// Checks lists the newest run of every check and the newest status of every context on a commit,
// all pages of both. A status is a check of the older kind.
func (c *Client) Checks(ctx context.Context, repo, sha string) ([]prchain.Check, error) {
	type page struct {
		Total    *int                                        `json:"total_count"`
		Runs     []struct{ Name, Status, Conclusion string } `json:"check_runs"`
		Statuses []struct{ Context, State string }
	}

	var out []prchain.Check
	add := func(name, state string) {
		out = append(out, prchain.Check{Name: oneLine(name), State: oneLine(strings.ToLower(state))})
	}

	for _, list := range []string{"check-runs?per_page=100&filter=latest", "status?per_page=100"} {
		to := at(place(repo), "/commits/%s/%s", sha, list).about(Object{Kind: CommitObject})
		if sha == "" || strings.Trim(sha, "0123456789abcdef") != "" {
			to.err = errors.New("no commit to ask about")
		}

		pages, err := pagesOf[page](ctx, c, to)
		have, want := 0, -1 // without a count nothing is whole
		for _, p := range pages {
			for _, run := range p.Runs {
				state := run.Status
				if run.Status == "completed" && run.Conclusion != "" {
					state = run.Conclusion
				}
				add(run.Name, state)
			}

			for _, s := range p.Statuses {
				add(s.Context, s.State)
			}

			have += len(p.Runs) + len(p.Statuses)
			if want = -1; p.Total != nil {
				want = *p.Total
			}
		}

		if err == nil && have != want {
			err = unusable(fmt.Sprintf("%d counted and %d readable", want, have))
		}
		if err != nil {
			return out, failed(err, "read checks of %s in %s", oneLine(sha), repo)
		}
	}

	return out, nil
}
