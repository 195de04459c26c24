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
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/trouble"
)

type releaseParams struct {
	cli.HeldIssue
	cli.Holder
	cli.OfAgent
	Outcome string `flag:"outcome" value:"OUTCOME" text:"what came of the work" only:"success,failure,partial,no-commit,max-turns,error,rate-limit,worktree-failed,cancelled,already-implemented"`
	PR      string `flag:"pr" value:"URL" text:"URL of the pull request"`
	Done    bool   `flag:"done" text:"it is done without a pull request: close the issue"`
	To      string `flag:"transition-to" value:"LABEL" text:"label to move the issue to; refused when the move is not legal" only:"agent:implement,agent:pr-open,agent:done,..." show:"all"`
	cli.Because
	Force bool `flag:"force" text:"end the current hold; recorded with your login"`
	Ask   bool `flag:"ask" text:"ask the holder to stop at its next heartbeat, instead of forcing" show:"all"`
	cli.Writing
}

// Release ends a hold.
func Release() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "release",
		Summary: "release an issue",
		About: "A worker ends its hold; a person removes the label that \"claim\" added. " +
			"Without an outcome it is success with --pr, else cancelled.",
		Examples: "label-state release 42 --pr https://github.com/acme/app/pull/50\n" +
			"label-state release 42 --outcome failure --reason 'tests do not build'\n" +
			"label-state release 42 --force              # end somebody else's hold\n",
		Tools: []cli.Tool{
			{
				Name:     "release",
				Title:    "End a hold",
				Set:      cli.Core,
				Takes:    "issue codename firing-id outcome pr done reason transition-to",
				Worker:   true,
				Destroys: true,
				Repeats:  true,
				About: "Ends your hold of an issue and records the outcome. Without one it is success with pr " +
					"or done, else cancelled. " +
					"After success with neither the issue is ready again: name the pull request, or close the issue with done. " +
					"failure, partial, no-commit, max-turns and error count as an attempt; after three a person must look.",
			},
			{
				Name:     "force_release",
				Title:    "End somebody's hold by force",
				Set:      cli.Operator,
				Takes:    "issue reason",
				Needs:    "issue",
				With:     "force",
				Destroys: true,
				Repeats:  true,
				About: "For operators: ends the current hold, in the name of the token's login, and records it. " +
					"Until its next renewal or push the former holder may still act. Never use it to get at an issue that somebody else works on.",
			},
		},
	}, releaseNamedOrHeld)
}

// releaseNamedOrHeld refuses to guess the issue where it may be somebody else's.
func releaseNamedOrHeld(ctx context.Context, c *cli.Call, p *releaseParams) error {
	if p.Issue == "" && (p.Force || p.Ask) {
		return c.Usagef("name the issue")
	}
	return cli.OnIssue(releaseIssue)(ctx, c, p)
}

func releaseIssue(ctx context.Context, c *cli.Call, i claim.Issue, p *releaseParams) error {
	if p.Force && p.Ask {
		return c.Usagef("--force and --ask exclude each other")
	}

	given, is := cli.Given(p, "outcome", "pr", "transition-to", "token")
	if is && (p.Force || p.Ask) {
		return c.Usagef("--%s is for the holder; it does not go with --force or --ask", given.Name)
	}

	if p.Done && (p.PR != "" || p.To != "" || p.Force || p.Ask) {
		return c.Usagef("%s closes the issue now; %s, %s, --force and --ask do not go with it", c.Option("done"),
			c.Option("pr"), c.Option("transition-to"))
	}

	switch {
	case p.Force:
		return forceRelease(ctx, c, i, p.Why())
	case p.Ask:
		return askToStop(ctx, c, i, p.Why())
	}

	w, token, err := c.Releaser(ctx, i)
	if again, is := endedRun(ctx, c, i, p, err); is {
		w, err = again, nil
	}
	if errors.Is(err, cli.ErrNoHold) && c.Worker().Codename == "" && !p.ofWorker() {
		return releaseAsPerson(ctx, c, i, p)
	}
	if err != nil {
		return c.WhoHolds(ctx, i, err)
	}

	return releaseAsWorker(ctx, c, i, p, w, token)
}

// endedRun is the run that a command means which repeats a release: nothing is recorded here any
// more, nobody holds the issue, and the last hold was one of this login's, ended as that. To
// release it again writes nothing.
func endedRun(ctx context.Context, c *cli.Call, i claim.Issue, p *releaseParams, err error) (w claim.Worker, is bool) {
	asked := c.Worker()
	if !errors.Is(err, cli.ErrNoHold) || cli.ProblemOf(err).Code != answer.Usage || p.To != "" ||
		!p.ofWorker() && asked.Codename == "" {
		return w, false
	}
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return w, false
	}

	wanted := ledger.Ending{Outcome: p.Outcome, PR: p.PR, Done: p.Done}
	last, _ := f.Log.LastEnded(claim.Claim.Held) // nobody's, where none has ended
	_, held := f.Log.Holder()
	is = !held && last.Person == "" && claim.SameLogin(last.Author, f.Viewer) &&
		last.End.Outcome == wanted.Recorded() && !(p.Done && f.Open) &&
		cli.Fits(asked, last.Record.Worker)

	return last.Record.Worker, is
}

// ofWorker reports whether something is given that only workers say.
func (p *releaseParams) ofWorker() bool { return p.Outcome != "" || p.PR != "" || p.To != "" || p.Done }

