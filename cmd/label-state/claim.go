package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

func claimCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "claim", Usage: "take an issue, as a worker or as a person", ArgsUsage: "REF",
		Description: "With --codename (or LABEL_STATE_CODENAME) a worker takes the hold; of any number exactly one wins.\n" +
			"Without it a person takes the issue: a label keeps workers off until it is released." +
			refForms +
			"   label-state claim acme/app#42 --codename lucius --ttl 2h\n" +
			"   label-state claim 42 --codename lucius --wait 10m   until it is free\n" +
			"   label-state claim 42 --force                        take over, as a person",
		Flags: writing(append(identityFlags(),
			&cli.DurationFlag{Name: "ttl", Usage: "length of the lease, at most claim.max_ttl (default: claim.ttl)"},
			&cli.StringFlag{Name: "branch", Usage: "`BRANCH` the work will be pushed to"},
			&cli.DurationFlag{Name: "wait", Usage: "keep trying this long while the issue is not free"},
			&cli.BoolFlag{Name: "force", Usage: "end a hold that stands; recorded with your login"},
			&cli.StringFlag{Name: "reason", Usage: "why, with --force"},
		)...),
		Action: t.on(takeIssue),
	}
}

// refForms is a paragraph of every command about an issue (PRODUCT ruling 20).
const refForms = "\n\nREF is owner/repo#7, the issue's URL, or inside a clone #7 or 7.\n\n"

func identityFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "codename", Usage: "`NAME` of the kind of worker (default: LABEL_STATE_CODENAME)"},
		&cli.StringFlag{Name: "firing-id", Usage: "`ID` of this run, used once for an issue (default: LABEL_STATE_FIRING_ID, else made up)"},
	}
}

func takeIssue(ctx context.Context, c *call, i claim.Issue) error {
	if c.IsSet("reason") && !c.Bool("force") {
		return wrong("claim", "--reason goes with --force")
	}
	w := c.worker()
	if w.Codename == "" {
		return c.takeAsPerson(ctx, i)
	}
	for _, flag := range []string{"ttl", "wait"} {
		if c.IsSet(flag) && c.Duration(flag) <= 0 {
			return wrong("claim", "--%s %s: want more than nothing, such as 30m", flag, c.Duration(flag))
		}
	}
	return c.takeAsWorker(ctx, i, w)
}

func (c *call) takeAsWorker(ctx context.Context, i claim.Issue, w claim.Worker) error {
	if err := c.unpaused(i); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return c.wouldClaim(ctx, i, w)
	}
	if c.Bool("force") {
		if err := c.clear(ctx, i, w); err != nil {
			return err
		}
	}
	h, err := c.claimWaiting(ctx, i, ledger.Request{Worker: w, TTL: c.Duration("ttl"), Branch: c.String("branch")})
	if err = c.won(h, err); err != nil {
		return err
	}
	return c.answer(held(h, "won"), "claimed "+describeHold(h))
}

func describeHold(h ledger.Hold) string {
	until := "without end"
	if !h.Until.IsZero() {
		until = "until " + moment(h.Until)
		if h.Record.TTL > 0 {
			until += " (" + round(h.Record.TTL) + ")"
		}
	}
	token := ""
	if h.Token > 0 {
		token = fmt.Sprint(h.Token)
	}
	w := h.Record.Worker
	return fmt.Sprintf("%s %s\n", h.Issue, oneLine(h.Title)) + table([][2]string{
		{"  worker", w.Codename + " (run " + w.FiringID + ")"}, {"  lease", until}, {"  token", token}, {"  record", h.URL},
	})
}

// worker is who the command line or the environment says is asking.
func (c *call) worker() claim.Worker {
	w := c.Worker
	if n := cmp.Or(c.String("codename"), c.String("agent")); n != "" {
		if n != w.Codename {
			w = claim.Worker{}
		}
		w.Codename = n
	}
	if f := c.String("firing-id"); f != "" {
		w.FiringID = f
	}
	return w
}

// Between two tries --wait rests for retryFirst, then twice as long each time up to retryMost.
const (
	retryFirst = time.Second
	retryMost  = 15 * time.Second
)

// claimWaiting claims, and with --wait tries again while the answer is no. A made-up firing id is
// new at every try; a given one that has lost a race is used up.
func (c *call) claimWaiting(ctx context.Context, i claim.Issue, req ledger.Request) (ledger.Hold, error) {
	end, said := time.Now().Add(c.Duration("wait")), ""
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		h, err := c.Ledger.Claim(ctx, i, req)
		rest := min(pause, time.Until(end))
		var held *ledger.HeldError
		if !errors.As(err, &held) || rest <= 0 || held.Yielded != nil && req.Worker.FiringID != "" {
			return h, err
		}
		if text := oneLine(held.Error()); text != said {
			fmt.Fprintf(c.err, "label-state: %s is not free yet: %s\n", i, text)
			said = text
		}
		if setup.Clock().Sleep(ctx, rest) != nil {
			return h, err
		}
	}
}

// wouldClaim is claim's dry run: the same question, and no request that writes.
func (c *call) wouldClaim(ctx context.Context, i claim.Issue, w claim.Worker) error {
	f, v, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
	if err != nil {
		return err
	}
	taken := v.Has(lifecycle.CodeInFlight)
	if c.Bool("force") {
		v = without(v, lifecycle.CodeInFlight)
	}
	if len(v.Reasons) > 0 {
		return &ledger.HeldError{Issue: i, Verdict: v}
	}
	text := fmt.Sprintf("would claim %s %s for %s", i, oneLine(f.Title), w.Codename)
	if taken {
		text += ", ending the hold that stands"
	}
	return c.answer(reply{Issue: i.String(), Answer: "free"}, text+"\n")
}

// clear ends the hold that stands in the way of a worker, if nothing else does: a hold is not ended
// for a claim that is refused anyway.
func (c *call) clear(ctx context.Context, i claim.Issue, w claim.Worker) error {
	f, v, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
	if err != nil {
		return err
	}
	others := without(v, lifecycle.CodeInFlight)
	switch {
	case len(others.Reasons) > 0:
		return &ledger.HeldError{Issue: i, Verdict: others}
	case f.Log.Used(w) || !v.Has(lifecycle.CodeInFlight):
		return nil // Claim says why not, or wins
	}
	return c.force(ctx, i)
}

// without is a verdict that leaves some reasons out of account.
func without(v lifecycle.Verdict, codes ...lifecycle.Code) lifecycle.Verdict {
	v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool { return slices.Contains(codes, r.Code) })
	return v
}

func (c *call) force(ctx context.Context, i claim.Issue) error {
	by, err := c.Viewer(ctx)
	if err != nil {
		return err
	}
	_, ended, err := c.Ledger.Force(ctx, i, by, c.String("reason"))
	c.warnForced(i, ended)
	return c.late(err)
}

func (c *call) warnForced(i claim.Issue, ended []claim.Claim) {
	for _, e := range ended {
		warn(c.err, "%s lost %s by force; it may still act until its next heartbeat or push", e.Record.Worker, i)
	}
}
