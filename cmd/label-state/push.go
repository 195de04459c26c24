package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/gitpush"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

func pushCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "push", Usage: "push the branch under a hold; exit 1 when it is lost", ArgsUsage: "[REMOTE] [-- OPTIONS...]",
		Description: "Renews the hold, then has git push what is checked out. With claim.lease: refs the branch and the lease move in one step, or neither does: " +
			"a push cannot land after the hold was lost, however late it arrives. Otherwise GitHub compares nothing but the branch, and the push is given up before the lease could end.\n\n" +
			"The branch is never forced, and must not have been pushed to by somebody else. The pre-push hook runs as for any push. " +
			"The issue is --issue, LABEL_STATE_ISSUE, or the only one that this work tree holds. Behind -- stand options of git push that change no condition: " +
			"-u, -o, -q, -v, --no-verify, --signed and a few more.\n\n" +
			"   label-state push\n" +
			"   label-state push origin --issue acme/app#42 -- --set-upstream",
		Flags: writing(append(holderFlags(),
			&cli.StringFlag{Name: "issue", Usage: "issue `REF` whose hold it is (default: LABEL_STATE_ISSUE, or the only hold of this work tree)"},
			&cli.StringFlag{Name: "branch", Usage: "`BRANCH` of the remote to push to (default: the one that is checked out)"},
		)...),
		Action: t.push,
	}
}

func (t terminal) push(cc *cli.Context) error {
	remote, more := pushWords(cc.Args().Slice())
	if len(more) > 0 && !isFlag(more[0]) {
		return wrong(path(cc), "push: %q: want one remote, and options of git push behind --", oneLine(more[0]))
	}
	asked, err := gitpush.ReadOptions(more)
	if err != nil {
		return &failure{doing: path(cc), err: err}
	}
	o := options(cc)
	if o.Ref, err = t.pushedFor(cc); err != nil {
		return err
	}
	return t.session(cc, o, func(ctx context.Context, c *call) error {
		return c.pushUnder(ctx, c.Issue, gitpush.Push{Remote: remote, Options: asked})
	})
}

// pushWords are the remote, empty when none is named, and the options behind --. The library has
// swallowed the -- where nothing stood before it.
func pushWords(words []string) (remote string, more []string) {
	if len(words) > 0 && !isFlag(words[0]) && words[0] != "--" {
		remote, words = words[0], words[1:]
	}
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	return remote, words
}

// pushedFor is the issue under whose hold the push is.
func (t terminal) pushedFor(cc *cli.Context) (string, error) {
	for _, ref := range []string{cc.String("issue"), t.env.Getenv("LABEL_STATE_ISSUE")} {
		if ref != "" {
			return ref, nil
		}
	}
	store, err := t.env.Holds()
	if err != nil {
		return "", wrong(path(cc), "push: %s; name the issue with --issue", err)
	}
	holds, err := store.All()
	if err != nil {
		return "", &failure{doing: path(cc), err: err}
	}
	if n := len(holds); n != 1 {
		return "", wrong(path(cc), "push: this work tree has %d holds; name the issue with --issue", n)
	}
	return holds[0].Issue.String(), nil
}

// remoteName is a remote as it may be shown: a URL without the password that it may hold.
func remoteName(remote string) string {
	scheme, rest, isURL := strings.Cut(remote, "://")
	if !isURL {
		return oneLine(remote)
	}
	at, path, _ := strings.Cut(rest, "/")
	return oneLine(scheme + "://" + at[strings.LastIndexByte(at, '@')+1:] + "/" + path)
}

// A pushView is the JSON of a push.
type pushView struct {
	Issue  string `json:"issue"`
	Answer string `json:"answer"`
	Mode   string `json:"mode"`
	Remote string `json:"remote"`
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Until  string `json:"until,omitempty"`
}

func (c *call) pushUnder(ctx context.Context, i claim.Issue, p gitpush.Push) error {
	w, token, err := c.holder(i)
	if err != nil {
		return err
	}
	git := gitpush.Git{Dir: c.env.Dir, Env: os.Environ(), Say: c.err}
	local, err := c.planPush(ctx, git, &p)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		if err := c.holds(ctx, i, w, token); err != nil {
			return err
		}
		return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would push %s to %s under %s\n", oneLine(p.Branch), remoteName(p.Remote), i))
	}
	h, within, err := c.Ledger.Fence(ctx, i, w, token)
	if err != nil {
		return err
	}
	if err := c.Remember(h); err != nil {
		warn(c.err, "this work tree's record of the hold could not be written: %s", err)
	}
	if err := c.pushWithin(ctx, git, p, h, within); err != nil {
		return err
	}
	if err := git.Track(ctx, p, local); err != nil {
		warn(c.err, "pushed, but %s does not follow it: %s", oneLine(local), err)
	}
	return nil
}

