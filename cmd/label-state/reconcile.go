package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/urfave/cli/v2"
)

func reconcileCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "reconcile", Usage: "bring an issue's labels in line with its facts", ArgsUsage: "REF",
		Description: "Never decides who holds it; that is in the log. A whole repository: label-state sweep-claims." + refForms +
			"   label-state reconcile 42\n   label-state reconcile acme/app#42 --dry-run",
		Flags:  writing(),
		Action: t.on(reconcileIssue),
	}
}

func reconcileIssue(ctx context.Context, c *call, i claim.Issue) error {
	if c.Bool("dry-run") {
		return c.wouldReconcile(ctx, i)
	}
	rep, err := c.Ledger.Reconcile(ctx, i)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s: %s -> %s: %s\n", i, state(rep.Was), state(rep.Is), oneLine(rep.Why))
	if rep.Change.Empty() {
		text = fmt.Sprintf("%s: %s is right: %s\n", i, state(rep.Is), oneLine(rep.Why))
	}
	return c.answer(moved(rep, "reconciled"), text)
}

func (c *call) wouldReconcile(ctx context.Context, i claim.Issue) error {
	rules := c.Ledger.Rules()
	f, _, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err != nil {
		return err
	}
	picture, why := rules.Label(f)
	change := rules.Scheme.Change(f.Labels, picture)
	m := move{Issue: i.String(), Answer: "dry-run", Was: names(rules.Scheme.Shown(f.Labels)), Why: oneLine(why)}
	m.Is = after(m.Was, change)
	return c.answer(m, fmt.Sprintf("%s: would add %s, remove %s: %s\n", i, list(change.Add), list(change.Remove), m.Why))
}

// after is what a change would make of labels.
func after(have []string, c labels.Change) []string {
	left := slices.DeleteFunc(slices.Clone(have), func(name string) bool { return labels.Has(c.Remove, name) })
	return names(append(left, c.Add...))
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
