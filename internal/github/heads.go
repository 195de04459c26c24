package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

const (
	headsPerQuery = 10 // branches in one query
	pullsPerHead  = 20 // pull requests from branches of one name; repositories that are forked often have more
)

// A Head is an open pull request with the branch that it is from.
type Head struct {
	Branch string
	Pull   claim.Issue
	lifecycle.Snapshot
	Elsewhere bool // it is in the repository that this one is a fork of, and was not read
}

// HoldersOfHeads is HoldersOf for the open pull requests from branches of head: of those into home,
// and, where head is home itself and a fork, of those into its parent, which are named only. It is
// one request for ten branches, as long as few repositories have branches of the same names, and
// reads Options.Along with it.
func (c *Client) HoldersOfHeads(ctx context.Context, home, head claim.Repo, branches []string) ([]Head, error) {
	var out []Head
	var unread error
	h := halves[string]{
		ask: func(ctx context.Context, part []string) error {
			found, crowded, err := c.queryHeads(ctx, home, head, part)
			if err == nil && len(crowded) > 0 { // it does not show all that are from these
				var more []Head
				more, err = c.restHeads(ctx, home, head, crowded)
				found = append(found, more...)
			}
			if err == nil {
				out = append(out, found...)
			}
			return err
		},
		alone: func(ctx context.Context, branch string, _ error) error {
			found, err := c.restHeads(ctx, home, head, []string{branch})
			out, unread = append(out, found...), cmp.Or(unread, err)
			return err
		},
	}

	if err := cmp.Or(h.read(ctx, branches, headsPerQuery), unread); err != nil {
		return nil, missing(err, repository(home))
	}

	return out, nil
}

// A queryHead is a pull request with the repository of its branch.
type queryHead struct {
	queryIssue
	HeadRepository *slugged
}

// from reports whether the branch is one of a repository.
func (q *queryHead) from(head claim.Repo) bool {
	return q != nil && q.HeadRepository != nil && strings.EqualFold(q.HeadRepository.NameWithOwner, head.String())
}

// A headList is the open pull requests of a repository from branches of one name.
type headList = connection[queryHead]

// queryHeads asks by one query. crowded are the branches of whose pull requests it does not show
// all.
func (c *Client) queryHeads(ctx context.Context, home, head claim.Repo,
	branches []string,
) (found []Head, crowded []string, err error) {
	d := newDocument()
	d.much = ofMany()
	d.add("  viewer { login }\n")
	c.openSheet(d, "r0", home)
	own, parents := "", "    parent { nameWithOwner\n"
	for k, branch := range branches {
		list := fmt.Sprintf("h%d: pullRequests(headRefName: %s, states: OPEN, first: %d, orderBy: {field: CREATED_AT, direction: DESC})",
			k, d.bind("String!", branch), pullsPerHead)
		own += "    " + list + " { totalCount nodes { __typename ...Q headRepository { nameWithOwner } } }\n"
		parents += "      " + list + " { totalCount nodes { number headRepository { nameWithOwner } } }\n"
	}

	if head == home {
		own += "    nameWithOwner\n" + parents + "    }\n"
	}

	d.add("%s", own)
	s, err := c.askSheet(ctx, home, d)
	if err != nil {
		return nil, nil, err
	}

	if head == home {
		var now string // a repository that was renamed answers to its old name, and its branches are under the new one
		if json.Unmarshal(s.fields["nameWithOwner"], &now) != nil || now == "" {
			return nil, nil, unusable("the name of " + home.String() + " is missing")
		}
		head = place(now)
	}

	return c.takeHeads(ctx, s, head, branches)
}

// takeHeads finds the pull requests of the branches in an answer, and reads what it left out of
// them.
func (c *Client) takeHeads(ctx context.Context, s sheet, head claim.Repo,
	branches []string,
) (found []Head, crowded []string, err error) {
	var parent struct{ NameWithOwner string }
	var inParent map[string]json.RawMessage
	if raw := s.fields["parent"]; raw != nil && string(raw) != "null" {
		if json.Unmarshal(raw, &parent) != nil || json.Unmarshal(raw, &inParent) != nil {
			return nil, nil, unusable("the parent of " + s.repo.String() + " is missing")
		}
	}

	into := place(parent.NameWithOwner)
	var snapshots []*snapshot
	var elsewhere []Head
	for k, branch := range branches {
		field := alias("h", k)
		var own, theirs *headList
		if json.Unmarshal(s.fields[field], &own) != nil || own == nil || inParent != nil &&
			(json.Unmarshal(inParent[field], &theirs) != nil || theirs == nil) {
			return nil, nil, unusable("pull requests from " + oneLine(branch) + " are missing")
		}
		if own.TotalCount > len(own.Nodes) || theirs != nil && theirs.TotalCount > len(theirs.Nodes) {
			crowded = append(crowded, branch)
			continue
		}

		for _, q := range own.Nodes {
			if q.from(head) {
				one := &snapshot{facts: lifecycle.Facts{Issue: s.repo.Issue(q.Number)}}
				c.takeIssue(one, s, &q.queryIssue)
				snapshots = append(snapshots, one)
				found = append(found, Head{Branch: branch})
			}
		}

		if theirs == nil {
			continue
		}

		for _, q := range theirs.Nodes {
			if q.from(head) {
				elsewhere = append(elsewhere, Head{
					Branch: branch,
					Pull:   into.Issue(q.Number), Elsewhere: true,
				})
			}
		}
	}

	_ = c.finish(ctx, snapshots, nil, standingClaims) // each has its own error
	for k, one := range snapshots {
		found[k].Pull, found[k].Snapshot = one.facts.Issue, one.public()
	}

	return append(found, elsewhere...), crowded, nil
}

// restHeads lists the pull requests of branches one by one, at two requests a branch, and reads
// each by itself.
func (c *Client) restHeads(ctx context.Context, home, head claim.Repo, branches []string) ([]Head, error) {
	into := []claim.Repo{home}
	if head == home {
		r, err := c.Repository(ctx, home)
		if err != nil {
			return nil, err
		}

		head = r.Repo // its name now
		if r.Parent != (claim.Repo{}) {
			into = append(into, r.Parent)
		}
	}

	var out []Head
	for _, branch := range branches {
		for _, r := range into {
			pulls, err := c.restPullsFrom(ctx, r, head, branch, "open")
			if err != nil {
				return nil, err
			}

			for _, p := range pulls {
				out = append(out, Head{
					Branch: branch,
					Pull:   r.Issue(p.Number), Elsewhere: r != home,
				})
			}
		}
	}

	for k := range out {
		if !out[k].Elsewhere {
			out[k].Snapshot = c.HoldersOf(ctx, []claim.Issue{out[k].Pull})[0]
		}
	}

	return out, nil
}
