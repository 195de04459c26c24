package hold

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	urfave "github.com/urfave/cli/v2"
)

// NewDedupCommand makes the command dedup-check.
func NewDedupCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "dedup-check", Usage: "is it free? 0 free, 1 held, 3 could not find out", ArgsUsage: "ISSUE",
		Description: "For scripts. A hold of the asking run itself counts as free." + cli.IssueForms + "   label-state dedup-check acme/app#42 --json",
		Flags:       cli.RepoFlags(cli.IdentityFlags()...),
		Action:      t.OnIssue(checkIssue),
	}
}

func checkIssue(ctx context.Context, c *cli.Call, i claim.Issue) error {
	who := lifecycle.Seeker{Worker: c.Worker()}
	if w, _, err := c.Holder(i); err == nil {
		who.Worker = w
	}
	f, v, err := c.Session.Ledger.Check(ctx, i, who)
	if err != nil {
		return err
	}
	own := v.Has(lifecycle.CodeOwn)
	v.Reasons = slices.DeleteFunc(v.Reasons, func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeOwn })
	if len(v.Reasons) > 0 {
		return &ledger.HeldError{Issue: i, Verdict: v}
	}
	text := "free"
	if own {
		text = "free: you hold it"
	}
	return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.Free}, fmt.Sprintf("%s %s is %s\n", i, cli.OneLine(f.Title), text))
}

// NewStatusCommand makes the command status.
func NewStatusCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "status", Aliases: []string{"status-issue"}, Usage: "everything known about an issue", ArgsUsage: "ISSUE",
		Description: "Who holds it and until when, what its labels should say, attempts, pull requests, records that do not count. " +
			"When issues wait for each other in a dependency cycle, it says so: it follows blockers over 4 steps and 20 issues at most." + cli.IssueForms +
			"   label-state status 42\n   label-state status acme/app#42 --json",
		Flags:  cli.RepoFlags(cli.IdentityFlags()...),
		Action: t.OnIssue(showStatus),
	}
}

func showStatus(ctx context.Context, c *cli.Call, i claim.Issue) error {
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return err
	}
	f = c.Session.Ledger.Here(f)
	v := c.Session.Ledger.Rules().Verdict(f, lifecycle.Seeker{})
	view := cli.ViewStatus(c.Session.Ledger.Rules(), f, v)
	view.Store, view.Cycle, view.Guessed = c.Session.Config.Claim.Lease, c.FindCycle(ctx, f), c.Session.Client.Guessed()
	if view.Stranded == "" {
		view.Next = c.ReadyFirst(f, v)
	}
	if h, ok := f.Log.Holder(); ok && !h.Plan.Pending() && ownsHold(c, i, h.Record.Worker) {
		end, _ := h.Until(c.Session.Ledger.Rules().Terms)
		view.Holder.Renew = cli.Stamp(cli.RenewBefore(end, h.Lease(c.Session.Ledger.Rules().Terms)))
	}
	title, rest, _ := strings.Cut(cli.DescribeStatus(c.Session.Ledger.Rules().Terms, f, v, view), "\n")
	verdict, facts, _ := strings.Cut(rest, "\n")
	ink := map[lifecycle.Answer]string{lifecycle.Free: cli.InkGreen, lifecycle.Held: cli.InkYellow}[v.Answer]
	return c.Tell(view, c.Paint(cli.InkBold, title)+"\n"+c.Paint(cmp.Or(ink, cli.InkAlarm), verdict)+"\n"+facts)
}

// ownsHold reports whether the worker is who asks: named by flags or environment, or recorded in this worktree.
func ownsHold(c *cli.Call, i claim.Issue, w claim.Worker) bool {
	if w == c.Worker() {
		return true
	}
	recorded, ok, err := c.Session.Recall(i)
	return err == nil && ok && recorded.Worker == w
}
