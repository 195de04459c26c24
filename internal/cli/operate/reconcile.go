package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

type reconcileParams struct {
	cli.AnIssue
	cli.Writing
}

// Reconcile brings an issue's labels in line with its facts.
func Reconcile() cli.Verb {
	return cli.Do(cli.Verb{
		Name:     "reconcile",
		Summary:  "bring an issue's labels in line with its facts",
		About:    "Never decides who holds it; that is in the log. A whole repository: label-state sweep-claims.",
		Examples: "label-state reconcile 42\nlabel-state reconcile acme/app#42 --dry-run\n",
	}, cli.OnIssue(reconcileIssue))
}

func reconcileIssue(ctx context.Context, c *cli.Call, i claim.Issue, p *reconcileParams) error {
	rep, err := c.Session.Ledger.Reconcile(ctx, i)
	var would *ledger.Unsent
	if errors.As(err, &would) {
		f, rules := would.Facts, c.Rules()
		projection, _ := rules.Label(f)
		change := rules.Scheme.Change(f.Labels, projection)
		was := cli.LabelNames(rules.Scheme.Shown(f.Labels))
		is := slices.DeleteFunc(slices.Clone(was), func(name string) bool { return labels.Has(change.Remove, name) })
		m := answer.Answer{
			Issue:  i.String(),
			Answer: "dry-run",
			Was:    was,
			Is:     append(is, change.Add...),
			Why:    cli.OneLine(rules.Explain(f, change)),
		}

		return c.Answer(m, fmt.Sprintf("%s: would add %s, remove %s: %s\n", i, cmp.Or(strings.Join(change.Add, ", "), "nothing"),
			cmp.Or(strings.Join(change.Remove, ", "), "nothing"), m.Why))
	}

	if err != nil {
		return err
	}

	text := fmt.Sprintf("%s: %s: %s\n", i, cli.Move(rep.Was, rep.Is, rep.Change), cli.OneLine(rep.Why))
	if rep.Change.Empty() {
		text = fmt.Sprintf("%s: %s is right: %s\n", i, cli.StateOf(rep.Is), cli.OneLine(rep.Why))
	}

	return c.Answer(cli.ViewMove(rep, answer.Reconciled), text)
}
