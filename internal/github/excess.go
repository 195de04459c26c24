package github

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/lifecycle"
)

// dropExcessive takes out the open pull requests that move none of the issues they name
// (spec.md#facts-of-a-pull-request): anybody may open one that names the whole queue, or many that
// name a few issues each. Whose records count is asked only of authors of whom it matters. What the
// log names stays.
func (c *Client) dropExcessive(ctx context.Context, snapshots []*snapshot, want scope) {
	var ask []account
	var all, doubtful []*opened
	for _, r := range snapshots {
		if r.err != nil {
			continue
		}

		for _, p := range r.facts.PRs {
			if p.State != lifecycle.PROpened || p.Recorded {
				continue
			}

			one := c.opened(r, p)
			all = append(all, one)
			if one.asked(c.o.OutsiderIssues) {
				ask = append(ask, one.author)
			}
		}
	}

	judged := c.judgementOf(ctx, ask)
	for _, one := range all {
		if one.settle(judged) {
			doubtful = append(doubtful, one)
		}
	}

	c.listCrowds(ctx, doubtful)
	for _, one := range all {
		r, id := one.of, pullOf(one.PR)
		excess, err := c.excessOf(one, judged)
		if err != nil {
			r.doubt(err, want)
		}
		if excess == nil {
			if p := r.pull(id); p != nil {
				p.Stranger = one.stranger
			}
			continue
		}

		r.facts.PRs = slices.DeleteFunc(r.facts.PRs, func(p lifecycle.PR) bool { return pullOf(p).Same(id) })
		r.facts.Excessive = append(r.facts.Excessive, *excess)
	}
}

// An opened is an open pull request that no release names, as an issue's repository sees it.
type opened struct {
	lifecycle.PR
	of          *snapshot // whose issue it names; nil where it is looked at for itself
	author      account   // as the issue's repository judges it
	named       []claim.Issue
	association string // of the author to the pull request's repository
	stranger    bool
	unread      error // why it is not known whether the author is one
	// what it names, and of a stranger what all open ones in the repository name, oldest first
	crowd [][]claim.Issue
	place int // of this one among them
}

// opened is an open pull request as it was told of.
func (c *Client) opened(r *snapshot, p lifecycle.PR) *opened {
	told := r.told[pullOf(p).Folded()]
	named := namedIn(c.o.Web, told.body, p.Repo)
	return &opened{
		PR:          p,
		of:          r,
		author:      account{repo: r.facts.Issue.In(), login: p.Author},
		named:       named,
		association: told.association,
		crowd:       [][]claim.Issue{named},
	}
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
	return o.excessive(least) && (o.foreign() || len(o.named) <= lifecycle.MostIssues)
}

// excessive reports whether it may be that it moves none of its issues, unless a release names it.
func (o *opened) excessive(least int) bool { return o.foreign() || len(o.named) > least }

// settle notes whether the author is a stranger: it was found out that the records do not count. An
// author whose role GitHub does not tell to this token is not taken for one.
func (o *opened) settle(judged *judgement) bool {
	if o.foreign() {
		counts, err := judged.of(o.author)
		o.stranger = err == nil && !counts
		if !is[*HiddenRoleError](err) {
			o.unread = err
		}
	}
	return o.stranger
}

