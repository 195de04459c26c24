package main

import (
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/slackgate"
)

// gate is the Slack channel that --slack asks for; nil when it was not given.
func (c *call) gate() (*slackgate.Gate, error) {
	conf := c.Config.Plan.Slack
	switch {
	case !c.Bool("slack"):
		return nil, nil
	case !c.IsSet("wait"):
		return nil, wrong("plan", "--slack goes with --wait: nobody else reads the reactions there")
	case conf.Channel == "":
		return nil, wrong("plan", "--slack: the configuration has no plan.slack")
	}
	token, api, err := c.env.SlackToken(conf.TokenEnv, options(c.Context))
	if err != nil {
		return nil, err
	}
	return slackgate.New(slackgate.Options{Token: token, Channel: conf.Channel, Approvers: conf.Approvers, API: api}), nil
}

// showInSlack posts the plan of a holder, and returns the message's name for the record. A plan that
// waits already was shown already.
func (c *call) showInSlack(ctx context.Context, g *slackgate.Gate, i claim.Issue, w claim.Worker, text string) (string, error) {
	f, _, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
	if err != nil {
		return "", err
	}
	own, found := f.Log.Find(w)
	if !found || !own.Live() {
		return "", &ledger.LostError{Issue: i, Worker: w, Err: claim.ErrNotHolder}
	}
	if own.Plan.Pending() {
		return ledger.GateOf(f.Log, w), nil
	}
	m, err := g.Post(ctx, slackgate.Plan{Issue: i.String(), Title: f.Title, URL: f.URL, Worker: w.String(), Text: text})
	if err != nil {
		return "", &failure{err: err, hint: hintOr(err, "correct plan.slack, or leave --slack out: a plan can be answered on GitHub")}
	}
	return m.String(), nil
}

// A slackWatch is one wait for an answer in Slack.
type slackWatch struct {
	gate *slackgate.Gate
	rest time.Time // nothing is asked before
	said string    // the last trouble that was told
}

// ask reads the reactions to the plan of w and records the answer, if there is one. Trouble with Slack
// is told once: the plan can be answered on GitHub as well.
func (c *call) ask(ctx context.Context, s *slackWatch, f lifecycle.Facts, w claim.Worker) (answered bool) {
	own, _ := f.Log.Find(w)
	m, shown := slackgate.ParseMessage(ledger.GateOf(f.Log, w))
	shown = shown && m.Channel == c.Config.Plan.Slack.Channel
	if s.gate == nil || !shown || !own.Live() || !own.Plan.Pending() || time.Now().Before(s.rest) {
		return false
	}
	a, err := s.gate.Answer(ctx, m)
	if err == nil && a != nil {
		kind := claim.KindReject
		if a.Approves {
			kind = claim.KindApprove
		}
		_, err = c.Ledger.Attest(ctx, f.Issue, w, kind, "slack:"+a.User)
		err = c.late(err)
		answered = err == nil
	}
	var busy *slackgate.BusyError
	if errors.As(err, &busy) {
		s.rest = time.Now().Add(busy.After)
	}
	if err != nil && err.Error() != s.said && ctx.Err() == nil {
		s.said = err.Error()
		warn(c.err, "%s", err)
	}
	return answered
}
