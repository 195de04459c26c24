package pushcheck

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/label-state/label-state/internal/outgoing"
)

// errUsage: neither git nor pre-commit can have started the program so.
var errUsage = errors.New("called without REMOTE and URL")

// preCommitRemote is the variable in which pre-commit says the remote's name. It gives no
// arguments.
const preCommitRemote = "PRE_COMMIT_REMOTE_NAME"

// Called reports whether git or pre-commit can have started the hook so: with REMOTE and URL, or
// with neither and pre-commit's variables.
func (h *Hook) Called() bool {
	return len(h.Args) >= 2 || len(h.Args) == 0 && h.Env.Getenv(preCommitRemote) != ""
}

// push reads what is about to happen: from the arguments and the input as git, or the first stage,
// gives them, else from the variables of pre-commit.
func (h *Hook) push(ctx context.Context) (outgoing.Push, error) {
	switch {
	case !h.Called():
		return outgoing.Push{}, errUsage
	case len(h.Args) == 0:
		update, err := h.preCommit(ctx)
		return outgoing.Push{
			Remote:  h.Env.Getenv(preCommitRemote),
			URL:     h.Env.Getenv("PRE_COMMIT_REMOTE_URL"),
			Updates: []outgoing.Update{update},
		}, err
	}

	in, err := readInput(ctx, h.Stdin)
	h.commits, h.walked, h.unsure = in.Commits, in.Read, in.Read && !in.Exact
	return outgoing.Push{Remote: h.Args[0], URL: h.Args[1], Updates: in.Updates}, err
}

// readInput gives up when the input does not end in time.
func readInput(ctx context.Context, r io.Reader) (outgoing.Input, error) {
	// the first stage took all the time; what it hands over ends at once
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		late, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer stop()
		ctx = late
	}

	in, err := outgoing.InTime(ctx, func() (outgoing.Input, error) { return outgoing.ReadInput(r) })
	if err != nil && errors.Is(err, context.Cause(ctx)) {
		err = errors.New("read from git: the input does not end")
	}
	return in, err
}

// preCommit is the one update that pre-commit tells of: from PRE_COMMIT_FROM_REF, which the remote
// has, to PRE_COMMIT_TO_REF. A push of a whole history has neither; then the local branch leaves.
func (h *Hook) preCommit(ctx context.Context) (u outgoing.Update, err error) {
	get := h.Env.Getenv
	u = outgoing.Update{LocalRef: get("PRE_COMMIT_LOCAL_BRANCH"), RemoteRef: get("PRE_COMMIT_REMOTE_BRANCH")}
	to := get("PRE_COMMIT_TO_REF")
	if to == "" {
		to = u.LocalRef
	}

	if u.LocalOID, err = h.resolve(ctx, to); err != nil {
		return u, err
	}
	if from := get("PRE_COMMIT_FROM_REF"); from != "" {
		u.RemoteOID, err = h.resolve(ctx, from)
	}

	return u, err
}

// resolve asks git for the commit that a name stands for.
func (h *Hook) resolve(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", errors.New("read from pre-commit: it names no commit that is pushed")
	}
	out, err := h.Env.Git().Ask(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("read from pre-commit: git finds no commit %q", name)
	}

	return out, nil
}
