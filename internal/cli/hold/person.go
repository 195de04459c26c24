package hold

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// takeAsPerson claims the issue for the person whose token it is: a claim like any other, without
// an end.
func takeAsPerson(ctx context.Context, c *cli.Call, i claim.Issue, p *claimParams) error {
	if err := refuseForWorkers(c, p, "ttl", "branch", "wait", "firing-id"); err != nil {
		return err
	}
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return err
	}

	me := f.Viewer
	if claim.IsApp(me) {
		return c.Usagef("the token belongs to the app %s; name a worker with --codename", me)
	}
	sure := c.Rules().Verdict(f, lifecycle.Seeker{}).Answer != lifecycle.Unknown // else the claim says what is not
	if mine, has := c.Rules().HeldNow(f, me); has && sure {
		if !c.DryRun {
			err = c.Session.Ledger.Assign(ctx, f, mine) // a claim that was cut off has not
		}

		if err != nil {
			c.Warnf("%s is yours, but you could not be assigned: %s", i, err)
		}

		text := fmt.Sprintf("%s %s is yours already, since %s\n", i, cli.OneLine(f.Title), cli.Moment(mine.Created))
		back := giveBack(i)
		if !claim.SameLogin(mine.Author, me) {
			back = cli.Words([]answer.Command{cli.ByComment(i)}) + "\n"
		}

		return c.Answer(cli.ViewOwn(i, mine, c.Rules().Terms), text+back)
	}

	h, err := claimForcing(ctx, c, i, me, p)
	if err = c.WarnLate(err); err != nil {
		return c.WouldClaim(askThem(i, err), claim.Worker{}, "you")
	}

	// What this worktree has recorded of an earlier hold would answer for the person's. A session
	// is told first what became of its hold.
	if recorded, _, err := c.Session.Recall(i); err == nil && recorded.Session.IsZero() {
		if err := c.Session.GiveWay(i, me); err != nil {
			c.Warnf("this worktree's record of the earlier hold could not be removed: %s", err)
		}
	}

	return c.Answer(cli.ViewHold(h, answer.Won),
		fmt.Sprintf("claimed %s %s\n", i, cli.OneLine(h.Title))+giveBack(i))
}

// claimForcing claims for a person; with --force the hold that stands is ended first.
func claimForcing(ctx context.Context, c *cli.Call, i claim.Issue, me string, p *claimParams) (ledger.Hold, error) {
	if p.Force {
		if err := endFirst(ctx, c, i, lifecycle.Seeker{Person: true}, p.Why()); err != nil {
			return ledger.Hold{}, err
		}
	}

	h, err := c.Session.Ledger.ClaimPerson(ctx, i, me, p.Force, p.Why())
	if h.Unassigned != nil {
		c.Warnf("%s is yours, but you could not be assigned: %s", i, h.Unassigned)
	}

	return h, err
}

// askThem adds to a refusal by another person's hold what a person can do about it.
func askThem(i claim.Issue, err error) error {
	var no *ledger.HeldError
	if !errors.As(err, &no) {
		return err
	}

	for _, r := range no.Verdict.Reasons {
		if r.Code == lifecycle.CodeInFlight && r.Claim.Person != "" {
			return cli.Advise(err, answer.Advice("ask "+r.Claim.Person),
				answer.Call("to take it over in your name, on the record", "claim", i.String(), "--force"))
		}
	}

	return err
}

func giveBack(i claim.Issue) string {
	return fmt.Sprintf("release it with: label-state release %s\n", i)
}

// refuseForWorkers refuses those of the parameters that are for workers.
func refuseForWorkers(c *cli.Call, params any, names ...string) error {
	if p, is := cli.Given(params, names...); is {
		return c.Usagef("--%s is for workers; say which with --codename", p.Name)
	}
	return nil
}

