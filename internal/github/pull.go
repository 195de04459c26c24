package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
)

// A Pull is a pull request with what it says about issues.
type Pull struct {
	lifecycle.PR
	Body     string
	Comments int           // how many there are, those of reviews left out
	Closes   []claim.Issue // as GitHub reads the description and the links

	association string // of the author to the repository
}

// Pull reads one pull request. One that is not there, or that the token may not see, is a
// *NotFoundError.
func (c *Client) Pull(ctx context.Context, r claim.Repo, number int) (out Pull, err error) {
	id := r.Issue(number)
	if err = nameable(id); err == nil {
		d := newDocument()
		d.add("    pullRequest(number: %d) { "+wholePull+" }\n", number)
		var q queryWholePull
		if err = c.askWhole(ctx, r, d, &q, "pullRequest"); err == nil {
			out, err = q.whole()
		}
	}

	return out, failed(missing(err, pullObject(id)), "read pull request %s", id)
}

// wholePull selects a queryWholePull.
const wholePull = "...P comments(first: 1) { totalCount } " +
	"closingIssuesReferences(first: 100) { totalCount nodes { number repository { nameWithOwner } } }"

// whole is the pull request with what it says about issues.
func (q queryWholePull) whole() (Pull, error) {
	out := Pull{
		PR:          q.pr(),
		Body:        q.Body,
		Comments:    q.Comments.TotalCount,
		association: q.Association,
	}

	if q.Closes == nil {
		return out, unusable("closing references are missing")
	}

	for n := range q.Closes.shown() { // the others are in repositories that the token may not see
		in := place(n.Repository.NameWithOwner)
		out.Closes = append(out.Closes, in.Issue(n.Number))
	}

	return out, nil
}

// A queryWholePull is a pull request with the issues it closes.
type queryWholePull struct {
	queryPull
	Comments struct{ TotalCount int }
	Closes   *connection[struct {
		Number     int
		Repository slugged
	}] `json:"closingIssuesReferences"`
}

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

// pullOf is a pull request's name.
func pullOf(p lifecycle.PR) pullID {
	in := place(p.Repo)
	return in.Issue(p.Number)
}

// onPull is a pull request.
func onPull(i claim.Issue) target {
	if err := nameable(i); err != nil {
		return target{err: err}
	}
	return at(i.In(), "/pulls/%d", i.Number).about(pullObject(i))
}

// PullAt reads the pull request at an address, for a caller that says that it is for the issue
// (ledger.Forge).
func (c *Client) PullAt(ctx context.Context, address string, i claim.Issue) (lifecycle.PR, error) {
	no := func(format string, args ...any) error {
		return &answer.Problem{
			Code: answer.NoPull,
			Why:  fmt.Sprintf("pull request %q: %s", oneLine(address), fmt.Sprintf(format, args...)),
		}
	}

	if n, short := closing.ParseNumber(strings.TrimPrefix(address, "#")); short {
		address = fmt.Sprintf("%s/%s/pull/%d", c.o.Web, i.Slug(), n)
	}
	id, ok := parsePull(address, c.o.Web)
	if !ok {
		return lifecycle.PR{}, no("expected the URL of a pull request, as in %s/%s/pull/50", c.o.Web, i.Slug())
	}

	p, err := c.Pull(ctx, id.In(), id.Number)
	switch {
	case err == nil:
		p.Bare = !closes(id, p.Body, i, c.o.Web) && !slices.ContainsFunc(p.Closes, i.Same)
		return p.PR, nil
	case !is[*NotFoundError](err):
		return lifecycle.PR{}, err
	}

	if _, unseen := c.Repository(ctx, id.In()); unseen != nil {
		return lifecycle.PR{}, err // the repository is not shown: nobody knows
	}
	if _, other := c.Issue(ctx, id); other == nil {
		return lifecycle.PR{}, no("%s is an issue", id)
	}

	return lifecycle.PR{}, no("%s has no pull request %d", id.Slug(), id.Number)
}

// closes reports whether a pull request's description closes the issue.
func closes(id pullID, description string, i claim.Issue, web string) bool {
	return closing.Closes(description, id.In(), hostOf(web), i)
}

// hostOf is the host of a web address that is known to be one.
func hostOf(web string) string {
	u, err := url.Parse(web)
	if err != nil {
		return ""
	}
	return u.Host
}

