package gitpush

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Git is the installed git, in a clone.
type Git struct {
	Dir string
	Env []string  // all of its environment, as NAME=value
	Say io.Writer // what a push has to say beside its answer
}

// A GitError is a git that ended otherwise than with what it was asked.
type GitError struct {
	Command string // its first word
	Code    int    // exit code
	Said    string // the last line it said; empty when it was said to the user
}

func (e *GitError) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("git %s: exit code %d", e.Command, e.Code)
	}
	return "git " + e.Command + ": " + e.Said
}

// A RemoteError is a clone or a remote from which, or to which, nothing can be pushed as it was asked.
type RemoteError struct{ Reason string }

func (e *RemoteError) Error() string { return e.Reason }

// no reports whether git answered no, rather than that it could not find out.
func no(err error) bool {
	var git *GitError
	return errors.As(err, &git) && (git.Code == 1 || git.Command == "cat-file")
}

// killAfter is how long a git that was told to stop may take.
const killAfter = 2 * time.Second

// ask has git answer a question about the clone.
func (g Git) ask(ctx context.Context, args ...string) (string, error) { return g.fed(ctx, "", args...) }

func (g Git) fed(ctx context.Context, input string, args ...string) (string, error) {
	var said bytes.Buffer
	out, code, err := g.run(ctx, strings.NewReader(input), &said, args)
	if err == nil && code != 0 {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		err = &GitError{args[0], code, strings.TrimPrefix(lines[len(lines)-1], "fatal: ")}
	}
	return strings.TrimSuffix(out, "\n"), err
}

// talk has git talk to the remote, and with the user: for passwords, and about trouble.
func (g Git) talk(ctx context.Context, args ...string) (out string, code int, err error) {
	return g.run(ctx, nil, g.Say, args)
}

func (g Git) run(ctx context.Context, in io.Reader, said io.Writer, args []string) (string, int, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin, cmd.Stderr, cmd.WaitDelay = g.Dir, in, said, killAfter
	cmd.Env = g.Env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.String(), 0, nil
	case ctx.Err() != nil:
		return out.String(), -1, fmt.Errorf("git %s: %w", args[0], context.Cause(ctx))
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return out.String(), exit.ExitCode(), nil
	}
	return out.String(), -1, fmt.Errorf("git %s: %w", args[0], err)
}

// commit makes a commit on the tree of its parent. Its author is nobody in particular, so that it needs no
// settings of the user's.
func (g Git) commit(ctx context.Context, parent, message string) (string, error) {
	g.Env = slices.Clone(g.Env)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		g.Env = append(g.Env, "GIT_"+who+"_NAME=label-state", "GIT_"+who+"_EMAIL=label-state@users.noreply.github.com")
	}
	return g.fed(ctx, message, "commit-tree", parent+"^{tree}", "-p", parent, "-F", "-")
}

// Head returns the commit that is checked out and the branch it is on, which is empty when it is on none.
func (g Git) Head(ctx context.Context) (oid, branch string, err error) {
	if _, err = g.ask(ctx, "rev-parse", "--git-dir"); err != nil {
		return "", "", located(err, "this is no clone")
	}
	if oid, err = g.ask(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return "", "", located(err, "nothing is committed here yet")
	}
	branch, err = g.ask(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if no(err) {
		err = nil
	}
	return oid, branch, err
}

// located says what it means that git found nothing.
func located(err error, reason string) error {
	var git *GitError
	if errors.As(err, &git) {
		return &RemoteError{reason}
	}
	return err
}

// CheckBranch returns a *RemoteError for what cannot be a branch's name.
func (g Git) CheckBranch(ctx context.Context, name string) error {
	_, err := g.ask(ctx, "check-ref-format", "refs/heads/"+name)
	return located(err, fmt.Sprintf("%q is not a branch's name", name))
}

// Remote is where git would push the branch: what its configuration says, else origin, else the only remote.
func (g Git) Remote(ctx context.Context, branch string) (string, error) {
	name, err := g.ask(ctx, "for-each-ref", "--format=%(push:remotename)", "refs/heads/"+branch)
	if err != nil || name != "" && branch != "" {
		return name, err
	}
	out, err := g.ask(ctx, "remote")
	all := strings.Fields(out)
	switch {
	case err != nil:
		return "", err
	case slices.Contains(all, "origin"):
		return "origin", nil
	case len(all) == 1:
		return all[0], nil
	}
	return "", &RemoteError{fmt.Sprintf("this clone has %d remotes and none is called origin; name one", len(all))}
}

// readable is the remote to read from what a push to it would meet: itself, under its own settings, unless it
// pushes elsewhere.
func (g Git) readable(ctx context.Context, remote string) (string, error) {
	to, err := g.Address(ctx, remote)
	if err != nil {
		return "", err
	}
	if from, err := g.ask(ctx, "remote", "get-url", remote); err == nil && from == to {
		return remote, nil
	}
	return to, nil
}

// Address is the URL that a push to the remote goes to. One that pushes to several at once is a *RemoteError: no
// step moves references of two repositories. What is no remote's name is an address itself.
func (g Git) Address(ctx context.Context, remote string) (string, error) {
	if remote == "" || strings.HasPrefix(remote, "-") {
		return "", &RemoteError{fmt.Sprintf("%q is not a remote", remote)}
	}
	out, err := g.ask(ctx, "remote", "get-url", "--push", "--all", remote)
	var unknown *GitError
	switch {
	case errors.As(err, &unknown):
		return remote, nil
	case err != nil:
		return "", err
	case strings.Contains(out, "\n"):
		return "", &RemoteError{remote + " pushes to several addresses; name one of them"}
	}
	return out, nil
}