// planPush finds out what would go where, and returns the branch that is checked out.
func (c *call) planPush(ctx context.Context, git gitpush.Git, p *gitpush.Push) (local string, err error) {
	p.Source, local, err = git.Head(ctx)
	if err != nil {
		return local, err
	}
	if p.Branch = cmp.Or(c.String("branch"), local); p.Branch == "" {
		return local, wrong(path(c.Context), "push: no branch is checked out; name one with --branch")
	}
	if err := git.CheckBranch(ctx, p.Branch); err != nil {
		return local, err
	}
	if p.Remote == "" {
		p.Remote, err = git.Remote(ctx, local)
	}
	if err == nil {
		_, err = git.Address(ctx, p.Remote)
	}
	return local, err
}

// pushWithin pushes under a hold that was just renewed.
func (c *call) pushWithin(ctx context.Context, git gitpush.Git, p gitpush.Push, h ledger.Hold, within time.Duration) error {
	step, strict, err := c.Ledger.Step(ctx, h)
	if err != nil {
		return err
	}
	var got gitpush.Result
	mode, how := "strict", "strict: the branch moves together with the lease, or not at all"
	if strict {
		p.With = (*gitpush.Step)(&step)
		got, err = c.pushStrictly(ctx, git, p, h)
	} else {
		mode, how = "fenced", "fenced: the hold was good for longer than the push; GitHub compared the branch only"
		got, err = c.pushFenced(ctx, git, p, h, within)
	}
	if err != nil {
		return err
	}
	v := pushView{h.Issue.String(), "pushed", mode, remoteName(p.Remote), p.Branch, p.Source, stamp(h.Until)}
	text := "pushed "
	if got == gitpush.There {
		v.Answer, text = "up-to-date", "nothing to push: "
	}
	return c.answer(v, text+fmt.Sprintf("%s to %s under %s\n", oneLine(p.Branch), remoteName(p.Remote), h.Issue)+
		table([][2]string{{"  commit", p.Source}, {"  mode", how}}))
}

// pushTries is how often a strict push is made whose lease was moved by the own worker meanwhile, or was
// read late.
const pushTries = 4

// pushStrictly pushes with the lease. When that has moved, the store says whether it still is ours: then it
// was a renewal of this worker's, and the push is made again on top of it.
func (c *call) pushStrictly(ctx context.Context, git gitpush.Git, p gitpush.Push, h ledger.Hold) (gitpush.Result, error) {
	if err := c.inRepository(ctx, git, p, h.Issue); err != nil {
		return 0, err
	}
	for n := 1; ; n++ {
		got, err := git.Push(ctx, p)
		var moved *gitpush.MovedError
		if !errors.As(err, &moved) || moved.Ref != p.With.Ref {
			return got, err
		}
		step, _, lost := c.Ledger.Step(ctx, h)
		switch {
		case lost != nil:
			return 0, lost
		case n == pushTries:
			unseen := fmt.Errorf("%s does not show the lease as GitHub's API does: %v", remoteName(p.Remote), moved) // not a no
			return 0, &failure{err: &ledger.UnknownError{Issue: h.Issue, Err: unseen}, hint: "push to the repository that the issue is in, or try again in a minute"}
		}
		p.With = (*gitpush.Step)(&step)
		if err := setup.Clock().Sleep(ctx, retryFirst); err != nil {
			return 0, &ledger.UnknownError{Issue: h.Issue, Err: err}
		}
	}
}

// inRepository makes sure that the remote is the repository that has the lease, as far as its address tells.
func (c *call) inRepository(ctx context.Context, git gitpush.Git, p gitpush.Push, i claim.Issue) error {
	at, err := git.Address(ctx, p.Remote)
	if err != nil {
		return err
	}
	to, err := c.env.Remote(ctx, at)
	if name := to.Owner + "/" + to.Repo; err == nil && !strings.EqualFold(name, i.Slug()) {
		return wrong(path(c.Context), "push: %s is %s, and the lease is in %s", remoteName(p.Remote), oneLine(name), i.Slug())
	}
	return nil
}

// pushFenced pushes as long as the hold is good for sure (PROTOCOL section 4).
func (c *call) pushFenced(ctx context.Context, git gitpush.Git, p gitpush.Push, h ledger.Hold, within time.Duration) (gitpush.Result, error) {
	timed, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %s; it was given up before the lease could end", within))
	defer cancel()
	got, err := git.Push(timed, p)
	if err == nil && !c.Ledger.Owns(h) {
		return got, &ledger.LostError{Issue: h.Issue, Worker: h.Record.Worker, Err: fmt.Errorf("pushed, but the answer came after the end: %w", claim.ErrOverdue)}
	}
	return got, err
}

// pushAnswers are those of a push that did not land, or of which nobody knows.
func pushAnswers() []answer {
	return []answer{
		on(exitCalled, help[*gitpush.OptionError]),
		on(exitCalled, help[*gitpush.RemoteError]),
		on(exitNo, says[*gitpush.MovedError]("see what is there with git fetch, build on it, and push again; nothing was forced")),
		on(exitNo, says[*gitpush.RefusedError]("nothing was pushed; git or the remote said above what it wants")),
		on(exitUnknown, func(_ *gitpush.UnclearError, at failure) string {
			return "see what has arrived, and push again if nothing has: label-state push --issue " + at.object
		}),
		on(exitUnknown, says[*gitpush.GitError]("nothing was pushed; git said above what is wrong")),
	}
}
