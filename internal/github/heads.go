package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
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
	Snapshot
	Elsewhere bool // it is in the repository that this one is a fork of, and was not read
}

// heads reads the pull requests that branches are of.
type heads struct {
	api          *api
	repositories *repositories
	pulls        *pulls
	snapshots    *snapshots
	scheme       labels.Scheme
}

// HoldersOfHeads is HoldersOf for the open pull requests from branches of head: of those into home, and, where head is home itself and
// a fork, of those into its parent, which are named only. It is one request for ten branches, as long as few repositories have branches
// of the same names, and reads Options.Along with it.
func (hd *heads) HoldersOfHeads(ctx context.Context, home, head ledger.Repo, branches []string) ([]Head, error) {
	var out []Head
	for part := range slices.Chunk(branches, headsPerQuery) {
		var found []Head
		err := hd.api.eitherWay(
			func() (err error) {
				var crowded []string
				if found, crowded, err = hd.queryHeads(ctx, home, head, part); err != nil || len(crowded) == 0 {
					return err
				}
				more, err := hd.restHeads(ctx, home, head, crowded)
				found = append(found, more...)
				return settled(err)
			},
			func() (err error) { found, err = hd.restHeads(ctx, home, head, part); return err })
		if err != nil {
			return nil, missing(err, Object{RepositoryObject, home.String()})
		}
		out = append(out, found...)
	}
	return out, nil
}

// A queryHead is a pull request with the repository of its branch.
type queryHead struct {
	queryIssue
	HeadRepository *slugged
}

// from reports whether the branch is one of a repository.
func (q *queryHead) from(head ledger.Repo) bool {
	return q != nil && q.HeadRepository != nil && strings.EqualFold(q.HeadRepository.NameWithOwner, head.String())
}

// A headList is the open pull requests of a repository from branches of one name.
type headList = connection[queryHead]

// queryHeads asks by one query. crowded are the branches of whose pull requests it does not show all.
func (hd *heads) queryHeads(ctx context.Context, home, head ledger.Repo, branches []string) (found []Head, crowded []string, err error) {
	d := newDocument()
	d.add("  viewer { login }\n")
	names := names(hd.scheme, d)
	d.open("r0", home)
	d.body.WriteString("    nameWithOwner\n" + names)
	hd.repositories.askAlong(d, home)
	own, parents := "", "    parent { nameWithOwner\n"
	for k, branch := range branches {
		list := fmt.Sprintf("h%d: pullRequests(headRefName: %s, states: OPEN, first: %d, orderBy: {field: CREATED_AT, direction: DESC})",
			k, d.bind("String!", branch), pullsPerHead)
		own += "    " + list + " { totalCount nodes { __typename ...Q headRepository { nameWithOwner } } }\n"
		parents += "      " + list + " { totalCount nodes { number headRepository { nameWithOwner } } }\n"
	}
	d.body.WriteString(own)
	if head == home {
		d.body.WriteString(parents + "    }\n")
	}
	d.add("  }\n")
	var data map[string]json.RawMessage
	got, err := hd.api.ask(ctx, d.text(pullRequestFields(ofMany())+pageFields+commentFields), d.variables, &data)
	if err != nil {
		return nil, nil, err
	}
	sheet := sheet{repo: home, alias: "r0", partial: got}
	hd.snapshots.note(&sheet, data)
	if sheet.err != nil {
		return nil, nil, sheet.err
	}
	if head == home {
		var now string // a repository that was renamed answers to its old name, and its branches are under the new one
		if json.Unmarshal(sheet.fields["nameWithOwner"], &now) != nil || now == "" {
			return nil, nil, &AnswerError{Status: http.StatusOK, Reason: "the name of " + home.String() + " is missing"}
		}
		head = place(now)
	}
	return hd.takeHeads(ctx, sheet, head, branches)
}

// takeHeads finds the pull requests of the branches in an answer, and reads what it left out of them.
func (hd *heads) takeHeads(ctx context.Context, s sheet, head ledger.Repo, branches []string) (found []Head, crowded []string, err error) {
	var parent struct{ NameWithOwner string }
	var inParent map[string]json.RawMessage
	if raw := s.fields["parent"]; raw != nil && string(raw) != "null" {
		if json.Unmarshal(raw, &parent) != nil || json.Unmarshal(raw, &inParent) != nil {
			return nil, nil, &AnswerError{Status: http.StatusOK, Reason: "the parent of " + s.repo.String() + " is missing"}
		}
	}
	into := place(parent.NameWithOwner)
	var snapshots []*snapshot
	var elsewhere []Head
	for k, branch := range branches {
		alias := fmt.Sprintf("h%d", k)
		var own, theirs *headList
		if json.Unmarshal(s.fields[alias], &own) != nil || own == nil || inParent != nil && (json.Unmarshal(inParent[alias], &theirs) != nil || theirs == nil) {
			return nil, nil, &AnswerError{Status: http.StatusOK, Reason: "pull requests from " + oneLine(branch) + " are missing"}
		}
		if own.TotalCount > len(own.Nodes) || theirs != nil && theirs.TotalCount > len(theirs.Nodes) {
			crowded = append(crowded, branch)
			continue
		}
		for _, q := range own.Nodes {
			if q.from(head) {
				one := &snapshot{facts: lifecycle.Facts{Issue: claim.Issue{Owner: s.repo.Owner, Repo: s.repo.Name, Number: q.Number}}}
				hd.snapshots.takeIssue(one, s, &q.queryIssue)
				one.read = one.err == nil
				snapshots = append(snapshots, one)
				found = append(found, Head{Branch: branch})
			}
		}
		if theirs == nil {
			continue
		}
		for _, q := range theirs.Nodes {
			if q.from(head) {
				elsewhere = append(elsewhere, Head{Branch: branch, Pull: claim.Issue{Owner: into.Owner, Repo: into.Name, Number: q.Number}, Elsewhere: true})
			}
		}
	}
	err = hd.snapshots.completeFacts(ctx, snapshots)
	hd.snapshots.finish(ctx, readable(snapshots, err), standingClaims)
	for k, one := range snapshots {
		found[k].Pull, found[k].Snapshot = one.facts.Issue, one.public()
	}
	return append(found, elsewhere...), crowded, nil
}

// restHeads asks without GraphQL, two requests for a branch and some for each pull request.
func (hd *heads) restHeads(ctx context.Context, home, head ledger.Repo, branches []string) ([]Head, error) {
	into := []ledger.Repo{home}
	if head == home {
		r, err := hd.repositories.Repository(ctx, home)
		if err != nil {
			return nil, err
		}
		head = r.Repo // its name now
		if r.Parent != (ledger.Repo{}) {
			into = append(into, r.Parent)
		}
	}
	var out []Head
	for _, branch := range branches {
		for _, r := range into {
			pulls, err := hd.pulls.restPullsFrom(ctx, r, head, branch, "open")
			if err != nil {
				return nil, err
			}
			for _, p := range pulls {
				out = append(out, Head{Branch: branch, Pull: claim.Issue{Owner: r.Owner, Repo: r.Name, Number: p.Number}, Elsewhere: r != home})
			}
		}
	}
	for k := range out {
		if !out[k].Elsewhere {
			out[k].Snapshot = hd.snapshots.HoldersOf(ctx, []claim.Issue{out[k].Pull})[0]
		}
	}
	return out, nil
}
