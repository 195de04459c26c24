// Package pushcheck is the second stage of the hook: it finds out whose work a push finishes, and
// refuses the push when it is someone else's.
//
// It gets the arguments and the input that git gives a pre-push hook (githooks(5)), so it plays the
// whole hook by itself. Where the first stage (cmd/pre-push) has read the commits already, it takes
// them from the input. It never writes anything, here or on GitHub, because git runs hooks for "git
// push --dry-run" as well. While no commit that leaves names an issue it reads no token and no
// configuration, and sends no request.
package pushcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/outgoing"
	"github.com/label-state/label-state/internal/setup"
)

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

// A Hook is one run of the hook. All exported fields are required but Version.
type Hook struct {
	Args           []string // as git gives them: the remote's name and its URL
	Stdin          io.Reader
	Stdout, Stderr io.Writer // Stderr as it is written to the terminal (setup.Environment.Logged)
	Env            setup.Environment
	Start          time.Time // of the program
	Version        string    // for --version

	commits []outgoing.Commit // that leave and may close an issue
	walked  bool              // the first stage has found them
	unsure  bool              // the remote may have some of them
}

// started is the variable by which the first stage says when it began, in nanoseconds since 1970.
const started = "LABEL_STATE_HOOK_STARTED"

// begin is when the hook began: now, or when the first stage says, if that can be true of a program
// that still runs.
func begin(first string, now time.Time) time.Time {
	n, err := strconv.ParseInt(first, 10, 64)
	if t := time.Unix(0, n); err == nil && !t.After(now) && now.Sub(t) < time.Minute {
		return t
	}
	return now
}

// Run does what the arguments ask for and returns the exit code, with which git pushes (0) or not.
func (h *Hook) Run(ctx context.Context) int {
	// Whoever reads our messages may have gone. That alone must not end us with a signal, which git
	// would take for a refusal.
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	defer signal.Stop(gone)

	h.Env.Stderr = io.Discard
	h.Start = begin(h.Env.Getenv(started), h.Start)

	switch {
	case len(h.Args) == 3 && h.Args[0] == TryFlag:
		return h.try(ctx, h.Args[2])
	case len(h.Args) == 1 && h.Args[0] == "--version":
		fmt.Fprintln(h.Stdout, "label-state-pre-push", h.Version)
		return exitPass

	case len(h.Args) == 1 && (h.Args[0] == "--help" || h.Args[0] == "-h"):
		fmt.Fprint(h.Stdout, usage)
		return exitPass
	case h.Env.SkipDedup():
		return exitPass
	}

	ctx, cancel := context.WithDeadline(ctx, h.Start.Add(outgoing.Budget))
	defer cancel()
	return h.guard(ctx)
}

// guard judges the push and says what there is to say. A panic is one more reason why nothing is
// known.
func (h *Hook) guard(ctx context.Context) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = h.say(h.unknown(fmt.Errorf("internal error: %v", p)))
		}
	}()
	push, err := h.push(ctx)
	if errors.Is(err, errUsage) {
		fmt.Fprint(h.Stderr, usage)
		return exitUsage
	}
	if err != nil {
		return h.say(h.unknown(err))
	}

	messages, err := h.scan(ctx, push)
	if err != nil {
		return h.say(h.unknown(inTime(ctx, err)))
	}

	// no commit names an issue: whether the push is checked all the same, the configuration says
	if len(messages) == 0 {
		if len(outgoing.Branches(push.Updates)) == 0 {
			return exitPass
		}
		if l, bad := h.local(); !l.pulls && (bad == nil || !h.mentionsPulls()) {
			return exitPass
		}
	}

	return h.say(h.check(ctx, push, messages))
}

// scan reads the commits that leave, unless the first stage did, and returns those that may name an
// issue. Which host is meant is not known yet, so it keeps too many rather than too few.
func (h *Hook) scan(ctx context.Context, push outgoing.Push) ([]dedup.Message, error) {
	if !h.walked {
		push.Keep = func(message []byte) bool { return closing.Perhaps(string(message)) }
		commits, exact, err := outgoing.Commits(ctx, h.git(), push)
		if err != nil {
			return nil, err
		}
		h.commits, h.unsure = commits, !exact
	}

	return messagesOf(h.commits), nil
}

func (h *Hook) git() git.Git { return git.Git{Dir: h.Env.Dir, Env: h.Env.Inherited()} }

func messagesOf(commits []outgoing.Commit) []dedup.Message {
	var messages []dedup.Message
	for _, c := range commits {
		messages = append(messages, dedup.Message{
			Commit: dedup.Commit{OID: c.OID, Subject: c.Subject()},
			Text:   string(c.Message), Cut: c.Cut,
		})
	}

	return messages
}

// unknown is the report of a push of which nothing is known. How that counts the configuration
// says; one that cannot be read lets the push go.
func (h *Hook) unknown(err error) dedup.Report {
	l, bad := h.local()
	r := dedup.Report{Unknown: []dedup.Unchecked{{Reason: err.Error()}}}
	if bad == nil {
		r.Policy = l.policy
	}
	return r
}

func policy(conf config.Config) dedup.Policy {
	if conf.Hook.OnUnknown == "refuse" {
		return dedup.Refuse
	}
	return dedup.Allow
}

// say writes the report, in the form that the environment asks for, and returns the exit code.
func (h *Hook) say(r dedup.Report) int {
	text := ""
	if h.Env.HookJSON() {
		text = dedup.JSON(r)
	} else {
		text = dedup.Text(r, dedup.Style{Color: h.Env.Color(h.Stderr)})
	}

	_, _ = io.WriteString(h.Stderr, text) // nobody is left to tell that nobody listens
	if r.Stops() {
		return exitRefuse
	}

	return exitPass
}

// errLate: the time is over.
var errLate = errors.New("no answer in time (hook.timeout)")

// inTime words the end of the time; what was going on then does not matter.
func inTime(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return errLate
	case cause != nil:
		return cause
	}

	return err
}
