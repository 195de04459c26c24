package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
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
		if e.Person != "" {
			c.Warnf("%s lost %s by force; tell them", e.Person, i)
			continue
		}

		c.Warnf("%s lost %s by force; it may still act until its next heartbeat or push",
			e.Record.Worker, i)
		if err := c.Session.Lose(i, e.Record.Worker, why); err != nil {
			c.Warnf("this worktree's record of the hold could not be changed: %s", err)
		}
	}

	return rep, ended, c.WarnLate(err)
}

// Outside is the error of a claim. Where GitHub hides from this token whose records count, that its
// own do not comes first: to know of the others would not help.
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
