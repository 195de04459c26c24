package gitpush

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/git"
)

// A Git is the installed git, in a clone.
type Git struct {
	git.Git
	Say io.Writer // what a push has to say beside its answer
}

// no reports whether git answered no, rather than that it could not find out.
func no(err error) bool {
	e, is := errors.AsType[*git.Error](err)
	return is && (e.Code == 1 || e.Code > 0 && e.Operation == "cat-file")
}

// talk has git talk to the remote, and with the user: for passwords, and about trouble. A code that
// is not 0 comes with an error, for whom the user was told the reason already.
func (g Git) talk(ctx context.Context, args ...string) (out string, code int, err error) {
	out, code, err = g.Talk(ctx, g.Say, args...)
	if err == nil && code != 0 {
		err = &git.Error{Repository: g.Dir, Operation: args[0], Code: code}
	}
	return out, code, err
}

// Head returns the commit that is checked out and the branch it is on, which is empty when it is on
// none.
func (g Git) Head(ctx context.Context) (oid, branch string, err error) {
	if _, err = g.Ask(ctx, "rev-parse", "--git-dir"); err != nil {
		return "", "", located(err, "not in a git clone")
	}
	if oid, err = g.Ask(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return "", "", located(err, "nothing is committed here yet")
	}

	branch, err = g.Ask(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if no(err) {
		err = nil
	}

	return oid, branch, err
}

// located says what it means that git found nothing.
func located(err error, reason string) error {
	if git.Code(err) > 0 {
		return answer.Wrongf("%s", reason)
	}
	return err
}

// Remote is where git would push the branch: what its configuration says, else origin, else the
// only remote.
func (g Git) Remote(ctx context.Context, branch string) (string, error) {
	name, err := g.Ask(ctx, "for-each-ref", "--format=%(push:remotename)", "refs/heads/"+branch)
	if err != nil || name != "" && branch != "" {
		return name, err
	}

	out, err := g.Ask(ctx, "remote")
	all := strings.Fields(out)
	switch {
	case err != nil:
		return "", err
	case slices.Contains(all, "origin"):
		return "origin", nil
	case len(all) == 1:
		return all[0], nil
	}

	return "", answer.Wrongf("this clone has %d remotes and none is called origin; name one", len(all))
}

// readable is the remote to read from what a push to it would meet: itself, under its own settings,
// unless it pushes elsewhere.
func (g Git) readable(ctx context.Context, remote string) (string, error) {
	to, err := g.Address(ctx, remote)
	if err != nil {
		return "", err
	}
	if from, err := g.Ask(ctx, "remote", "get-url", remote); err == nil && from == to {
		return remote, nil
	}

	return to, nil
}

// Address is the URL that a push to the remote goes to. One that pushes to several at once is a
// wrong call: no step moves references of two repositories. What is not a remote's name is an
// address itself.
func (g Git) Address(ctx context.Context, remote string) (string, error) {
	if remote == "" || strings.HasPrefix(remote, "-") {
		return "", answer.Wrongf("%q is not a remote", remote)
	}
	out, err := g.Ask(ctx, "remote", "get-url", "--push", "--all", remote)
	switch {
	case git.Code(err) > 0:
		return remote, nil
	case err != nil:
		return "", err
	case strings.Contains(out, "\n"):
		return "", answer.Wrongf("%s pushes to several addresses; one is needed", remote)
	}

	return out, nil
}
