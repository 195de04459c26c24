package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/keep"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

func runCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "claim an issue, run a command under the hold, release it", ArgsUsage: "REF -- COMMAND...",
		Description: "The lease is renewed while COMMAND runs. When the hold is lost, COMMAND gets TERM, and KILL after --grace. " +
			"Its environment says who it is: LABEL_STATE_CODENAME, LABEL_STATE_FIRING_ID, LABEL_STATE_ISSUE, LABEL_STATE_ISSUE_URL, LABEL_STATE_FENCING_TOKEN.\n\n" +
			"Exit code 0 with a pull request is success, without one no-commit; another exit code is failure; a signal to this program is passed on and is cancelled. " +
			"The exit code is that of COMMAND, or 1 when the hold was refused or lost. --timeout is for the claim." +
			refForms +
			"   label-state run 42 --codename lucius -- my-agent --task 42",
		Flags: writing(append(identityFlags(),
			&cli.DurationFlag{Name: "ttl", Usage: "length of the lease, at most claim.max_ttl (default: 30m)"},
			&cli.StringFlag{Name: "branch", Usage: "`BRANCH` the work will be pushed to"},
			graceFlag(),
		)...),
		Action: t.runIssue,
	}
}

func graceFlag() cli.Flag {
	return &cli.DurationFlag{Name: "grace", Usage: "time between TERM and KILL (default: 10s)"}
}

const defaultGrace = 10 * time.Second

func (t terminal) runIssue(cc *cli.Context) error {
	args := cc.Args().Slice()
	if len(args) < 2 || args[1] != "--" {
		return wrong("run", "run: want an issue, --, and a command")
	}
	o := options(cc)
	if o.Ref = args[0]; o.Ref == "" {
		return wrong("run", "run: the issue is empty")
	}
	return t.session(cc, o, func(ctx context.Context, c *call) error {
		if err := errors.Join(c.asWorker(), c.runnable(args[2:])); err != nil {
			return err
		}
		if c.Bool("dry-run") {
			return c.wouldClaim(ctx, c.Issue, c.worker())
		}
		h, err := c.take(ctx, c.Issue, ledger.Request{Worker: c.worker(), TTL: c.ttl(), Branch: c.String("branch")})
		if err != nil {
			return err
		}
		return c.work(ctx, h, program{args: args[2:], in: c.in})
	})
}

// runnable makes sure that there is a command before anything is claimed for it.
func (c *call) runnable(args []string) error {
	if len(args) == 0 {
		return wrong(path(c.Context), "want a command behind --")
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return wrong(path(c.Context), "%s", err)
	}
	if c.IsSet("grace") && c.Duration("grace") < 0 {
		return wrong(path(c.Context), "--grace %s: want no less than nothing", c.Duration("grace"))
	}
	return nil
}

// A program is what runs under a hold.
type program struct {
	args []string
	in   io.Reader
}

// An exitStatus is a command's own exit code, which becomes ours.
type exitStatus struct{ code int }

func (e *exitStatus) Error() string { return "exit code " + strconv.Itoa(e.code) }

// work runs the program under the hold and ends the hold with what came of it. From here on nothing
// but the program's end, or the hold's, ends it: not a signal, not --timeout.
func (c *call) work(ctx context.Context, h ledger.Hold, p program) error {
	ctx = context.WithoutCancel(ctx)
	c.answered = true // standard output is the program's
	fmt.Fprintf(c.err, "label-state: claimed %s\n", h.Issue)
	r := runner{call: c, hold: h, signals: make(chan os.Signal, 8)}
	signal.Notify(r.signals, forwarded()...)
	defer signal.Stop(r.signals)
	cmd, err := r.start(p)
	if err != nil {
		r.release(ctx, ledger.Ending{Outcome: claim.OutcomeCancelled, Reason: "the command did not start"})
		return fmt.Errorf("start %s: %w", oneLine(p.args[0]), err)
	}
	code, err := r.wait(ctx, cmd)
	var lost *ledger.LostError
	switch {
	case errors.As(err, &lost):
		c.forget(h.Issue)
		return lost
	case errors.Is(err, keep.ErrDelivered):
		c.forget(h.Issue)
	default:
		r.release(ctx, r.ending(ctx, code))
	}
	if code != 0 {
		return &exitStatus{code}
	}
	return nil
}

// A runner is one program under one hold.
type runner struct {
	*call
	hold     ledger.Hold
	signals  chan os.Signal
	signaled bool // one came and was passed on
}

