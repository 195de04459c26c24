package github

import (
	"cmp"
	"context"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
)

// hear remembers a pull request's body, how its author belongs to its repository as GitHub says, and what the body says of its chain, if
// that is for this issue.
func (r *reading) hear(id pullID, body, association string) {
	if r.bodies == nil {
		r.bodies, r.associations = map[string]string{}, map[string]string{}
	}
	r.bodies[key(id.String())], r.associations[key(id.String())] = body, association
	said, ok, err := prchain.Find(body)
	if err != nil || !ok || !said.Parent.Same(r.facts.Issue) {
		return // damaged marks say nothing
	}
	if r.regions == nil {
		r.regions = map[string]prchain.Region{}
	}
	r.regions[key(id.String())] = said
}

// pullOf is a pull request's name.
func pullOf(p lifecycle.PR) pullID {
	owner, name, _ := strings.Cut(p.Repo, "/")
	return pullID{Owner: owner, Repo: name, Number: p.Number}
}

// A lead is a pull request that an issue's own one calls another part of its chain.
type lead struct {
	*reading
	from, to pullID
	said     prchain.Region // by from
}

// addSiblings adds the other parts of the chains that the issues' pull requests are parts of, all of a
// batch together. Bodies are text that anybody may write: a part counts only if it and the one that
// names it say the same, and both were opened by somebody whose records count on the issue.
func (c *Client) addSiblings(ctx context.Context, readings []*reading) {
	var leads []lead
	var all wanted
	for _, r := range readings {
		for _, l := range c.leads(ctx, r) {
			leads = append(leads, l)
			all.add(l.to)
		}
	}
	found := c.pullRequests(ctx, all)
	for _, l := range leads {
		one := found[all.at(l.to)]
		if one.err == nil {
			one.err = c.follow(ctx, l, one)
		}
		l.err = cmp.Or(l.err, one.err)
	}
}

// leads lists what the pull requests of an issue name. One that does not know its own place has
// copied somebody's text.
func (c *Client) leads(ctx context.Context, r *reading) []lead {
	var out []lead
	if r.err != nil {
		return nil
	}
	for _, p := range r.facts.PRs {
		id := pullOf(p)
		said, ok := r.regions[key(id.String())]
		if !ok || !itself(said.PRs[said.Part-1], id) {
			continue
		}
		trusted, err := c.vouches(ctx, r.facts.Issue, p.Author)
		if r.err = cmp.Or(r.err, err); err != nil || !trusted {
			continue
		}
		for n, to := range said.PRs {
			if n+1 != said.Part && to.Number > 0 && nameable(to) == nil {
				out = append(out, lead{r, id, to, said})
			}
		}
	}
	return out
}

// itself reports whether a place in a region is the pull request's own; right after it was opened its
// number is not in it yet.
func itself(place, id pullID) bool {
	return place.Same(id) || place.Number == 0 && place.SameRepo(id)
}

// vouches reports whether what a pull request's author says of a chain counts on an issue.
func (c *Client) vouches(ctx context.Context, i claim.Issue, author string) (bool, error) {
	return c.counts(ctx, account{repo: ledger.Repo{Owner: i.Owner, Name: i.Repo}, login: author})
}

// follow takes up a pull request that was named, if it agrees.
func (c *Client) follow(ctx context.Context, l lead, found foundPull) error {
	said, ok, err := prchain.Find(found.body)
	if err != nil || !ok || found.pr.State == lifecycle.PRUnreadable || !said.Names(l.to, l.said, l.from) {
		return nil
	}
	trusted, err := c.vouches(ctx, l.facts.Issue, found.pr.Author)
	if err != nil || !trusted {
		return err
	}
	l.join(l.from, said.Feature)
	if !l.join(l.to, said.Feature) {
		found.pr.Recorded, found.pr.Sibling, found.pr.Chain = false, true, said.Feature
		l.facts.PRs = append(l.facts.PRs, found.pr)
	}
	return nil
}

// join marks a pull request that is known as a part of a chain.
func (r *reading) join(id pullID, feature string) (known bool) {
	for n := range r.facts.PRs {
		if pullOf(r.facts.PRs[n]).Same(id) {
			r.facts.PRs[n].Chain = feature
			return true
		}
	}
	return false
}
