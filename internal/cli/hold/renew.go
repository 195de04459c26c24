package hold

import (
	"context"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
)

type renewParams struct {
	cli.HeldIssue
	cli.Holder
	cli.OfAgent
	Note string `flag:"note" text:"one line for others, kept in the claim comment until the next note"`
	cli.Writing
}

// Renew extends a lease.
func Renew() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "renew",
		Summary: "extend a lease; exit 1 means stop all work on it",
		About: "Edits the claim comment, so that a long run leaves one comment. --note leaves a line there " +
			"that people, status and the next worker read; nobody is notified. The worker and the issue are " +
			"looked up in this worktree unless you name them.",
		Examples: "label-state renew 42\n" +
			"label-state renew 42 --note 'the parser is done, tests are next'\n" +
			"label-state renew acme/app#42 --codename lucius --firing-id run-7\n",
		Tools: []cli.Tool{{
			Name:    "renew",
			Title:   "Extend a lease",
			Set:     cli.Core,
			Takes:   "issue codename firing-id note",
			Repeats: true,
			About: "Extends the lease of an issue you hold. Nothing renews by itself: call it before renew_before of the last answer, and before every step that others can see. " +
				"Answer no means that the hold is lost: stop all work on the issue at once. Answer unknown " +
				"leaves the old end in place: call it again. note keeps one line about the state of the work, " +
				"for people and the next worker.",
		}},
	}, cli.OnIssue(renewIssue))
}

func renewIssue(ctx context.Context, c *cli.Call, i claim.Issue, p *renewParams) error {
	w, token, err := c.Holder(ctx, i)
	if err != nil {
		return c.WhoHolds(ctx, i, err)
	}

	h, err := c.Session.Ledger.Note(ctx, i, w, token, p.Note)
	switch {
	case ledger.IsUnsent(err):
		return c.Would(i, "renew %s for %s", i, w)
	case err != nil:
		return c.NoteLost(i, w, err)
	}

	c.RecordRenewal(h)
	return c.Answer(cli.ViewHold(h, answer.Renewed), "renewed "+cli.DescribeHold(h))
}
