package hold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	urfave "github.com/urfave/cli/v2"
)

// NewReleaseCommand makes the command release.
func NewReleaseCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "release",
		Usage:     "release an issue",
		ArgsUsage: "[ISSUE]",
		Description: "A worker ends its hold; a person takes the label off that \"claim\" put on.\n\n" +
			"Outcomes: " + strings.Join(claim.WorkerOutcomes(), ", ") + ". " +
			"Without one it is success with --pr, else cancelled. Without an issue it is the one that this worktree holds." +
			cli.IssueForms +
			"   label-state release 42 --pr https://github.com/acme/app/pull/50\n" +
			"   label-state release 42 --outcome failure --reason 'tests do not build'\n" +
			"   label-state release 42 --done --reason 'cleared the cache'    close the issue as completed\n" +
			"   label-state release 42 --force    end somebody else's hold",
		Flags: cli.WriteFlags(append(cli.HolderFlags(),
			cli.AgentFlag(),
			&urfave.StringFlag{Name: "outcome", Usage: "`OUTCOME` of the work"},
			&urfave.StringFlag{
				Name:  "transition-to",
				Usage: "`LABEL` the issue should move to; refused when the move is not legal",
			},
			&urfave.StringFlag{Name: "pr", Usage: "`URL` of the pull request"},
			&urfave.BoolFlag{Name: "done", Usage: "close the issue as completed: it is done, without a pull request"},
			&urfave.StringFlag{Name: "reason", Usage: "why, for people"},
			&urfave.BoolFlag{Name: "force", Usage: "end whatever hold stands; recorded with your login"},
			&urfave.BoolFlag{Name: "ask", Usage: "ask the holder to stop at its next heartbeat, instead of forcing"},
		)...),
		Action: func(cc *urfave.Context) error {
			if cc.Args().Len() == 0 && !cc.IsSet("agent") && !cc.Bool("force") && !cc.Bool("ask") {
				return t.OnHeld(releaseIssue)(cc)
			}
			return t.OnAgentsIssue(releaseIssue)(cc)
		},
	}
}

func releaseIssue(ctx context.Context, c *cli.Call, i claim.Issue) error {
	force, ask := c.Flags.Bool("force"), c.Flags.Bool("ask")
	if force && ask {
		return cli.Usagef("release", "--force and --ask exclude each other")
	}
	if c.Flags.Bool("done") && (c.Flags.IsSet("pr") || c.Flags.IsSet("transition-to") || force || ask) {
		return cli.Usagef("release", "--done closes the issue now; --pr, --transition-to, --force and --ask do not go with it")
	}

	for _, flag := range []string{"outcome", "pr", "transition-to", "token"} {
		if (force || ask) && c.Flags.IsSet(flag) {
			return cli.Usagef("release", "--%s is for the holder; it does not go with --force or --ask", flag)
		}
	}

	switch {
	case force:
		return forceRelease(ctx, c, i)
	case ask:
		return askToStop(ctx, c, i)
	}

	w, token, err := c.Releaser(i)
	if errors.Is(err, cli.ErrNoHold) && c.Worker().Codename == "" {
		return releaseAsPerson(ctx, c, i)
	}
	if err != nil {
		return err
	}

	return releaseAsWorker(ctx, c, i, w, token)
}