func (r *runner) start(p program) (*exec.Cmd, error) {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.in, r.out, r.err
	cmd.Dir = r.env.Dir
	w := r.hold.Record.Worker
	url, _, _ := strings.Cut(r.hold.URL, "#")
	cmd.Env = append(os.Environ(),
		"LABEL_STATE_CODENAME="+w.Codename, "LABEL_STATE_FIRING_ID="+w.FiringID, "LABEL_STATE_ISSUE="+r.hold.Issue.String(),
		"LABEL_STATE_ISSUE_URL="+url, "LABEL_STATE_FENCING_TOKEN="+strconv.FormatInt(r.hold.Token, 10))
	apart(cmd, r.env.IsTerminal(r.err))
	return cmd, cmd.Start()
}

// wait returns when the program has ended: its exit code, and why the hold ended before it, if it did.
func (r *runner) wait(ctx context.Context, cmd *exec.Cmd) (int, error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // ProcessState says all there is to say
	}()
	alive, stop := context.WithCancel(ctx)
	kept := make(chan error, 1)
	go func() { kept <- keep.Alive(alive, r.Ledger, r.hold, r.keeping()) }()
	for {
		select {
		case <-ended:
			stop()
			return codeOf(cmd.ProcessState), <-kept
		case s := <-r.signals:
			r.signaled = true
			tell(cmd, s)
		case over := <-kept:
			if errors.Is(over, keep.ErrDelivered) {
				return r.finish(cmd, ended, stop), over
			}
			warn(r.err, "%s is lost, stopping the command: %s", r.hold.Issue, over)
			r.stop(cmd, ended)
			stop()
			return codeOf(cmd.ProcessState), over
		}
	}
}

// finish lets the program of a hold that was handed over come to its end.
func (r *runner) finish(cmd *exec.Cmd, ended <-chan struct{}, stop func()) int {
	defer stop()
	for {
		select {
		case <-ended:
			return codeOf(cmd.ProcessState)
		case s := <-r.signals:
			tell(cmd, s)
		}
	}
}

// stop ends the program: TERM, and KILL after the grace.
func (r *runner) stop(cmd *exec.Cmd, ended <-chan struct{}) {
	grace := defaultGrace
	if r.IsSet("grace") {
		grace = r.Duration("grace")
	}
	terminate(cmd)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		warn(r.err, "the command did not stop within %s", grace)
	}
	kill(cmd) // also what the program left behind
	<-ended
}

func (r *runner) keeping() keep.Options {
	return keep.Options{
		Clock:   setup.Clock(),
		Trouble: func(err error) { warn(r.err, "%s could not be renewed, trying again: %s", r.hold.Issue, err) },
		Renewed: func(h ledger.Hold) {
			if err := r.Remember(h); err != nil {
				warn(r.err, "renewed, but this work tree's record could not be written: %s", err)
			}
		},
	}
}

// ending is what an exit code means for the issue (PRODUCT ruling 14).
func (r *runner) ending(ctx context.Context, code int) ledger.Ending {
	switch {
	case r.signaled:
		return ledger.Ending{Outcome: claim.OutcomeCancelled, Reason: "interrupted"}
	case code != 0:
		return ledger.Ending{Outcome: claim.OutcomeFailure, Reason: fmt.Sprintf("exit code %d", code)}
	}
	f, _, err := r.Ledger.Check(ctx, r.hold.Issue, lifecycle.Seeker{Worker: r.hold.Record.Worker})
	if err != nil {
		return ledger.Ending{Outcome: claim.OutcomeNoCommit}
	}
	_, pr, delivered := r.Ledger.Rules().Delivered(f)
	switch {
	case delivered:
		return ledger.Ending{Outcome: claim.OutcomeSuccess, PR: pr.URL}
	case !f.Open:
		return ledger.Ending{Outcome: claim.OutcomeSuccess}
	}
	return ledger.Ending{Outcome: claim.OutcomeNoCommit}
}

// released is how long the end of a hold may take; after that its lease ends it.
const released = time.Minute

// release ends the hold, unless the program has done so itself.
func (r *runner) release(ctx context.Context, e ledger.Ending) {
	ctx, cancel := context.WithTimeout(ctx, released)
	defer cancel()
	e.Worker = r.hold.Record.Worker
	_, err := r.Ledger.Release(ctx, r.hold.Issue, e)
	switch err = r.late(err); {
	case err == nil:
		fmt.Fprintf(r.err, "label-state: released %s: %s\n", r.hold.Issue, e.Outcome)
	case !errors.Is(err, claim.ErrEnded):
		warn(r.err, "%s could not be released, its lease ends by itself: %s", r.hold.Issue, err)
		return
	}
	r.forget(r.hold.Issue)
}