// PullsFrom lists the pull requests of every state from a branch of the repository itself, newest
// first.
func (c *Client) PullsFrom(ctx context.Context, repo, branch string) (out []prchain.Pull, err error) {
	got, err := c.restPullsFrom(ctx, place(repo), place(repo), branch, "all")
	for _, p := range got {
		out = append(out, p.part())
	}
	return out, failed(err, "list pull requests of %s", repo)
}

// restPullsFrom lists the pull requests into a repository from a branch of head, newest first. The
// state is open, closed or all.
func (c *Client) restPullsFrom(ctx context.Context, into, head claim.Repo, branch, state string) ([]restPull, error) {
	to := at(into, "/pulls?state=%s&sort=created&direction=desc&per_page=100&head=%s", state,
		url.QueryEscape(head.Owner+":"+branch))
	got, err := list[restPull](ctx, c, to)
	return slices.DeleteFunc(got, func(p restPull) bool {
		return p.Head.Ref != branch || !strings.EqualFold(p.Head.Repo.repo().String(), head.String())
	}), err
}

// OpenPull opens a pull request. Unless the error's Rejected is true it may be open all the same.
func (c *Client) OpenPull(ctx context.Context, repo string, p prchain.Proposal) (prchain.Pull, error) {
	r := place(repo)
	var got restPull
	body := map[string]string{
		"title": p.Title,
		"body":  p.Body,
		"head":  p.Branch,
		"base":  p.Base,
	}
	_, err := c.send(ctx, http.MethodPost, at(r, "/pulls"), body, &got)
	if err == nil && (got.Number < 1 || got.Base.Ref == "") {
		err = &AnswerError{Status: http.StatusCreated, Reason: "it is not a pull request"}
	}

	if err != nil {
		return prchain.Pull{}, failed(err, "open pull request in %s", repo)
	}

	return got.part(), nil
}

// ReadPull reads one pull request by REST, with its newest commit and its labels. The caller knows
// that it is there: a 404 may be a replica that has not heard of it yet.
func (c *Client) ReadPull(ctx context.Context, i claim.Issue) (prchain.Pull, error) {
	got, _, err := fetch[restPull](hinted(ctx, justCreated), c, onPull(i))
	if err == nil && (got.Number != i.Number || got.Base.Ref == "") {
		err = unusable("it is not the pull request")
	}

	if err != nil {
		return prchain.Pull{}, failed(err, "read pull request %s", i)
	}

	return got.part(), nil
}

// part is the pull request as a part of a chain.
func (p restPull) part() prchain.Pull {
	out := prchain.Pull{
		ID:    p.Base.Repo.repo().Issue(p.Number),
		URL:   p.HTMLURL,
		Title: p.Title,
		Body:  p.Body,
		State: p.State,
		Base:  p.Base.Ref,
		SHA:   p.Head.SHA,
	}

	if !p.MergedAt.IsZero() {
		out.State = prchain.Merged
	}

	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.Name)
	}

	return out
}

// EditPullBody replaces the body of a pull request.
func (c *Client) EditPullBody(ctx context.Context, i claim.Issue, body string) error {
	_, err := c.send(ctx, http.MethodPatch, onPull(i), map[string]string{"body": body}, nil)
	return failed(err, "edit pull request %s", i)
}

// A foundPull is a pull request that a log names, or a part of its chain, or why nobody knows. One
// that GitHub does not show is not an error.
type foundPull struct {
	pr   lifecycle.PR
	body string
	err  error
}

// pullRequests reads pull requests, each once. They are found by the one spelling of their names.
// One of which only the log tells could not be read, or its repository does not have it.
func (c *Client) pullRequests(ctx context.Context, ids []pullID) map[pullID]foundPull {
	out := map[pullID]foundPull{}
	for name, one := range lookUp[queryPull](ctx, c, ids, "pullRequest(number: %d) { ...P }") {
		f := foundPull{
			pr:  lifecycle.PR{Repo: one.id.Slug(), Number: one.id.Number, State: lifecycle.PRUnreadable},
			err: failed(one.err, "read pull request %s", one.id),
		}
		switch {
		case one.found != nil:
			f.pr, f.body = one.found.pr(), one.found.Body
		case one.absent:
			f.pr.State = lifecycle.PRMissing
		}

		f.pr.Recorded = true
		out[name] = f
	}

	return out
}