func releaseAsWorker(ctx context.Context, c *cli.Call, i claim.Issue, w claim.Worker, token int64) error {
	e := ledger.Ending{
		Worker:  w,
		Token:   token,
		Outcome: c.Flags.String("outcome"),
		PR:      c.Flags.String("pr"),
		Done:    c.Flags.Bool("done"),
		Reason:  c.Flags.String("reason"),
	}

	if e.Outcome != "" && !slices.Contains(claim.WorkerOutcomes(), e.Outcome) {
		return cli.Usagef("release", "--outcome %q: allowed are %s", cli.OneLine(e.Outcome),
			strings.Join(claim.WorkerOutcomes(), ", "))
	}
	if e.Done && e.Outcome != "" && e.Outcome != claim.OutcomeSuccess && e.Outcome != claim.OutcomeAlreadyImplemented {
		return cli.Usagef("release", "--done says %s or %s, and --outcome %s", claim.OutcomeSuccess,
			claim.OutcomeAlreadyImplemented, e.Outcome)
	}

	if to := c.Flags.String("transition-to"); to != "" {
		scheme := c.Session.Ledger.Rules().Scheme
		st, ok := scheme.Parse(to)
		if !ok {
			return cli.Usagef("release", "--transition-to %q: allowed are %s", cli.OneLine(to),
				strings.Join(scheme.Lifecycle(), ", "))
		}

		e.To = &st
	}

	if c.Flags.Bool("dry-run") {
		err := c.CheckHolds(ctx, i, w, token)
		if err == nil {
			_, err = c.Session.Ledger.ResolvePull(ctx, i, e)
		}

		if err != nil {
			return err
		}

		return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.DryRun},
			fmt.Sprintf("would release %s from %s%s\n", i, w, follows(e)))
	}

	rep, err := c.Session.Ledger.Release(ctx, i, e)
	err = c.WarnLate(err)
	if errors.Is(err, claim.ErrEnded) {
		err = cli.Advise(err, answer.Call("see what was recorded", "log", i.String()))
	}

	if err != nil {
		return err // and the record stays: what it fences is still there
	}
	c.ForgetHold(i)
	if err := c.GiveFailedToPerson(ctx, i, w, e.Recorded()); err != nil {
		return err
	}

	out := cli.ViewMove(rep, answer.Released)
	out.Outcome = e.Recorded()
	if rep.Unproven {
		warning := cli.UnprovenWarning(i, w)
		cli.Warnf(c.Terminal.Err, "%s: %s", i, warning)
		out.Warnings = []string{warning}
	}

	return c.Answer(out, fmt.Sprintf("released %s%s: %s -> %s\n", rep.Issue, follows(e), cli.StateOf(rep.Was),
		cli.StateOf(rep.Is)))
}

// follows tells the outcome that nobody gave and that was recorded because of --transition-to.
func follows(e ledger.Ending) string {
	if e.To == nil || e.Outcome != "" {
		return ""
	}
	return " as " + e.Recorded()
}

func forceRelease(ctx context.Context, c *cli.Call, i claim.Issue) error {
	if c.Flags.Bool("dry-run") {
		return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.DryRun},
			fmt.Sprintf("would end every hold on %s by force\n", i))
	}

	by, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return err
	}

	rep, ended, err := c.Session.Ledger.Force(ctx, i, by, c.Flags.String("reason"))
	if err = c.WarnLate(err); err != nil {
		return err
	}

	out := cli.ViewMove(rep, answer.Released)
	out.Ended = cli.Workers(ended)
	c.AfterForce(i, ended, by)
	text := "nobody held " + i.String()
	switch {
	case len(ended) == 0 && !rep.Change.Empty():
		text = fmt.Sprintf("%s begins again: %s -> %s", i, cli.StateOf(rep.Was), cli.StateOf(rep.Is))
	case len(ended) > 0:
		text = fmt.Sprintf("released %s from %s by force: %s -> %s", i, strings.Join(out.Ended, ", "),
			cli.StateOf(rep.Was), cli.StateOf(rep.Is))
	}

	return c.Answer(out, text+"\n")
}

func askToStop(ctx context.Context, c *cli.Call, i claim.Issue) error {
	if c.Flags.Bool("dry-run") {
		return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.DryRun},
			fmt.Sprintf("would ask the holder of %s to stop\n", i))
	}

	by, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return err
	}

	h, err := c.Session.Ledger.Revoke(ctx, i, by, c.Flags.String("reason"))
	if err != nil {
		return err
	}

	return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.Asked},
		fmt.Sprintf("asked %s to stop; it obeys at its next heartbeat or push\n", h.Record.Worker))
}
