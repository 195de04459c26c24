package github

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// dropExcessive takes out the open pull requests that move none of the issues they name
// (spec.md#facts-of-a-pull-request): anybody may open one that names the whole queue, or many that
// name a few issues each. Whose records count is asked only of authors of whom it matters. What the
// log names stays.
func (c *Client) dropExcessive(ctx context.Context, snapshots []*snapshot, want scope) {
	var ask []account
	var doubtful []*opened
	of := map[*snapshot][]*opened{}
	for _, r := range snapshots {
		if r.err != nil {
			continue
		}

		for n := range r.facts.PRs {
			p := &r.facts.PRs[n]
			if p.State != lifecycle.PROpened || p.Recorded {
				continue
			}

			id := key(pullOf(*p).String())
			author := account{repo: ledger.Repo{Owner: r.facts.Issue.Owner, Name: r.facts.Issue.Repo}, login: p.Author}
			one := &opened{
				PR:          *p,
				author:      author,
				named:       namedIn(c.o.Web, r.bodies[id], p.Repo),
				association: r.associations[id],
			}
			of[r] = append(of[r], one)
			if one.asked(c.o.OutsiderIssues) {
				ask = append(ask, one.author)
			}
		}
	}

	judged := c.judge(ctx, ask)
	for _, all := range of {
		for _, one := range all {
			if one.settle(judged) {
				doubtful = append(doubtful, one)
			}
		}
	}

	c.listCrowds(ctx, doubtful)
	for r, all := range of {
		for _, one := range all {
			excess, err := c.excessOf(one, judged)
			if err != nil {
				r.doubt(err, want)
			}

			r.facts.PRs = slices.DeleteFunc(r.facts.PRs,
				func(p lifecycle.PR) bool { return excess != nil && pullOf(p).Same(pullOf(one.PR)) })
			if excess != nil {
				r.facts.Excessive = append(r.facts.Excessive, *excess)
			}

			if p := r.pull(pullOf(one.PR)); p != nil {
				p.Stranger = one.stranger
			}
		}
	}
}

// An opened is an open pull request that no release names, as an issue's repository sees it.
type opened struct {
	lifecycle.PR
	author      account // as the issue's repository judges it
	named       []claim.Issue
	association string // of the author to the pull request's repository
	stranger    bool
	crowd       [][]claim.Issue // of a stranger, what all open ones in the repository name, oldest first; nil if not listed
	place       int             // of this one among them
}

// home reports whether it is in the issue's repository.
func (o *opened) home() bool { return strings.EqualFold(o.Repo, o.author.repo.String()) }

// foreign reports whether the author may be a stranger: no App, because those are installed by
// somebody who may, and nobody whom GitHub calls an owner, a member or a collaborator of the
// issue's repository.
func (o *opened) foreign() bool {
	inside := o.home() && (o.association == "OWNER" || belongs(o.association))
	return !inside && !o.author.isApp()
}

// asked reports whether it matters if the author's records count.
func (o *opened) asked(least int) bool {
	return o.foreign() || len(o.named) > least && len(o.named) <= lifecycle.MostIssues
}

// settle notes whether the author is a stranger: it was found out that the records do not count.
func (o *opened) settle(judged judgement) bool {
	if o.foreign() {
		counts, err := judged.of(o.author)
		o.stranger = err == nil && !counts
	}
	return o.stranger
}

// excessOf says why a pull request moves none of its issues; nil when it moves them. The error is
// that it could not be found out.
func (c *Client) excessOf(o *opened, judged judgement) (*lifecycle.Excess, error) {
	who, n := lifecycle.Member, len(o.named)
	switch {
	case o.stranger:
		who = lifecycle.Stranger
	case n > c.o.OutsiderIssues && n <= lifecycle.MostIssues:
		counts, err := judged.of(o.author)
		if err != nil {
			return nil, err
		}
		if !counts {
			who = lifecycle.Outsider
		}
	}

	crowd := o.crowd
	if crowd == nil {
		crowd = [][]claim.Issue{o.named}
	}

	excess := lifecycle.Excessive(who, !o.home(), c.o.OutsiderIssues, crowd)[o.place]
	if excess != nil {
		excess.PR = o.PR
	}

	return excess, nil
}

// listCrowds finds out what else strangers have opened in the repository of the issue. Where GitHub
// does not list that, each pull request is judged alone: nobody is offered an issue because of what
// could not be read.
func (c *Client) listCrowds(ctx context.Context, all []*opened) {
	by := map[string][]*opened{}
	for _, one := range all {
		if one.home() {
			by[one.author.key()] = append(by[one.author.key()], one)
		}
	}

	var group errgroup.Group
	group.SetLimit(pagesAtOnce)
	for _, own := range by {
		group.Go(func() error {
			a := own[0].author
			to := at(a.repo.Owner, a.repo.Name, "/issues").where("creator", a.login, "state", "open", "per_page",
				strconv.Itoa(perPage))
			listed, _, err := list[restIssue](ctx, c.api, to)
			if err != nil {
				return nil
			}

			listed = slices.DeleteFunc(listed, func(i restIssue) bool { return i.PullRequest == nil })
			for _, one := range own {
				one.crowd, one.place = c.crowdOf(one, listed)
			}

			return nil
		})
	}

	_ = group.Wait()
}

// crowdOf is what a stranger's open pull requests name, oldest first, and the place of one of them.
func (c *Client) crowdOf(o *opened, listed []restIssue) (named [][]claim.Issue, place int) {
	if !slices.ContainsFunc(listed, func(i restIssue) bool { return i.Number == o.Number }) {
		listed = append(slices.Clone(listed), restIssue{Number: o.Number})
	}
	slices.SortFunc(listed, func(a, b restIssue) int { return cmp.Compare(a.Number, b.Number) })
	named = make([][]claim.Issue, len(listed))
	for n, i := range listed {
		named[n] = namedIn(c.o.Web, i.Body, o.Repo)
		if i.Number == o.Number {
			place, named[n] = n, o.named
		}
	}

	return named, place
}

// Outside reports whether the author may be a stranger: no App, and nobody whom GitHub calls an
// owner, a member or a collaborator.
func (p Pull) Outside() bool {
	one := opened{PR: p.PR, author: account{repo: place(p.Repo), login: p.Author}, association: p.association}
	return one.foreign()
}

// Excess says why an open pull request moves none of the issues that it names; nil when it moves
// them. The error is that it could not be found out.
func (c *Client) Excess(ctx context.Context, p Pull, named []claim.Issue) (*lifecycle.Excess, error) {
	one := &opened{
		PR:          p.PR,
		author:      account{repo: place(p.Repo), login: p.Author},
		named:       named,
		association: p.association,
	}
	var judged judgement
	if one.asked(c.o.OutsiderIssues) {
		judged = c.judge(ctx, []account{one.author})
		if one.settle(judged) {
			c.listCrowds(ctx, []*opened{one})
		}
	}

	return c.excessOf(one, judged)
}

// namedIn are the issues that a description closes, each once.
func namedIn(web, body, repo string) []claim.Issue {
	in := place(repo)
	var out []claim.Issue
	for _, ref := range closing.InDescription(body, closing.Repo{Owner: in.Owner, Name: in.Name}, hostOf(web)) {
		out = append(out, ref.Issue)
	}
	return out
}