// releaseAsPerson ends the person's own hold: by record, or where there is only a label, by taking
// it off. A person who released the last hold may say so again, as after a lost answer.
func releaseAsPerson(ctx context.Context, c *cli.Call, i claim.Issue, p *releaseParams) error {
	f, v, err := c.Session.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err != nil {
		if err = c.Outside(ctx, err); cli.Welcome(err) {
			return cli.Advise(err, cli.ByComment(i))
		}
		return c.OrComment(ctx, i, "/release", err)
	}

	me := f.Viewer
	if mine, held := f.Log.HeldBy(me); held {
		return releaseOwn(ctx, c, f, mine, me, p.Why())
	}

	holder, held := f.Log.Holder()
	last, _ := f.Log.LastEnded(claim.Claim.Held)
	labelled := labels.Has(f.Labels, c.Rules().Scheme.Hold)
	switch {
	case !held && !labelled && last.IsOf(me) && last.End.By == inNameOf(last, me):
		return releaseOwn(ctx, c, f, last, me, p.Why()) // again: it writes no record
	case held && holder.Person != "":
		return notYours(i, me, fmt.Sprintf("%s has held it since %s", holder.Person, cli.Moment(holder.Created)))
	case !labelled:
		text := "you do not hold it, and nobody else does"
		next := []answer.Command{answer.Call("see what happened to it", "log", i.String())}
		if held {
			who := "somebody else does"
			if n := slices.IndexFunc(v.Reasons,
				func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeInFlight }); n >= 0 {
				who = cli.OneLine(v.Reasons[n].Text)
			}

			text = "you do not hold it: " + who + ", and this worktree has no record of that run"
			next = []answer.Command{answer.Call("see who holds it", "status", i.String())}
			if holder.WrittenBy(me) && !c.Env.InSession() && !c.Env.Server { // nothing invites an agent to act as another worker
				w := holder.Record.Worker
				next = append(next, answer.Call("if that run was yours, and is over", "release", i.String(),
					"--codename", w.Codename, "--firing-id", w.FiringID))
			}
		}

		return cli.Declined(text, next...)

	case f.HoldBy != "" && !claim.SameLogin(f.HoldBy, me):
		return notYours(i, me, fmt.Sprintf("%s added the label %s at %s", f.HoldBy,
			c.Rules().Scheme.Hold, cli.Moment(f.HoldAt)))
	}

	hold := c.Rules().Scheme.Hold
	if c.DryRun {
		return c.Would(i, "take %s off %s", hold, i)
	}
	if err := c.Session.Client.RemoveLabel(ctx, i, hold); err != nil {
		return err
	}

	return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.Released},
		fmt.Sprintf("released %s: %s is off\n", i, hold))
}

func releaseOwn(ctx context.Context, c *cli.Call, f lifecycle.Facts, mine claim.Claim, me, reason string) error {
	e := ledger.Ending{
		Worker: mine.Record.Worker,
		Reason: reason,
		By:     inNameOf(mine, me),
	}

	rep, err := c.Session.Ledger.Release(ctx, f.Issue, e)
	if ledger.IsUnsent(err) {
		return c.Would(f.Issue, "release %s from %s", f.Issue, mine.Person)
	}

	if cli.Welcome(err) && e.By != "" {
		return cli.Advise(err, cli.ByComment(f.Issue))
	}
	if err = c.WarnLate(err); err != nil {
		return err
	}

	text := fmt.Sprintf("released %s\n", f.Issue)
	if mine.End != nil {
		text = fmt.Sprintf("released %s already\n", f.Issue)
	}

	return c.Answer(cli.ViewMove(rep, answer.Released), text)
}

// inNameOf is the By of a release of the person's own hold: nobody, unless an app wrote the claim
// for them.
func inNameOf(mine claim.Claim, me string) string {
	if claim.SameLogin(mine.Author, me) {
		return ""
	}
	return me
}

// notYours refuses to release somebody else's hold. Only a person is told about force.
func notYours(i claim.Issue, me, who string) error {
	if claim.IsApp(me) {
		return cli.Declined(who, answer.Call("see who holds it", "status", i.String()))
	}
	return cli.Declined(who, answer.Call("ask them; to end it in your name, on the record", "release", i.String(),
		"--force"))
}
