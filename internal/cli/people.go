package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/trouble"
)

// Force ends whatever hold an issue has, in the name of the login that is signed in, and names
// whoever lost it. A worker that did may act until it asks next (docs/guarantees.md); a session
// that held it in this worktree is told at its next event. Errors are those of Ledger.Force.
func (c *Call) Force(ctx context.Context, i claim.Issue, reason string) (ledger.Repair, []claim.Claim, error) {
	by, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return ledger.Repair{}, nil, err
	}

	rep, ended, err := c.Session.Ledger.Force(ctx, i, by, reason)
	why := fmt.Sprintf("%s: forced by %s at %s", claim.ErrEnded, by, Moment(time.Now()))
	for _, e := range ended {
		if claim.SameLogin(e.Person, by) { // who did it knows
			continue
		}
		if e.Person != "" {
			c.Warnf("%s lost %s by force; tell them", e.Person, i)
			continue
		}

		c.Warnf("%s lost %s by force; it may still act until its next heartbeat or push",
			e.Record.Worker, i)
		c.recordLost(i, e.Record.Worker, why)
	}

	return rep, ended, c.WarnLate(err)
}

// Outside is the error of a claim, or of what ends another's hold. Where GitHub hides from this
// token whose records count, that its own do not comes first: to know of the others would not help.
func (c *Call) Outside(ctx context.Context, err error) error {
	var own *github.OutsiderError
	if _, hidden := errors.AsType[*github.HiddenRoleError](err); !hidden {
		return err
	}
	if no := c.Session.Client.Heard(ctx, c.Session.Repo); errors.As(no, &own) {
		return no
	}

	return err
}

// WorkflowPath is where a repository runs the Action.
const WorkflowPath = ".github/workflows/label-state.yml"

// OrComment adds to a refusal of who cannot do something on the command line, because GitHub hides
// whose records count, the way by a comment with these words, where the repository listens to any.
func (c *Call) OrComment(ctx context.Context, i claim.Issue, words string, err error) error {
	no, hidden := errors.AsType[*github.HiddenRoleError](err)
	if !hidden || !c.HeedsComments(ctx) {
		return err
	}

	return Advise(err, trouble.Say("say it with a comment", strconv.Itoa(i.Number), i.Slug(), words),
		answer.Advice("or "+no.Remedy()))
}

// HeedsComments reports whether a workflow of the repository runs on comments.
func (c *Call) HeedsComments(ctx context.Context) bool {
	text, err := c.Session.Client.File(ctx, c.Session.Repo, WorkflowPath)
	return err == nil && strings.Contains(string(text), "issue_comment")
}

// OrContribute adds to the refusal of a claim the way on for a contributor, where the repository
// welcomes any.
func (c *Call) OrContribute(ctx context.Context, i claim.Issue, err error) error {
	if no, is := errors.AsType[*github.OutsiderError](err); is && no.Welcome {
		return Advise(err, c.asContributor(ctx, i, no)...)
	}
	return err
}

// asContributor is the way on for a contributor, by what can be seen of the issue.
func (c *Call) asContributor(ctx context.Context, i claim.Issue, no *github.OutsiderError) []answer.Command {
	o := c.Options()
	o.Ref, o.View = i.String(), true
	take := trouble.Say("take it as a contributor, by a comment", strconv.Itoa(i.Number), i.Slug(), "/claim")
	remedy := answer.Advice("or " + no.Remedy())
	env := c.Env
	env.Stderr = io.Discard // that it goes by a guess
	s, err := setup.Open(ctx, env, o)
	if err != nil {
		return trouble.Then(take, remedy)
	}
	defer func() { _ = s.Close() }()

	f, err := s.Ledger.Look(ctx, i)
	theirs := c.Session.Config.Contributors
	switch {
	case err != nil:
		return trouble.Then(take, remedy)
	case !theirs.Covers(f.Labels):
		return trouble.Then(trouble.Queue("contributors take issues with the label "+strings.Join(theirs.Labels, " or "),
			i.Slug()), remedy)
	}

	f.Limit, _ = ContributorLimit(ctx, s) // where it cannot be read, the answer to the comment tells
	if v := s.Ledger.Rules().Verdict(f, lifecycle.Seeker{Contributor: true}); v.Answer != lifecycle.Free {
		return trouble.Then(answer.Advice("you cannot take it now: "+v.Why()),
			trouble.Queue("see what is free", i.Slug()))
	}

	return trouble.Then(take, remedy)
}

// ContributorLimit says why the login of a session, as a contributor, may claim nothing more now;
// empty when it may.
func ContributorLimit(ctx context.Context, s *setup.Session) (string, error) {
	theirs, client := s.Config.Contributors, s.Client
	me, err := client.Viewer(ctx)
	if err != nil {
		return "", err
	}

	if theirs.AccountAge > 0 {
		since, err := client.Joined(ctx, me)
		if err != nil {
			return "", err
		}
		if young := theirs.TooYoung(since, setup.Clock().Now()); young != "" {
			return young, nil
		}
	}

	holds, err := client.PersonsHolds(ctx, s.Repo)
	return theirs.TooMany(s.Ledger.Rules().HoldsOf(holds, me)), err
}

// ByComment ends a hold that an App has recorded for a person, whether or not the person's own
// records count.
func ByComment(i claim.Issue) answer.Command {
	return trouble.Say("release it with a comment", strconv.Itoa(i.Number), i.Slug(), "/release")
}

// Welcome reports whether an error is that records of whoever asks do not count, in a repository
// where contributors may claim by a comment.
func Welcome(err error) bool {
	no, is := errors.AsType[*github.OutsiderError](err)
	return is && no.Welcome
}
