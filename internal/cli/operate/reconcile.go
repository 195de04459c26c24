package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/trouble"
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
		About:    "Ends an expired hold as a sweep does; who holds it is in the log. A whole repository: label-state sweep-claims.",
		Examples: "label-state reconcile 42\nlabel-state reconcile acme/app#42 --dry-run\n",
	}, cli.OnIssue(reconcileIssue))
}

func reconcileIssue(ctx context.Context, c *cli.Call, i claim.Issue, p *reconcileParams) error {
	by := ledger.SweepID(time.Now(), setup.Word())
	done, err := c.Session.Ledger.Reconcile(ctx, i, by)
	if would, is := errors.AsType[*ledger.Unsent](err); is {
		return reconcileDry(c, would.Facts)
	}
	if err != nil {
		return err
	}

	rep := done.Repair
	rep.Why = released("released", done.Ended) + rep.Why

	text := fmt.Sprintf("%s: %s: %s\n", i, cli.Move(rep.Was, rep.Is, rep.Change), cli.OneLine(rep.Why))
	if rep.Change.Empty() {
		text = fmt.Sprintf("%s: %s is right: %s\n", i, cli.StateOf(rep.Is), cli.OneLine(rep.Why))
	}

	return c.Answer(cli.ViewMove(rep, answer.Reconciled), text)
}

// reconcileDry answers with what a reconcile would write by the snapshot f.
func reconcileDry(c *cli.Call, f lifecycle.Facts) error {
	would := c.Session.Ledger.Foreseen(f)
	m := answer.Answer{
		Issue:  f.Issue.String(),
		Answer: "dry-run",
		Was:    trouble.LabelNames(would.Was),
		Is:     trouble.LabelNames(would.Is),
		Why:    cli.OneLine(released("would release", would.Ended) + would.Why),
	}

	change := fmt.Sprintf("would add %s, remove %s", cmp.Or(strings.Join(would.Change.Add, ", "), "nothing"),
		cmp.Or(strings.Join(would.Change.Remove, ", "), "nothing"))
	if would.Change.Empty() && len(would.Ended) == 0 {
		change = "would write a record and leave the labels"
	}

	return c.Answer(m, fmt.Sprintf("%s: %s: %s\n", f.Issue, change, m.Why))
}

// released says first which holds were ended, in the words of a sweep; empty for none.
func released(give string, ended []claim.Claim) string {
	if len(ended) == 0 {
		return ""
	}
	return give + " the hold of " + strings.Join(trouble.Workers(ended), ", ") + "; "
}
