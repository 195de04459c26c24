package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"

	"github.com/label-state/label-state/internal/ledger"
)

type advanceParams struct {
	cli.HeldIssue
	cli.Identity
	cli.OfAgent
	To string `flag:"to" value:"STAGE" text:"stage to go to (default: the next)"`
	cli.Writing
}

// Advance moves an issue to another stage.
func Advance() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "advance",
		Summary: "move an issue to the next stage of its pipeline",
		About: "For repositories with preset: stages. The holder moves the issue on and ends its hold, by one record; the last " +
			"stage closes the issue as completed. Repeating it is a no-op. " +
			"Without a codename, a session or a hold of this worktree it acts for a person, on an issue that nobody holds; " +
			"a worktree that had the hold needs --to.",
		Examples: "label-state advance 42\nlabel-state advance 42 --to ready  # back to the first stage\n",
		Tools: []cli.Tool{{
			Name:     "advance",
			Title:    "Move an issue to its next stage",
			Set:      cli.Plan,
			Takes:    "issue codename firing-id to",
			Worker:   true,
			Destroys: true,
			Repeats:  true,
			About: "In repositories with stages: moves an issue that you hold to the next stage and ends your hold. The last stage closes the issue as completed. " +
				"Use it in place of release when the stage's work is done.",
		}},
	}, cli.OnIssue(advanceIssue))
}

func advanceIssue(ctx context.Context, c *cli.Call, i claim.Issue, p *advanceParams) error {
	a, again, err := readAdvance(ctx, c, i, p.To)
	if err != nil {
		return err
	}

	rep, to, err := c.Session.Ledger.Advance(ctx, i, a)
	if ledger.IsUnsent(err) {
		return c.Would(i, "move %s to %s (label %s)", i, to.Name, to.Label)
	}

	err = c.NoteLost(i, a.Worker, c.WarnLate(err))
	switch {
	case errors.Is(err, claim.ErrEnded):
		c.ForgetHold(i)
	case err == nil && !again:
		c.RetireHold(i)
	}

	if err != nil {
		return err
	}
	stages := c.Rules().Scheme.Stages
	if to == stages[len(stages)-1] {
		if err := c.Session.Client.CloseCompleted(ctx, i); err != nil {
			return err
		}
	}

	v := cli.ViewMove(rep, answer.Advanced)
	moved := cli.Move(rep.Was, rep.Is, rep.Change)
	text := fmt.Sprintf("advanced %s to %s: %s\n", i, to.Name, moved)
	if again {
		already := fmt.Sprintf("%s (run %s) had already advanced it: nothing is moved", a.Worker.Codename, a.Worker.FiringID)
		v.Warnings = []string{already}
		text = fmt.Sprintf("%s is already in %s: %s\n%s\n", i, to.Name, moved, already)
	}

	return c.Answer(v, text)
}

// readAdvance is who moves the issue: the worker that flags, environment or this worktree name, or
// that has done so from here before; else the person whose token this is. An agent's session is no
// person, and nobody is where a hold of this worktree was lost.
func readAdvance(ctx context.Context, c *cli.Call, i claim.Issue, to string) (a ledger.Advance, again bool, err error) {
	a.To = to
	w, _, err := c.Holder(ctx, i)
	if !errors.Is(err, cli.ErrNoHold) {
		a.Worker = w
		return a, false, err
	}

	moved, unread := movedBefore(ctx, c, i, to)
	switch {
	case unread != nil:
		return a, false, unread
	case moved.again:
		a.Worker = moved.run
		return a, true, nil
	case c.Worker().Codename != "", cli.ProblemOf(err).Code == answer.Lost:
		return a, false, err
	case c.Env.InSession():
		return a, false, cli.Advise(err, answer.Call("a person moves it on, outside of the session", "advance",
			i.String()))
	case moved.elsewhere != nil:
		return a, false, moved.elsewhere
	}

	a.By, err = c.Session.Client.Viewer(ctx)
	if err != nil {
		return a, false, err
	}

	return a, false, c.Session.Ledger.Heard(ctx, i)
}

// A formerMove is the advance that ended the last hold that was had from here; zero for none.
type formerMove struct {
	run       claim.Worker
	again     bool  // the command repeats it
	elsewhere error // what to say to a person with another login, who may mean the same or the next
}

// movedBefore is the advance that a command may mean again. A person in that worktree names the
// stage to move it on from there, which the error of another login says while there is one.
func movedBefore(ctx context.Context, c *cli.Call, i claim.Issue, to string) (formerMove, error) {
	former, err := c.Former(i)
	if former == nil || err != nil {
		return formerMove{}, err
	}
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return formerMove{}, err
	}

	last, found := f.Log.LastEnded(former)
	if !found || last.End.Outcome != claim.OutcomeAdvanced || last.End.By != "" {
		return formerMove{}, nil
	}

	w, stages := last.Record.Worker, c.Rules().Scheme.Stages
	now := c.Rules().Stage(f)
	_, held := f.Log.Holder()
	switch {
	case last.WrittenBy(f.Viewer):
		return formerMove{run: w, again: to == "" || c.Rules().Scheme.Stage(to) == now}, nil
	case to == "" && !held && now+1 < len(stages):
		next := stages[now+1].Name
		return formerMove{elsewhere: &answer.Problem{
			Code: answer.Usage,
			Why:  fmt.Sprintf("%s (run %s) has advanced it from here; it is in %s", w.Codename, w.FiringID, stages[now].Name),
			Next: []answer.Command{answer.Call("to move it on, name the stage", "advance", i.String(), "--to", next)},
		}}, nil
	}

	return formerMove{}, nil
}
