package github

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

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

	c.dropCrowds(ctx, doubtful)
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
	excess      *lifecycle.Excess // of a stranger, what the older ones say of this one
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
	n, most := len(o.named), c.o.OutsiderIssues
	switch {
	case n > lifecycle.MostIssues:
		most = lifecycle.MostIssues
	case n > most:
		if counts, err := judged.of(o.author); err != nil || counts {
			return nil, err
		}
	default:
		return o.excess, nil
	}

	return &lifecycle.Excess{PR: o.PR, Issues: n, Most: most}, nil
}

// dropCrowds finds out which pull requests of strangers move their issues: all open ones of one
// stranger in the repository move outsider_issues issues together, the oldest first, and none in
// another repository. Where GitHub does not list them, each stands: nobody is offered an issue
// because of what could not be read.
func (c *Client) dropCrowds(ctx context.Context, all []*opened) {
	by := map[string][]*opened{}
	for _, one := range all {
		if !one.home() {
			one.excess = &lifecycle.Excess{PR: one.PR, Issues: len(one.named)}
			continue
		}
		by[one.author.key()] = append(by[one.author.key()], one)
	}

	var group errgroup.Group
	group.SetLimit(pagesAtOnce)
	var mu sync.Mutex
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
			mu.Lock()
			defer mu.Unlock()

			for _, one := range own {
				one.excess = c.crowdOf(one, listed)
			}

			return nil
		})
	}

	_ = group.Wait()
}

// crowdOf says what a stranger's open pull requests leave one of them to move; nil when it moves
// its issues.
func (c *Client) crowdOf(o *opened, listed []restIssue) *lifecycle.Excess {
	if !slices.ContainsFunc(listed, func(i restIssue) bool { return i.Number == o.Number }) {
		listed = append(slices.Clone(listed), restIssue{Number: o.Number})
	}
	slices.SortFunc(listed, func(a, b restIssue) int { return cmp.Compare(a.Number, b.Number) })
	place, named := 0, make([][]claim.Issue, len(listed))
	for n, i := range listed {
		named[n] = namedIn(c.o.Web, i.Body, o.Repo)
		if i.Number == o.Number {
			place, named[n] = n, o.named
		}
	}

	moves, before := lifecycle.Allowance(c.o.OutsiderIssues, named)
	if moves[place] {
		return nil
	}

	return &lifecycle.Excess{
		PR:     o.PR,
		Issues: len(o.named),
		Before: before[place],
		Most:   c.o.OutsiderIssues,
	}
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
			c.dropCrowds(ctx, []*opened{one})
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
