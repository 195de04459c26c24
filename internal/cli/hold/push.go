package hold

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/gitpush"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
)

type pushParams struct {
	Remote  string   `arg:"[REMOTE]"`
	Options []string `arg:"[-- OPTIONS...]"`
	cli.Holder
	cli.OfAgent
	Issue  string `flag:"issue" value:"ISSUE" text:"whose hold it is (default: LABEL_STATE_ISSUE, or the only hold of this worktree)"`
	Branch string `flag:"branch" value:"BRANCH" text:"branch of the remote to push to (default: the one that is checked out)"`
	cli.Writing
}

// Push pushes the branch under a hold.
func Push() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "push",
		Summary: "push the branch under a hold; exit 1 when it is lost",
		About: "Renews the hold, then has git push what is checked out. With claim.lease: refs the branch and the lease move in one step, or neither does: " +
			"a push cannot land after the hold was lost. Otherwise it stops before the lease could end.\n\n" +
			"The branch is never forced, and must not have been pushed to by somebody else. " +
			"OPTIONS are those of git push that leave these conditions alone: -u, -o, -q, -v, --no-verify, " +
			"--signed and a few more.",
		Examples: "label-state push\n" +
			"label-state push origin --issue acme/app#42 -- --set-upstream\n",
	}, pushNamedOrHeld)
}

func pushNamedOrHeld(ctx context.Context, c *cli.Call, p *pushParams) error {
	asked, err := gitpush.ReadOptions(p.Options)
	if err != nil {
		return err
	}
	if _, err := c.Env.Holds(); err != nil && p.Issue == "" {
		return c.Usagef("%s; run it inside the clone that has the branch", err)
	}

	return cli.OnIssue(func(ctx context.Context, c *cli.Call, i claim.Issue, p *pushParams) error {
		err := pushUnder(ctx, c, i, p.Branch, gitpush.Push{Remote: p.Remote, Options: asked})
		if _, is := errors.AsType[*git.Error](err); is && ctx.Err() == nil && cli.ProblemOf(err).Code == answer.Machine {
			fix := answer.Call("nothing was pushed; git said above what is wrong; fix that, then run", answer.Again)
			if _, wrong := host.ParseIssue(p.Remote, c.Session.Defaults); wrong == nil {
				fix = answer.Call("nothing was pushed: "+remoteName(p.Remote)+" was read as a remote; an issue is named with",
					"push", "--issue", p.Remote)
			}
			return cli.Advise(err, fix)
		}
		return err
	})(ctx, c, p)
}

// remoteName is a remote as it may be shown: a URL without the password that it may hold.
func remoteName(remote string) string {
	scheme, rest, isURL := strings.Cut(remote, "://")
	if !isURL {
		return cli.OneLine(remote)
	}
	at, path, _ := strings.Cut(rest, "/")
	return cli.OneLine(scheme + "://" + at[strings.LastIndexByte(at, '@')+1:] + "/" + path)
}

// A PushView is the JSON of a push.
type PushView struct {
	Issue  string `json:"issue"`
	Answer string `json:"answer"`
	Mode   string `json:"mode"`
	Remote string `json:"remote"`
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Until  string `json:"until,omitempty"`

	cli.WithWarnings
}

