package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/claim"
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

// recorded lists the pull requests that the releases in a log name, each once.
func (c *Client) recorded(s claim.State) []pullID {
	var out []pullID
	for _, k := range s.Claims {
		if k.End == nil || k.End.PR == "" {
			continue
		}
		id, ok := parsePull(k.End.PR, c.o.Web)
		if ok && !slices.ContainsFunc(out, id.Same) {
			out = append(out, id)
		}
	}
	return out
}

// addRecorded marks the pull requests that the logs name, and reads those that are not known from
// a closing keyword, all of a batch together.
func (c *Client) addRecorded(ctx context.Context, readings []*reading) {
	var all wanted
	by := map[*reading][]pullID{}
	for _, r := range readings {
		if r.err != nil {
			continue
		}
		by[r] = slices.DeleteFunc(c.recorded(r.facts.Log), r.mark)
		for _, id := range by[r] {
			all.add(id)
		}
	}
	found := c.pullRequests(ctx, all)
	for r, ids := range by {
		for _, id := range ids {
			r.take(id, found[all.at(id)])
		}
	}
}

// take adds a pull request that the log names.
func (r *reading) take(id pullID, found foundPull) {
	r.facts.PRs = append(r.facts.PRs, found.pr)
	r.err = cmp.Or(r.err, found.err)
	r.hear(id, found.body)
}

// mark notes that the log names a pull request which is known already.
func (r *reading) mark(id pullID) bool {
	for k := range r.facts.PRs {
		p := &r.facts.PRs[k]
		if p.Number == id.Number && strings.EqualFold(p.Repo, id.Slug()) {
			p.Recorded = true
			return true
		}
	}
	return false
}

// A foundPull is a pull request, or why nobody knows. One that GitHub does not show is no error.
type foundPull struct {
	pr   lifecycle.PR
	body string
	err  error
}

func unreadable(id pullID) lifecycle.PR {
	return lifecycle.PR{Repo: id.Slug(), Number: id.Number, State: lifecycle.PRUnreadable, Recorded: true}
}

// pullRequests reads pull requests in the order of their ids.
func (c *Client) pullRequests(ctx context.Context, ids []pullID) []foundPull {
	var out []foundPull
	for part := range slices.Chunk(ids, perQuery) {
		var found []foundPull
		err := c.eitherWay(
			func() (err error) { found, err = c.queryPulls(ctx, part); return err },
			func() error { found = c.restPulls(ctx, part); return nil })
		if err != nil {
			found = slices.Repeat([]foundPull{{err: err}}, len(part))
		}
		out = append(out, found...)
	}
	return out
}

func (c *Client) queryPulls(ctx context.Context, ids []pullID) ([]foundPull, error) {
	d := newDocument()
	for k, id := range ids {
		d.open(fmt.Sprintf("p%d", k), ledger.Repo{Owner: id.Owner, Name: id.Repo})
		d.add("    pullRequest(number: %d) { ...P }\n  }\n", id.Number)
	}
	var data map[string]*struct {
		PullRequest *queryPull
	}
	got, err := c.ask(ctx, d.text(pullFields), d.variables, &data)
	if err != nil {
		return nil, err
	}
	found := make([]foundPull, len(ids))
	for k, id := range ids {
		alias := fmt.Sprintf("p%d", k)
		if holder := data[alias]; holder != nil && holder.PullRequest != nil {
			found[k].pr, found[k].body = holder.PullRequest.pr(), holder.PullRequest.Body
			found[k].pr.Recorded = true
			continue
		}
		found[k] = absent(id, got.absence(alias))
	}
	return found, nil
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

// absent tells a pull request that GitHub does not show from one that could not be read just now.
func absent(id pullID, err error) foundPull {
	if hidden(err) {
		return foundPull{pr: unreadable(id)}
	}
	return foundPull{pr: unreadable(id), err: fmt.Errorf("read pull request %s: %w", id, err)}
}