// excessOf says why a pull request moves none of its issues; nil when it moves them. The error is
// that it could not be found out.
func (c *Client) excessOf(o *opened, judged *judgement) (*lifecycle.Excess, error) {
	who, n := lifecycle.Member, len(o.named)
	switch {
	case o.unread != nil:
		return nil, o.unread
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

	excess := lifecycle.Excessive(who, !o.home(), c.o.OutsiderIssues, o.crowd)[o.place]
	if excess != nil {
		excess.PR = o.PR
	}

	return excess, nil
}

// An openPull is an open pull request in a list.
type openPull struct {
	Number      int
	Body        string
	User        restUser
	PullRequest *struct{} `json:"pull_request"` // in a list of issues, nil for an issue
}

// An openList is what somebody, or everybody, has open in a repository. It stands for crowdLasts:
// with a hundred strangers a sweep would ask the same again for each of its writes.
type openList struct {
	pulls []openPull
	whole bool
	at    time.Time
}

const crowdLasts = time.Minute

// listCrowds finds out what else strangers have opened in the repository of the issue. Where GitHub
// does not list that, each pull request is judged alone: nobody is offered an issue because of what
// could not be read.
func (c *Client) listCrowds(ctx context.Context, all []*opened) {
	by := map[string][]*opened{}
	authors := map[claim.Repo]int{} // of whom nothing is known yet
	for _, one := range all {
		if !one.home() {
			continue
		}

		k := one.author.key()
		if _, known := c.crowd(one.author); !known && by[k] == nil {
			authors[one.author.repo]++
		}
		by[k] = append(by[k], one)
	}

	for r, n := range authors {
		if n > 1 {
			c.listOpen(ctx, r, n)
		}
	}

	var group errgroup.Group
	group.SetLimit(pagesAtOnce)
	for _, own := range by {
		group.Go(func() error {
			a := own[0].author
			pulls, known := c.crowd(a)
			if !known {
				to := at(a.repo, "/issues").where("creator", a.login, "state", "open", "per_page",
					strconv.Itoa(perPage))
				listed, err := list[openPull](ctx, c, to)
				if err != nil {
					return nil
				}

				pulls = slices.DeleteFunc(listed, func(o openPull) bool { return o.PullRequest == nil })
				c.noteCrowd(a.key(), pulls, true)
			}

			for _, one := range own {
				one.among(pulls, c.o.Web)
			}

			return nil
		})
	}

	_ = group.Wait()
}

// listOpen notes everything that is open in a repository, if that takes no more requests than most.
func (c *Client) listOpen(ctx context.Context, r claim.Repo, most int) {
	if _, asked := c.noted(key(r.String())); asked {
		return
	}

	to := at(r, "/pulls").where("state", "open", "per_page", strconv.Itoa(perPage))
	pulls, header, err := fetch[[]openPull](ctx, c, to)
	last := pageNumber(header, "last")
	for n := 2; err == nil && n <= min(last, most); n++ {
		var more []openPull
		more, header, err = fetch[[]openPull](ctx, c, to.page(n))
		pulls = append(pulls, more...)
	}

	c.noteCrowd(key(r.String()), pulls, err == nil && pageNumber(header, "next") == 0)
}

func (c *Client) noteCrowd(key string, pulls []openPull, whole bool) {
	c.crowds.note(key, openList{pulls, whole, c.o.Clock.Now()})
}

func (c *Client) noted(key string) (openList, bool) {
	got, _ := c.crowds.get(key) // one that is not known is too old
	return got, clock.Passed(got.at, c.o.Clock.Now()) < crowdLasts
}

// crowd is what is known of an account's open pull requests.
func (c *Client) crowd(a account) (pulls []openPull, known bool) {
	if own, noted := c.noted(a.key()); noted {
		return own.pulls, true
	}

	all, noted := c.noted(key(a.repo.String()))
	if !noted || !all.whole {
		return nil, false
	}
	for _, o := range all.pulls {
		if claim.SameLogin(o.User.Login, a.login) {
			pulls = append(pulls, o)
		}
	}

	return pulls, true
}

// among takes in what its author's open pull requests name.
func (o *opened) among(listed []openPull, web string) {
	listed = slices.Clone(listed)
	if !slices.ContainsFunc(listed, func(i openPull) bool { return i.Number == o.Number }) {
		listed = append(listed, openPull{Number: o.Number})
	}
	slices.SortFunc(listed, func(a, b openPull) int { return cmp.Compare(a.Number, b.Number) })
	o.crowd = make([][]claim.Issue, len(listed))
	for n, i := range listed {
		o.crowd[n] = namedIn(web, i.Body, o.Repo)
		if i.Number == o.Number {
			o.place, o.crowd[n] = n, o.named
		}
	}
}

// Outside reports whether the author may be a stranger: no App, and nobody whom GitHub calls an
// owner, a member or a collaborator.
func (p Pull) Outside() bool {
	return p.opened(nil).foreign()
}

// opened is the pull request as its own repository sees it.
func (p Pull) opened(named []claim.Issue) *opened {
	return &opened{
		PR:          p.PR,
		author:      account{repo: place(p.Repo), login: p.Author},
		named:       named,
		association: p.association,
		crowd:       [][]claim.Issue{named},
	}
}

// Excess says why an open pull request moves none of the issues that it names; nil when it moves
// them. The error is that it could not be found out.
func (c *Client) Excess(ctx context.Context, p Pull, named []claim.Issue) (*lifecycle.Excess, error) {
	one := p.opened(named)
	var judged *judgement
	if one.asked(c.o.OutsiderIssues) {
		judged = c.judgementOf(ctx, []account{one.author})
		if one.settle(judged) {
			c.listCrowds(ctx, []*opened{one})
		}
	}

	return c.excessOf(one, judged)
}

// namedIn are the issues that a description closes, each once.
func namedIn(web, body, repo string) []claim.Issue {
	return closing.InDescription(body, place(repo), hostOf(web))
}
