package queue

import (
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/slackgate"
)

// openGate is the Slack channel that --slack asks for; nil when it was not given.
func openGate(c *cli.Call, p *planParams) (*slackgate.Gate, error) {
	conf := c.Session.Config.Plan.Slack
	switch {
	case !p.Slack:
		return nil, nil
	case p.Wait == 0:
		return nil, c.Usagef("--slack goes with --wait: only it reads the reactions there")
	case conf.Channel == "":
		return nil, c.Usagef("--slack: the configuration has no plan.slack")
	}

	token, api, err := c.Session.SlackToken()
	if err != nil {
		return nil, err
	}

	return slackgate.New(slackgate.Options{
		Token:     token,
		Channel:   conf.Channel,
		Approvers: conf.Approvers,
		API:       api,
	}), nil
}

// showInSlack posts the plan of a holder, and returns the message's name for the record. A plan
// that waits already was shown already.
func showInSlack(ctx context.Context, c *cli.Call, g *slackgate.Gate, i claim.Issue, w claim.Worker,
	text string,
) (string, error) {
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return "", err
	}
	if err := c.Session.Ledger.Holds(f, w, 0); err != nil {
		return "", err
	}
	if own, _ := f.Log.Find(w); own.Plan.Pending() {
		return "", nil
	}

	m, err := g.Post(ctx, slackgate.Plan{
		Issue:  i.String(),
		Title:  f.Title,
		URL:    f.URL,
		Worker: w.String(),
		Text:   text,
	})
	if err != nil {
		return "", cli.Otherwise(err, answer.Advice("correct plan.slack, or leave --slack out: a plan can be answered on GitHub"))
	}

	return m.String(), nil
}

// A slackWatch is one wait for an answer in Slack.
type slackWatch struct {
	gate *slackgate.Gate
	rest time.Time // nothing is asked before
	said string    // the last trouble that was told
}

// askSlack reads the reactions to the plan of w and records the answer, if there is one. Trouble
// with Slack is told once: the plan can be answered on GitHub as well.
func askSlack(ctx context.Context, c *cli.Call, s *slackWatch, f lifecycle.Facts, w claim.Worker) (answered bool) {
	own, _ := f.Log.Find(w)
	m, shown := slackgate.ParseMessage(ledger.GateOf(f.Log, w))
	shown = shown && m.Channel == c.Session.Config.Plan.Slack.Channel
	if s.gate == nil || !shown || !own.Live() || !own.Plan.Pending() || time.Now().Before(s.rest) {
		return false
	}

	a, err := s.gate.Answer(ctx, m)
	if a != nil {
		kind := claim.KindReject
		if a.Approves {
			kind = claim.KindApprove
		}

		_, err = c.Session.Ledger.Answer(ctx, f.Issue, ledger.Answer{
			Kind:    kind,
			By:      "slack:" + a.User,
			Worker:  w,
			Vouched: true, // by Slack
		})
		err = c.WarnLate(err)
		answered = err == nil
	}

	var busy *slackgate.BusyError
	if errors.As(err, &busy) {
		s.rest = time.Now().Add(busy.After)
	}

	if err != nil && err.Error() != s.said && ctx.Err() == nil {
		s.said = err.Error()
		c.Warnf("%s", err)
	}

	return answered
}
