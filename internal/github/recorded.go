package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A pullID names a pull request. Pull requests are numbered like issues.
type pullID = claim.Issue

// parsePull reads the address of a pull request on this GitHub.
func parsePull(text, web string) (pullID, bool) {
	u, err := url.Parse(text)
	home, webErr := url.Parse(web)
	if err != nil || webErr != nil || !strings.EqualFold(u.Host, home.Host) {
		return pullID{}, false
	}
	path, inside := strings.CutPrefix(u.Path, home.Path+"/")
	parts := strings.Split(path, "/")
	if !inside || len(parts) < 4 || parts[2] != "pull" {
		return pullID{}, false
	}
	number, err := strconv.ParseInt(parts[3], 10, 32)
	id := pullID{Owner: parts[0], Repo: parts[1], Number: int(number)}
	return id, err == nil && nameable(id) == nil
}

// A naming is a pull request that releases in a log name.
type naming struct {
	id     pullID
	newest claim.Rank // of the releases that name it
	linked bool       // a release names it and no record unlinked it
}

// recorded lists the pull requests that the releases in a log name, each once.
func (c *Client) recorded(s claim.State) []naming {
	var out []naming
	for _, k := range s.Claims {
		if k.End == nil || k.End.PR == "" {
			continue
		}
		id, ok := parsePull(k.End.PR, c.o.Web)
		if !ok {
			continue
		}
		at := slices.IndexFunc(out, func(n naming) bool { return n.id.Same(id) })
		if at < 0 {
			at, out = len(out), append(out, naming{id: id})
		}
		out[at].linked = out[at].linked || !k.End.Unlinked
		if k.End.Rank().Compare(out[at].newest) > 0 {
			out[at].newest = k.End.Rank()
		}
	}
	return out
}

// addRecorded marks the pull requests that the logs name, and reads those that are not known from
// a closing keyword, all of a batch together. What was unlinked counts by a keyword only.
func (c *Client) addRecorded(ctx context.Context, readings []*reading) {
	var all wanted
	by := map[*reading][]naming{}
	for _, r := range readings {
		if r.err != nil || r.facts.PullRequest {
			continue
		}
		by[r] = slices.DeleteFunc(c.recorded(r.facts.Log), func(n naming) bool { return r.mark(n) || !n.linked })
		for _, n := range by[r] {
			all.add(n.id)
		}
	}
	found := c.pullRequests(ctx, all)
	for r, named := range by {
		for _, n := range named {
			r.take(n, found[all.at(n.id)], c.o.Web)
		}
	}
}

// take adds a pull request that the log names. It is bare unless its description closes the issue: GitHub's own list of what
// it closes may be late.
func (r *reading) take(n naming, found foundPull, web string) {
	found.pr.Named = n.newest
	found.pr.Bare = !closes(n.id, found.body, r.facts.Issue, web)
	r.facts.PRs = append(r.facts.PRs, found.pr)
	r.err = cmp.Or(r.err, found.err)
	r.hear(n.id, found.body, "")
}

// closes reports whether a pull request's description closes the issue.
func closes(id pullID, description string, i claim.Issue, web string) bool {
	home, err := url.Parse(web)
	if err != nil {
		return false
	}
	return closing.Closes(description, closing.Repo{Owner: id.Owner, Name: id.Repo}, home.Host, i)
}

// mark notes that the log names a pull request which is known already.
func (r *reading) mark(n naming) bool {
	for k := range r.facts.PRs {
		p := &r.facts.PRs[k]
		if p.Number == n.id.Number && strings.EqualFold(p.Repo, n.id.Slug()) {
			p.Recorded, p.Named = true, n.newest
			return true
		}
	}
	return false
}

