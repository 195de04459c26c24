package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/urfave/cli/v2"
)

func releaseCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "release", Usage: "give an issue back", ArgsUsage: "REF",
		Description: "A worker ends its hold; a person takes the label off that \"claim\" put on.\n\n" +
			"Outcomes: " + strings.Join(claim.WorkerOutcomes(), ", ") + ". " +
			"Without one it is success with --pr, else cancelled." +
			refForms +
			"   label-state release 42 --pr https://github.com/acme/app/pull/50\n" +
			"   label-state release 42 --outcome failure --reason 'tests do not build'\n" +
			"   label-state release 42 --force    end somebody else's hold",
		Flags: writing(append(holderFlags(),
			&cli.StringFlag{Name: "outcome", Usage: "`OUTCOME` of the work"},
			&cli.StringFlag{Name: "transition-to", Usage: "`LABEL` the issue should move to; refused when the move is not legal"},
			&cli.StringFlag{Name: "pr", Usage: "`URL` of the pull request"},
			&cli.StringFlag{Name: "reason", Usage: "why, for people"},
			&cli.BoolFlag{Name: "force", Usage: "end whatever hold stands; recorded with your login"},
			&cli.BoolFlag{Name: "ask", Usage: "ask the holder to stop at its next heartbeat, instead of forcing"},
		)...),
		Action: t.on(releaseIssue),
	}
}

func releaseIssue(ctx context.Context, c *call, i claim.Issue) error {
	force, ask := c.Bool("force"), c.Bool("ask")
	if force && ask {
		return wrong("release", "--force and --ask exclude each other")
	}
	for _, flag := range []string{"outcome", "pr", "transition-to", "token"} {
		if (force || ask) && c.IsSet(flag) {
			return wrong("release", "--%s is for the holder; it does not go with --force or --ask", flag)
		}
	}
	switch {
	case force:
		return c.forceRelease(ctx, i)
	case ask:
		return c.askToStop(ctx, i)
	}
	w, token, err := c.holder(i)
	var use *usageError
	if errors.As(err, &use) && c.worker().Codename == "" {
		return c.releaseAsPerson(ctx, i)
	}
	if err != nil {
		return err
	}
	return c.releaseAsWorker(ctx, i, w, token)
}

func (c *call) releaseAsWorker(ctx context.Context, i claim.Issue, w claim.Worker, token int64) error {
	e, err := c.ending(w)
	if err != nil {
		return err
	}
	e.Token = token
	if c.Bool("dry-run") {
		return c.wouldRelease(ctx, i, w, token)
	}
	rep, err := c.Ledger.Release(ctx, i, e)
	err = c.late(err)
	if err == nil || errors.Is(err, claim.ErrEnded) {
		c.forget(i)
	}
	if err != nil {
		return err
	}
	return c.answer(moved(rep, "released"), fmt.Sprintf("released %s: %s -> %s\n", rep.Issue, state(rep.Was), state(rep.Is)))
}

func (c *call) forget(i claim.Issue) {
	if err := c.Forget(i); err != nil {
		warn(c.err, "this work tree's record of the hold could not be removed: %s", err)
	}
}

func (c *call) wouldRelease(ctx context.Context, i claim.Issue, w claim.Worker, token int64) error {
	if err := c.holds(ctx, i, w, token); err != nil {
		return err
	}
	return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would release %s from %s\n", i, w))
}

// holds is nil when w holds the issue and token is the hold's, or 0; else a *ledger.LostError, or what
// kept it from finding out.
func (c *call) holds(ctx context.Context, i claim.Issue, w claim.Worker, token int64) error {
	f, _, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
	if err != nil {
		return err
	}
	if own, ok := f.Log.Find(w); !ok || !own.Live() {
		return &ledger.LostError{Issue: i, Worker: w, Err: claim.ErrNotHolder}
	}
	if err := f.Log.RefuseToken(w, token); err != nil {
		return &ledger.LostError{Issue: i, Worker: w, Err: err}
	}
	return nil
}

func (c *call) ending(w claim.Worker) (ledger.Ending, error) {
	e := ledger.Ending{Worker: w, Outcome: c.String("outcome"), PR: c.String("pr"), Reason: c.String("reason")}
	if e.Outcome != "" && !slices.Contains(claim.WorkerOutcomes(), e.Outcome) {
		return e, wrong("release", "--outcome %q: allowed are %s", oneLine(e.Outcome), strings.Join(claim.WorkerOutcomes(), ", "))
	}
	if e.PR != "" && !strings.HasPrefix(e.PR, "https://") && !strings.HasPrefix(e.PR, "http://") {
		return e, wrong("release", "--pr %q: want the pull request's URL", oneLine(e.PR))
	}
	if to := c.String("transition-to"); to != "" {
		scheme := c.Ledger.Rules().Scheme
		st, ok := scheme.Parse(to)
		if !ok {
			return e, wrong("release", "--transition-to %q: allowed are %s", oneLine(to), strings.Join(scheme.Lifecycle(), ", "))
		}
		e.To = &st
	}
	return e, nil
}

// A move is the JSON of what an operation did to an issue's labels.
type move struct {
	Issue  string   `json:"issue"`
	Answer string   `json:"answer"`
	Was    []string `json:"was"`
	Is     []string `json:"is"`
	Why    string   `json:"why"`
	Ended  []string `json:"ended,omitempty"`
}

func moved(rep ledger.Repair, answer string) move {
	return move{Issue: rep.Issue.String(), Answer: answer, Was: names(rep.Was), Is: names(rep.Is), Why: rep.Why}
}

func workers(claims []claim.Claim) []string {
	var out []string
	for _, c := range claims {
		out = append(out, c.Record.Worker.String())
	}
	return out
}

func names(labels []string) []string {
	if labels == nil {
		return []string{}
	}
	return labels
}

func state(labels []string) string {
	if len(labels) == 0 {
		return "(no lifecycle label)"
	}
	return strings.Join(labels, ", ")
}

func (c *call) forceRelease(ctx context.Context, i claim.Issue) error {
	if c.Bool("dry-run") {
		return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would end every hold on %s by force\n", i))
	}
	by, err := c.Viewer(ctx)
	if err != nil {
		return err
	}
	rep, ended, err := c.Ledger.Force(ctx, i, by, c.String("reason"))
	if err = c.late(err); err != nil {
		return err
	}
	out := moved(rep, "released")
	out.Ended = workers(ended)
	c.warnForced(i, ended)
	text := "nobody held " + i.String()
	if len(ended) > 0 {
		text = fmt.Sprintf("released %s from %s by force: %s -> %s", i, strings.Join(out.Ended, ", "), state(rep.Was), state(rep.Is))
	}
	return c.answer(out, text+"\n")
}

func (c *call) askToStop(ctx context.Context, i claim.Issue) error {
	if c.Bool("dry-run") {
		return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would ask the holder of %s to stop\n", i))
	}
	by, err := c.Viewer(ctx)
	if err != nil {
		return err
	}
	h, err := c.Ledger.Revoke(ctx, i, by, c.String("reason"))
	if err != nil {
		return err
	}
	return c.answer(reply{Issue: i.String(), Answer: "asked"}, fmt.Sprintf("asked %s to stop; it obeys at its next heartbeat or push\n", h.Record.Worker))
}
