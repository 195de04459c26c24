package github

import (
	"cmp"
	"context"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
)

// A naming is a pull request that releases in the log of a snapshot name.
type naming struct {
	*snapshot
	id     pullID
	newest claim.Rank // of the releases that name it
}

// addRecorded marks the pull requests that the logs name, and reads those that are not known from
// a closing keyword, all of a batch together. What was unlinked counts by a keyword only.
func (c *Client) addRecorded(ctx context.Context, snapshots []*snapshot) {
	var all []pullID
	var namings []naming
	for _, r := range snapshots {
		if r.err != nil || r.facts.PullRequest {
			continue
		}

		for _, release := range r.facts.Log.Named() {
			id, ok := parsePull(release.PR, c.o.Web)
			if !ok {
				continue
			}
			if known := r.pull(id); known != nil {
				known.Recorded, known.Named = true, release.Newest
				continue
			}

			// the log may spell its address in several ways
			namings = slices.DeleteFunc(namings, func(o naming) bool { return o.snapshot == r && o.id.Same(id) })
			namings = append(namings, naming{r, id, release.Newest})
			all = append(all, id)
		}
	}

	found := c.pullRequests(ctx, all)
	for _, n := range namings {
		read := found[n.id.Folded()]
		read.pr.Named = n.newest

		// GitHub's own list of what it closes may be late
		read.pr.Bare = !closes(n.id, read.body, n.facts.Issue, c.o.Web)
		n.facts.PRs = append(n.facts.PRs, read.pr)
		n.err = cmp.Or(n.err, read.err)
		n.hear(n.id, read.body, "")
	}
}

// A lead is a pull request that an issue's own one calls another part of its chain.
type lead struct {
	*snapshot
	from, to pullID
	said     prchain.Region // by from
}

// addSiblings adds the other parts of the chains that the issues' pull requests are parts of, all
// of a readBatch together. Bodies are text that anybody may write: a part counts only if it and the
// one that names it say the same, and both were opened by somebody whose records count on the
// issue.
func (c *Client) addSiblings(ctx context.Context, snapshots []*snapshot) {
	var leads []lead
	var all []pullID
	for _, r := range snapshots {
		if r.err != nil {
			continue
		}

		for _, p := range r.facts.PRs {
			id := pullOf(p)
			said, ok := r.region(id)
			if !ok {
				continue
			}

			own := said.PRs[said.Part-1]
			// it has copied somebody's text; right after it was opened its number is not in its own
			// yet
			if !own.Same(id) && (own.Number != 0 || !own.SameRepo(id)) {
				continue
			}

			trusted, err := c.MayLabel(ctx, r.facts.Issue.In(), p.Author)
			if r.err = cmp.Or(r.err, err); err != nil || !trusted {
				continue
			}

			for n, to := range said.PRs {
				if n+1 != said.Part && nameable(to) == nil {
					leads = append(leads, lead{r, id, to, said})
					all = append(all, to)
				}
			}
		}
	}

	found := c.pullRequests(ctx, all)
	for _, l := range leads {
		one := found[l.to.Folded()]
		if one.err == nil {
			one.err = c.followLead(ctx, l, one)
		}
		l.err = cmp.Or(l.err, one.err)
	}
}

// followLead takes up a pull request that was named, if it agrees.
func (c *Client) followLead(ctx context.Context, l lead, found foundPull) error {
	said, ok, err := prchain.Find(found.body)
	if err != nil || !ok || found.pr.State == lifecycle.PRUnreadable || !said.Names(l.to, l.said, l.from) {
		return nil
	}

	trusted, err := c.MayLabel(ctx, l.facts.Issue.In(), found.pr.Author)
	if err != nil || !trusted {
		return err
	}

	if p := l.pull(l.from); p != nil {
		p.Chain = said.Feature
	}

	if p := l.pull(l.to); p != nil {
		p.Chain = said.Feature
		return nil
	}

	found.pr.Recorded, found.pr.Sibling, found.pr.Chain = false, true, said.Feature
	l.facts.PRs = append(l.facts.PRs, found.pr)
	return nil
}

// addClosers adds a page of the pull requests that close the issue. One in a repository that the
// token may not see cannot be told apart from none.
func (r *snapshot) addClosers(page *connection[queryPull]) {
	for q := range page.shown() {
		p := q.pr()
		if r.pull(pullOf(p)) == nil {
			r.facts.PRs = append(r.facts.PRs, p)
		}
		r.hear(pullOf(p), q.Body, q.Association)
	}
}

// pull is the pull request of that name, nil when the facts have none. It may be written to.
func (r *snapshot) pull(id pullID) *lifecycle.PR {
	n := slices.IndexFunc(r.facts.PRs, func(p lifecycle.PR) bool { return pullOf(p).Same(id) })
	if n < 0 {
		return nil
	}
	return &r.facts.PRs[n]
}

// A told is what GitHub tells of a pull request besides: its body, and how its author belongs to
// its repository.
type told struct{ body, association string }

func (r *snapshot) hear(id pullID, body, association string) {
	if r.told == nil {
		r.told = map[pullID]told{}
	}
	r.told[id.Folded()] = told{body, association}
}

// region is what the body of a pull request says of its chain, if that is for this issue.
func (r *snapshot) region(id pullID) (said prchain.Region, ok bool) {
	said, ok, err := prchain.Find(r.told[id.Folded()].body)
	return said, err == nil && ok && said.Parent.Same(r.facts.Issue) // damaged marks say nothing
}
