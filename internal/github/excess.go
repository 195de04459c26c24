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

// outsiders keeps pull requests of those whose records do not count from moving more issues than they may.
type outsiders struct {
	api   *api
	roles *roles
	limit int    // issues that all open ones of one author move together
	web   string // where people look
}

// dropExcessive takes out the open pull requests that move none of the issues they name (spec.md#facts-of-a-pull-request): anybody may
// open one that names the whole queue, or many that name a few issues each. Whose records count is asked only of authors of whom it
// matters. What the log names stays.
func (ou *outsiders) dropExcessive(ctx context.Context, snapshots []*snapshot, want scope) {
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
			one := &opened{PR: *p, author: author, named: namedIn(ou.web, r.bodies[id], p.Repo), association: r.associations[id]}
			of[r] = append(of[r], one)
			if one.asked(ou.limit) {
				ask = append(ask, one.author)
			}
		}
	}
	judged := ou.roles.judge(ctx, ask)
	for _, all := range of {
		for _, one := range all {
			if one.settle(judged) {
				doubtful = append(doubtful, one)
			}
		}
	}
	ou.allow(ctx, doubtful)
	for r, all := range of {
		for _, one := range all {
			excess, err := ou.excess(one, judged)
			if err != nil {
				r.doubt(err, want)
			}
			r.facts.PRs = slices.DeleteFunc(r.facts.PRs, func(p lifecycle.PR) bool { return excess != nil && pullOf(p).Same(pullOf(one.PR)) })
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

// foreign reports whether the author may be a stranger: no App, because those are installed by somebody who may, and nobody whom GitHub calls
// an owner, a member or a collaborator of the issue's repository.
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

// excess says why a pull request moves none of its issues; nil when it moves them. The error is that it could not be found out.
func (ou *outsiders) excess(o *opened, judged judgement) (*lifecycle.Excess, error) {
	n, most := len(o.named), ou.limit
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

// allow finds out which pull requests of strangers move their issues: all open ones of one stranger in the repository move outsider_issues
// issues together, the oldest first, and none in another repository. Where GitHub does not list them, each stands: nobody
// is offered an issue because of what could not be read.
func (ou *outsiders) allow(ctx context.Context, all []*opened) {
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
			to := at(a.repo.Owner, a.repo.Name, "/issues").where("creator", a.login, "state", "open", "per_page", strconv.Itoa(perPage))
			listed, _, err := list[restIssue](ctx, ou.api, to)
			if err != nil {
				return nil
			}
			listed = slices.DeleteFunc(listed, func(i restIssue) bool { return i.PullRequest == nil })
			mu.Lock()
			defer mu.Unlock()
			for _, one := range own {
				one.excess = ou.among(one, listed)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// among says what a stranger's open pull requests leave one of them to move; nil when it moves its issues.
func (ou *outsiders) among(o *opened, listed []restIssue) *lifecycle.Excess {
	if !slices.ContainsFunc(listed, func(i restIssue) bool { return i.Number == o.Number }) {
		listed = append(slices.Clone(listed), restIssue{Number: o.Number})
	}
	slices.SortFunc(listed, func(a, b restIssue) int { return cmp.Compare(a.Number, b.Number) })
	place, named := 0, make([][]claim.Issue, len(listed))
	for n, i := range listed {
		named[n] = namedIn(ou.web, i.Body, o.Repo)
		if i.Number == o.Number {
			place, named[n] = n, o.named
		}
	}
	moves, before := lifecycle.Allowance(ou.limit, named)
	if moves[place] {
		return nil
	}
	return &lifecycle.Excess{PR: o.PR, Issues: len(o.named), Before: before[place], Most: ou.limit}
}

// Excess says why an open pull request moves none of the issues that it names; nil when it moves them. The error is that it could
// not be found out.
func (ou *outsiders) Excess(ctx context.Context, p Pull, named []claim.Issue) (*lifecycle.Excess, error) {
	one := &opened{PR: p.PR, author: account{repo: place(p.Repo), login: p.Author}, named: named, association: p.association}
	var judged judgement
	if one.asked(ou.limit) {
		judged = ou.roles.judge(ctx, []account{one.author})
		if one.settle(judged) {
			ou.allow(ctx, []*opened{one})
		}
	}
	return ou.excess(one, judged)
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
