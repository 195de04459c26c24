package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/prchain"
)

var (
	_ prchain.Forge   = (*Client)(nil)
	_ prchain.Watcher = (*Client)(nil)
)

// place splits owner/name.
func place(repo string) ledger.Repo {
	owner, name, _ := strings.Cut(repo, "/")
	return ledger.Repo{Owner: owner, Name: name}
}

// DefaultBranch returns the name of a repository's default branch.
func (c *Client) DefaultBranch(ctx context.Context, repo string) (string, error) {
	r, err := c.Repository(ctx, place(repo))
	if err == nil && r.DefaultBranch == "" {
		err = fmt.Errorf("read repository %s: %w", repo, &AnswerError{Status: http.StatusOK, Reason: "it has no default branch"})
	}
	return r.DefaultBranch, err
}

// PullsFrom lists the pull requests of every state from a branch of the repository itself, newest first.
func (c *Client) PullsFrom(ctx context.Context, repo, branch string) ([]prchain.Pull, error) {
	got, err := c.restPullsFrom(ctx, place(repo), place(repo), branch, "all")
	if err != nil {
		return nil, fmt.Errorf("list pull requests of %s: %w", repo, err)
	}
	var out []prchain.Pull
	for _, p := range got {
		out = append(out, p.part())
	}
	return out, nil
}

// restPullsFrom lists the pull requests into a repository from a branch of head, newest first. The state is open, closed or all.
func (c *Client) restPullsFrom(ctx context.Context, into, head ledger.Repo, branch, state string) ([]restPull, error) {
	path, err := at(into.Owner, into.Name, "/pulls?state=%s&sort=created&direction=desc&per_page=100&head=%s", state, url.QueryEscape(head.Owner+":"+branch))
	var got []restPull
	if err == nil {
		got, _, err = list[restPull](ctx, c, path)
	}
	return slices.DeleteFunc(got, func(p restPull) bool {
		return p.Head.Ref != branch || !strings.EqualFold(p.Head.Repo.repo().String(), head.String())
	}), missing(err, "repository "+into.String())
}

// OpenPull opens a pull request. Unless the error's Rejected is true it may be open all the same.
func (c *Client) OpenPull(ctx context.Context, repo string, p prchain.Proposal) (prchain.Pull, error) {
	r := place(repo)
	path, err := at(r.Owner, r.Name, "/pulls")
	var got restPull
	if err == nil {
		body := map[string]string{"title": p.Title, "body": p.Body, "head": p.Branch, "base": p.Base}
		_, err = c.Do(ctx, http.MethodPost, path, body, &got)
	}
	if err == nil && (got.Number < 1 || got.Base.Ref == "") {
		err = &AnswerError{Status: http.StatusCreated, Reason: "it is not a pull request"}
	}
	if err != nil {
		return prchain.Pull{}, fmt.Errorf("open pull request in %s: %w", repo, missing(err, "repository "+repo))
	}
	return got.part(), nil
}

// ReadPull reads one pull request by REST, with its newest commit and its labels. The caller knows
// that it is there: a 404 may be a replica that has not heard of it yet.
func (c *Client) ReadPull(ctx context.Context, i claim.Issue) (prchain.Pull, error) {
	err := nameable(i)
	var got restPull
	if err == nil {
		got, err = c.restPullRequest(afterCreating(ctx), i)
	}
	if err != nil {
		return prchain.Pull{}, fmt.Errorf("read pull request %s: %w", i, missing(err, "pull request "+i.String()))
	}
	return got.part(), nil
}

// EditPullBody replaces the body of a pull request.
func (c *Client) EditPullBody(ctx context.Context, i claim.Issue, body string) error {
	err := nameable(i)
	var path string
	if err == nil {
		path, err = at(i.Owner, i.Repo, "/pulls/%d", i.Number)
	}
	if err == nil {
		_, err = c.Do(ctx, http.MethodPatch, path, map[string]string{"body": body}, nil)
	}
	if err != nil {
		return fmt.Errorf("edit pull request %s: %w", i, missing(err, "pull request "+i.String()))
	}
	return nil
}

// part is the pull request as a part of a chain.
func (p restPull) part() prchain.Pull {
	known := p.pr()
	out := prchain.Pull{
		ID: claim.Issue{Owner: p.Base.Repo.repo().Owner, Repo: p.Base.Repo.repo().Name, Number: p.Number}, URL: p.HTMLURL,
		Title: p.Title, Body: p.Body, State: string(known.State), Base: p.Base.Ref, SHA: p.Head.SHA,
	}
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	return out
}

// Checks lists the newest run of every check and the newest status of every context on a commit, all
// pages of both. A status is a check of the older kind.
func (c *Client) Checks(ctx context.Context, repo, sha string) ([]prchain.Check, error) {
	runs, err := c.checkRuns(ctx, place(repo), sha)
	var statuses []prchain.Check
	if err == nil {
		statuses, err = c.statuses(ctx, place(repo), sha)
	}
	if err != nil {
		return nil, fmt.Errorf("read checks of %s in %s: %w", oneLine(sha), repo, missing(err, "commit"))
	}
	return append(runs, statuses...), nil
}

var errNoCommit = errors.New("no commit to ask about")

// each reads every page of a list that stands in an object together with its length. What was read
// must be as many as GitHub counts.
func each[T any](ctx context.Context, c *Client, path string, take func(T) (count, total int)) error {
	have, seen := 0, map[string]bool{}
	for path != "" {
		seen[path] = true
		var page T
		header, err := c.Do(ctx, http.MethodGet, path, nil, &page)
		if err != nil {
			return err
		}
		count, total := take(page)
		have += count
		if path, err = c.next(header); err != nil {
			return err
		}
		switch {
		case seen[path]:
			return &AnswerError{Status: http.StatusOK, Reason: "its pages lead back to an earlier one"}
		case path == "" && have != total:
			return &AnswerError{Status: http.StatusOK, Reason: fmt.Sprintf("%d counted and %d readable", total, have)}
		}
	}
	return nil
}

// onCommit is the path of something of a commit.
func onCommit(r ledger.Repo, sha, rest string) (string, error) {
	if sha == "" || strings.Trim(sha, "0123456789abcdef") != "" {
		return "", errNoCommit
	}
	return at(r.Owner, r.Name, "/commits/%s%s", sha, rest)
}

func (c *Client) checkRuns(ctx context.Context, r ledger.Repo, sha string) ([]prchain.Check, error) {
	path, err := onCommit(r, sha, "/check-runs?per_page=100&filter=latest")
	if err != nil {
		return nil, err
	}
	var out []prchain.Check
	type page struct {
		Total *int                                        `json:"total_count"`
		Runs  []struct{ Name, Status, Conclusion string } `json:"check_runs"`
	}
	err = each(ctx, c, path, func(p page) (int, int) {
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

func (c *Client) statuses(ctx context.Context, r ledger.Repo, sha string) ([]prchain.Check, error) {
	path, err := onCommit(r, sha, "/status?per_page=100")
	if err != nil {
		return nil, err
	}
	var out []prchain.Check
	type page struct {
		Total    *int                              `json:"total_count"`
		Statuses []struct{ Context, State string } `json:"statuses"`
	}
	err = each(ctx, c, path, func(p page) (int, int) {
		for _, s := range p.Statuses {
			out = append(out, prchain.Check{Name: oneLine(s.Context), State: oneLine(strings.ToLower(s.State))})
		}
		return len(p.Statuses), counted(p.Total)
	})
	return out, err
}

// counted is a count that has to be there: without it nothing is whole.
func counted(total *int) int {
	if total == nil {
		return -1
	}
	return *total
}
