// Command pre-push-check is the second stage of the hook: it finds out whose work a push finishes, and stops it when it is
// someone else's.
//
// The first stage, pre-push, runs it for the pushes that may finish something at all, with the arguments and the input that
// git gives a pre-push hook (githooks(5)), so it does just as well without the first one. It never writes anything, here or
// on GitHub, since git runs hooks for "git push --dry-run" too. As long as no commit that leaves names an issue it reads no
// token, no configuration and no network.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/label-state/label-state/internal/outgoing"
	"github.com/label-state/label-state/internal/setup"
)

// version is set by the linker for releases; see setup.Version.
var version = "dev"

// The exit codes. Git refuses the push for all but 0.
const (
	exitPass   = 0
	exitRefuse = 1
	exitUsage  = 2
)

const usage = `usage: label-state-pre-push REMOTE URL <lines of git's pre-push hook>

Stops a push that finishes someone else's work: a commit says "Closes #7", and #7 is in flight or has
an open pull request from another branch. Says nothing when all is well. Exit 0: push; 1: do not.

Git runs it as a pre-push hook ("label-state hook install"), pre-commit as one of its own.
To push anyway: git push --no-verify, or LABEL_STATE_SKIP_DEDUP_CHECK=1.
`

func main() {
	// Whoever reads our messages may have gone; that alone must not end us with a signal, which git
	// would take for a refusal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env := setup.OS()
	env.Stderr = io.Discard
	h := hook{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: env.Logged(os.Stderr),
		env: env, environ: append(os.Environ(), outgoing.RealObjects), start: begin(os.Getenv(started), time.Now()),
	}
	os.Exit(h.run(context.Background()))
}

// started is the variable by which the first stage says when it began, in nanoseconds since 1970.
const started = "LABEL_STATE_HOOK_STARTED"

// begin is when the hook began: now, or when the first stage says, if that can be true of a program that still runs.
func begin(first string, now time.Time) time.Time {
	n, err := strconv.ParseInt(first, 10, 64)
	if t := time.Unix(0, n); err == nil && !t.After(now) && now.Sub(t) < time.Minute {
		return t
	}
	return now
}

// run does what the arguments ask for and returns the exit code.
func (h *hook) run(ctx context.Context) int {
	switch {
	case len(h.args) == 1 && h.args[0] == "--version":
		fmt.Fprintln(h.stdout, "label-state-pre-push", setup.Version(version))
		return exitPass
	case len(h.args) == 1 && (h.args[0] == "--help" || h.args[0] == "-h"):
		fmt.Fprint(h.stdout, usage)
		return exitPass
	case h.env.SkipDedup():
		return exitPass
	}
	ctx, cancel := context.WithDeadline(ctx, h.start.Add(budget))
	defer cancel()
	return h.guard(ctx)
}