func releaseAsWorker(ctx context.Context, c *cli.Call, i claim.Issue, p *releaseParams, w claim.Worker,
	token int64,
) error {
	e := ledger.Ending{
		Worker:  w,
		Token:   token,
		Outcome: p.Outcome,
		PR:      p.PR,
		Done:    p.Done,
		Reason:  p.Why(),
	}

	if e.Done && e.Outcome != "" && e.Outcome != claim.OutcomeSuccess && e.Outcome != claim.OutcomeAlreadyImplemented {
		return c.Usagef("%s says %s or %s, and %s says %s", c.Option("done"), claim.OutcomeSuccess,
			claim.OutcomeAlreadyImplemented, c.Option("outcome"), e.Outcome)
	}

	if p.To != "" {
		scheme := c.Rules().Scheme
		st, ok := scheme.Parse(p.To)
		if !ok {
			return c.Usagef("%s %q: expected %s%s", c.Option("transition-to"), cli.OneLine(p.To),
				strings.Join(scheme.Lifecycle(), ", "), cli.Meant(scheme.Lifecycle(), p.To))
		}

		e.To, e.Label = &st, p.To
	}

	rep, err := c.Session.Ledger.Release(ctx, i, e)
	if ledger.IsUnsent(err) {
		closing := ""
		if e.Done {
			closing = ", and close it"
		}

		return c.Would(i, "release %s from %s as %s%s", i, w, e.Recorded(), closing)
	}

	err = c.NoteLost(i, w, c.WarnLate(err))
	if errors.Is(err, claim.ErrEnded) {
		err = cli.Advise(err, answer.Call("see what was recorded", "log", i.String()))
	}

	if answer.Is(err, answer.NoPull) && c.Codename != "" { // the run that was named is named again
		next := answer.NoPull.Meaning().Next
		last := &next[len(next)-1]
		last.Args = []string{i.String(), "--codename", w.Codename, "--firing-id", w.FiringID}
		err = cli.Advise(err, next...)
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
	switch scheme := c.Rules().Scheme; {
	case rep.Unproven:
		c.Warnf("%s: %s", i, cli.UnprovenWarning(i, w))
	case e.Recorded() == claim.OutcomeSuccess && len(scheme.Stages) > 0 && slices.ContainsFunc(rep.Is,
		func(l string) bool { return labels.Has(scheme.Queues(), l) }):
		c.Warnf("%s is ready again in %s: a release leaves it in its stage; to finish a stage, next time: label-state advance",
			i, strings.Join(rep.Is, ", "))
	}

	return c.Answer(out, fmt.Sprintf("released %s%s: %s\n", rep.Issue, follows(e),
		cli.Move(rep.Was, rep.Is, rep.Change)))
}

// follows tells the outcome that nobody gave and that was recorded because of --transition-to.
func follows(e ledger.Ending) string {
	if e.To == nil || e.Outcome != "" {
		return ""
	}
	return " as " + e.Recorded()
}

func forceRelease(ctx context.Context, c *cli.Call, i claim.Issue, reason string) error {
	rep, ended, err := c.Force(ctx, i, reason)
	switch {
	case ledger.IsUnsent(err):
		return c.Would(i, "end every hold on %s by force", i)
	case err != nil:
		return c.OrComment(ctx, i, "/release --force", c.Outside(ctx, err))
	}

	out := cli.ViewMove(rep, answer.Released)
	out.Ended = trouble.Workers(ended)
	text := "nobody held " + i.String()
	hold := c.Rules().Scheme.Hold
	switch {
	case len(ended) == 0 && labels.Has(rep.Change.Remove, hold):
		text = fmt.Sprintf("released %s: %s is off", i, hold)
		if reason != "" {
			c.Warnf("%s is in no record: nobody had claimed %s", c.Option("reason"), i)
		}
	case len(ended) == 0 && !rep.Change.Empty():
		text = fmt.Sprintf("%s starts again: %s", i, cli.Move(rep.Was, rep.Is, rep.Change))
	case len(ended) > 0:
		text = fmt.Sprintf("released %s from %s by force: %s", i, strings.Join(holders(ended), ", "),
			cli.Move(rep.Was, rep.Is, rep.Change))
	}

	return c.Answer(out, text+"\n")
}

// holders names who held, as people know them: a person by login, a worker by its key.
func holders(ended []claim.Claim) (names []string) {
	for _, c := range ended {
		names = append(names, c.HolderKey())
	}
	return names
}

func askToStop(ctx context.Context, c *cli.Call, i claim.Issue, reason string) error {
	by, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return err
	}

	h, err := c.Session.Ledger.Revoke(ctx, i, by, reason)
	switch {
	case ledger.IsUnsent(err):
		return c.Would(i, "ask the holder of %s to stop", i)
	case err != nil:
		return err
	}

	text := fmt.Sprintf("asked %s to stop; it will stop at its next heartbeat or push\n", h.Record.Worker)
	switch {
	case h.Revoked != nil:
		text = fmt.Sprintf("%s was asked already, by %s at %s\n", h.HolderKey(), h.Revoked.Who(), cli.Moment(h.Revoked.At))
		if reason != "" {
			c.Warnf("%s is in no record", c.Option("reason"))
		}
	case h.Person != "":
		text = fmt.Sprintf("asked %s to stop, by a comment on the issue\n", h.Person)
	}

	return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.Asked}, text)
}