func pushUnder(ctx context.Context, c *cli.Call, i claim.Issue, branch string, p gitpush.Push) error {
	w, token, err := c.Holder(ctx, i)
	if err != nil {
		return c.WhoHolds(ctx, i, err)
	}

	pusher := gitpush.Git{Git: git.Git{Dir: c.Env.Dir, Env: c.Env.Inherited()}, Say: c.Err}
	local, at, err := planPush(ctx, c, pusher, branch, &p)
	if err != nil {
		return err
	}

	h, within, err := c.Session.Ledger.Fence(ctx, i, w, token)
	switch {
	case ledger.IsUnsent(err):
		return c.Would(i, "push %s to %s under %s", cli.OneLine(p.Branch), remoteName(p.Remote), i)
	case err != nil:
		return c.NoteLost(i, w, err)
	}

	c.RecordRenewal(h)
	if own := h.Record.Branch; own != "" && own != p.Branch {
		c.Warnf("the hold is for the branch %s, and this pushes %s", cli.OneLine(own), cli.OneLine(p.Branch))
	}
	step, strict, err := c.Session.Ledger.Step(ctx, h)
	if err != nil {
		return err
	}

	var got gitpush.Result
	mode, how := "strict", "strict: the branch moves together with the lease, or not at all"
	if strict {
		p.With = (*gitpush.Step)(&step)
		got, err = pushStrictly(ctx, c, pusher, p, at, h)
	} else { // as long as the hold is good for sure (spec-writing.md#acting-under-a-hold)
		mode, how = "fenced", "fenced: the hold was good for longer than the push; GitHub compared the branch only"
		err = c.Session.Ledger.Within(ctx, h, within, func(timed context.Context) (err error) {
			got, err = pusher.Push(timed, p)
			return err
		})
	}

	if err != nil {
		return err
	}
	if err := pusher.Track(ctx, p, local); err != nil {
		c.Warnf("pushed, but %s does not follow it: %s", cli.OneLine(local), err)
	}

	v := PushView{
		Issue:  h.Issue.String(),
		Answer: "pushed",
		Mode:   mode,
		Remote: remoteName(p.Remote),
		Branch: p.Branch,
		Commit: p.Source,
		Until:  cli.Stamp(h.Until),
	}
	text := "pushed "
	if got == gitpush.There {
		v.Answer, text = "up-to-date", "nothing to push: "
	}

	text += fmt.Sprintf("%s to %s under %s\n", cli.OneLine(p.Branch), remoteName(p.Remote), h.Issue)
	return c.Answer(&v, text+cli.Table([][2]string{{"  commit", p.Source}, {"  mode", how}}))
}

// planPush finds out what would go where, and returns the branch that is checked out and the
// address of the remote.
func planPush(ctx context.Context, c *cli.Call, git gitpush.Git, branch string,
	p *gitpush.Push,
) (local, at string, err error) {
	p.Source, local, err = git.Head(ctx)
	if err != nil {
		return "", "", err
	}

	switch p.Branch = local; {
	case branch != "":
		p.Branch, err = claim.ParseBranch(branch)
	case local == "":
		return "", "", c.Usagef("no branch is checked out; name one with --branch")
	}

	if err != nil {
		return "", "", answer.Wrong(err)
	}

	if p.Remote == "" {
		p.Remote, err = git.Remote(ctx, local)
	}

	if err == nil {
		at, err = git.Address(ctx, p.Remote)
	}

	return local, at, err
}

// pushTries is how often a strict push is made whose lease was moved by the own worker meanwhile,
// or was read late.
const pushTries = 4

// pushStrictly pushes with the lease. When that has moved, the store says whether it still is ours:
// then it was a renewal of this worker's, and the push is made again on top of it.
func pushStrictly(ctx context.Context, c *cli.Call, git gitpush.Git, p gitpush.Push,
	at string, h ledger.Hold,
) (gitpush.Result, error) {
	// it must be the repository that has the lease, as far as its address tells
	to, err := c.Env.Remote(ctx, at)
	if name := to.Owner + "/" + to.Repo; err == nil && !strings.EqualFold(name, h.Issue.Slug()) {
		return 0, c.Usagef("remote %s is %s, but the lease is in %s", remoteName(p.Remote),
			cli.OneLine(name), h.Issue.Slug())
	}

	for n := 1; ; n++ {
		got, err := git.Push(ctx, p)
		var moved *gitpush.MovedError
		if !errors.As(err, &moved) || moved.Ref != p.With.Ref {
			return got, err
		}

		step, _, lost := c.Session.Ledger.Step(ctx, h)
		switch {
		case lost != nil:
			return 0, lost
		case n == pushTries:
			// not a no
			unseen := fmt.Errorf("%s does not show the lease as GitHub's API does: %v", remoteName(p.Remote), moved)
			return 0, cli.Advise(&ledger.UnknownError{Issue: h.Issue, Err: unseen},
				answer.Call("push to the repository that the issue is in; if it already is, try again in a minute",
					answer.Again))
		}

		p.With = (*gitpush.Step)(&step)
		if err := setup.Clock().Sleep(ctx, cli.RetryFirst); err != nil {
			return 0, &ledger.UnknownError{Issue: h.Issue, Err: err}
		}
	}
}