// PullAt reads the pull request at an address, for who says that it is for the issue (ledger.PullReader).
func (c *Client) PullAt(ctx context.Context, address string, i claim.Issue) (lifecycle.PR, error) {
	no := func(format string, args ...any) error {
		return &ledger.NoPullError{Address: oneLine(address), Why: fmt.Sprintf(format, args...)}
	}
	id, ok := parsePull(address, c.o.Web)
	if !ok {
		return lifecycle.PR{}, no("want the URL of a pull request, as in %s/%s/pull/50", c.o.Web, i.Slug())
	}
	p, err := c.Pull(ctx, ledger.Repo{Owner: id.Owner, Name: id.Repo}, id.Number)
	var gone *NotFoundError
	switch {
	case err == nil:
		p.Bare = !closes(id, p.Body, i, c.o.Web) && !slices.ContainsFunc(p.Closes, i.Same)
		return p.PR, nil
	case !errors.As(err, &gone):
		return lifecycle.PR{}, err
	}
	if _, unseen := c.Repository(ctx, ledger.Repo{Owner: id.Owner, Name: id.Repo}); unseen != nil {
		return lifecycle.PR{}, err // the repository is not shown: nobody knows
	}
	if _, other := c.Issue(ctx, id); other == nil {
		return lifecycle.PR{}, no("%s is an issue", id)
	}
	return lifecycle.PR{}, no("%s has no pull request %d", id.Slug(), id.Number)
}

// A foundPull is a pull request, or why nobody knows. One that GitHub does not show is no error.
type foundPull struct {
	id   pullID
	pr   lifecycle.PR
	body string
	err  error
}

func unreadable(id pullID) lifecycle.PR {
	return lifecycle.PR{Repo: id.Slug(), Number: id.Number, State: lifecycle.PRUnreadable, Recorded: true}
}

// missingPull is a pull request that a repository which GitHub shows does not have.
func missingPull(id pullID) lifecycle.PR {
	return lifecycle.PR{Repo: id.Slug(), Number: id.Number, State: lifecycle.PRMissing, Recorded: true}
}

// pullRequests reads pull requests in the order of their ids.
func (c *Client) pullRequests(ctx context.Context, ids []pullID) []foundPull {
	found := make([]*foundPull, len(ids))
	for k, id := range ids {
		found[k] = &foundPull{id: id, pr: unreadable(id)}
	}
	err := c.eitherWay(
		func() error { return bend(ctx, c.doses.pulls, found, c.queryPulls, c.restFound) },
		func() error { return oneByOne(ctx, found, c.restFound) })
	out := make([]foundPull, len(ids))
	for k, one := range found {
		out[k] = *one
		out[k].err = cmp.Or(one.err, err)
	}
	return out
}

func (c *Client) queryPulls(ctx context.Context, wanted []*foundPull) error {
	d := newDocument()
	for k, one := range wanted {
		d.open(fmt.Sprintf("p%d", k), ledger.Repo{Owner: one.id.Owner, Name: one.id.Repo})
		d.add("    pullRequest(number: %d) { ...P }\n  }\n", one.id.Number)
	}
	var data map[string]*struct {
		PullRequest *queryPull
	}
	got, err := c.ask(ctx, d.text(pullFields), d.variables, &data)
	if err != nil {
		return err
	}
	for k, one := range wanted {
		alias := fmt.Sprintf("p%d", k)
		if holder := data[alias]; holder != nil && holder.PullRequest != nil {
			one.know(holder.PullRequest.pr(), holder.PullRequest.Body)
		} else {
			one.miss(got.absence(alias))
			if gone := (*NotFoundError)(nil); holder != nil && errors.As(got.absence(alias), &gone) {
				one.pr = missingPull(one.id)
			}
		}
	}
	return nil
}

// know notes what was read.
func (f *foundPull) know(pr lifecycle.PR, body string) {
	f.pr, f.body, f.err = pr, body, nil
	f.pr.Recorded = true
}

// miss tells a pull request that GitHub does not show from one that could not be read just now.
func (f *foundPull) miss(err error) {
	if !hidden(err) {
		f.err = fmt.Errorf("read pull request %s: %w", f.id, err)
	}
}

// under returns the first error about an alias or anything below it.
func (p partial) under(alias string) error {
	for _, e := range p.errors {
		if e.part(0) == alias || len(e.Path) == 0 {
			return e.typed("")
		}
	}
	return nil
}

// absence is why there is nothing under an alias.
func (p partial) absence(alias string) error {
	if err := p.under(alias); err != nil {
		return err
	}
	return &AnswerError{Status: http.StatusOK, Reason: "something that was asked for is missing"}
}
