package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Relabel implements ledger.Relabeler: the fields of a mutation run one after the other, and the payload of the last one shows the
// issue as it is then. It takes the global ids that an earlier snapshot has shown, so a label that does not exist is never created
// here. What GitHub refuses is errors.ErrUnsupported: one request a label finds out which, and why.
func (mt *mutations) Relabel(ctx context.Context, i claim.Issue, change labels.Change) (lifecycle.Facts, error) {
	one := &snapshot{facts: lifecycle.Facts{Issue: i}}
	err := mt.relabel(hinted(ctx, repeatable), one, change)
	for errors.Is(err, errAgain) {
		err = mt.relabel(hinted(ctx, repeatable), one, change)
	}
	if err == nil {
		err = mt.snapshots.completeFacts(ctx, []*snapshot{one})
	}
	if err != nil {
		return lifecycle.Facts{}, fmt.Errorf("change labels of %s: %w", i, err)
	}
	mt.snapshots.finish(ctx, readable([]*snapshot{one}, nil), everyRecord)
	got := one.public()
	return got.Facts, got.Err
}

func (mt *mutations) relabel(ctx context.Context, one *snapshot, change labels.Change) error {
	i := one.facts.Issue
	repo := ledger.Repo{Owner: i.Owner, Name: i.Repo}
	subject, known := mt.snapshots.node(i)
	add, all := mt.definitions.labelNodes(repo, change.Add)
	remove, both := mt.definitions.labelNodes(repo, change.Remove)
	if !mt.api.queries() || !known || !all || !both || len(add)+len(remove) == 0 {
		return errors.ErrUnsupported
	}
	much := ofOne()
	d := newDocument()
	sent := d.bind("ID!", subject)
	seen := "labelable " + mt.snapshots.issueAfter(d, i)
	if len(add) > 0 {
		payload := "clientMutationId"
		if len(remove) == 0 {
			payload = seen
		}
		d.add("  add: addLabelsToLabelable(input: {labelableId: %s, labelIds: %s}) { %s }\n", sent, d.bind("[ID!]!", add), payload)
	}
	if len(remove) > 0 {
		d.add("  remove: removeLabelsFromLabelable(input: {labelableId: %s, labelIds: %s}) { %s }\n", sent, d.bind("[ID!]!", remove), seen)
	}
	var data map[string]*struct{ Labelable json.RawMessage }
	writes := mt.api.transport.writes.Load() + 1
	got, err := mt.api.ask(ctx, d.mutation("Relabel", issueFields(mt.api, much)+pullRequestFields(much)), d.variables, &data)
	switch {
	case is[unavailable](err), tooMuch(err):
		return errors.ErrUnsupported
	case err != nil:
		return err
	case len(got.errors) > 0:
		return errors.ErrUnsupported
	}
	last := data["remove"]
	if last == nil {
		last = data["add"]
	}
	if last == nil {
		return errors.ErrUnsupported
	}
	mt.snapshots.takeAfter(one, got, last.Labelable, writes)
	return nil
}

// issueAfter is the selection by which the payload of a mutation shows an issue as it is then, for takeAfter.
func (sn *snapshots) issueAfter(d *document, i claim.Issue) string {
	tip := document{declared: d.declared, variables: d.variables}
	names := names(sn.scheme, &tip)
	if sn.tips.leases.Load() {
		tip.add("    id\n")
		tip.tip(0, i)
	}
	d.declared = tip.declared
	repository := "repository { nameWithOwner\n" + names + tip.body.String() + "  }"
	return "{ __typename ... on Issue { ...I " + repository + " } ... on PullRequest { ...Q " + repository + " } }"
}

// takeAfter fills a snapshot from the payload of a mutation, the last of so many writes.
func (sn *snapshots) takeAfter(one *snapshot, got partial, payload json.RawMessage, writes int64) {
	var whole struct{ Repository json.RawMessage }
	_ = json.Unmarshal(payload, &whole) // null leaves it empty
	i := one.facts.Issue
	s := sheet{repo: ledger.Repo{Owner: i.Owner, Name: i.Repo}, alias: "repository", partial: got}
	s.read(map[string]json.RawMessage{"repository": whole.Repository})
	if s.err == nil {
		sn.tips.noteTip(s, 0, i, writes)
		s.fields["i0"] = payload
	}
	sn.take(one, s, "i0")
	one.read = one.err == nil
}
