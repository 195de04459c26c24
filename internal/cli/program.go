package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/keep"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
)

// CheckProgram makes sure that there is a command before anything is claimed for it.
func (c *Call) CheckProgram(args []string) error {
	if len(args) == 0 {
		return c.Usagef("give a command after --")
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		if why, is := errors.AsType[*exec.Error](err); is {
			err = why.Err
		}
		return Advise(c.Usagef("program %q: %s", OneLine(args[0]), err),
			answer.Call("nothing was claimed; check its name and PATH, then", answer.Again))
	}

	return nil
}

// defaultGrace is how long a program has between TERM and KILL.
const defaultGrace = 10 * time.Second

// A Program is what runs under a hold.
type Program struct {
	Args  []string
	In    io.Reader
	Grace time.Duration // between TERM and KILL
}

// An ExitStatus is a command's own exit code, which becomes ours.
type ExitStatus struct{ Code int }

func (e *ExitStatus) Error() string { return "exit code " + strconv.Itoa(e.Code) }

// RunProgram runs the program under the hold and ends the hold with what came of it. From here on
// nothing but the program's end, or the hold's, ends it: not a signal, not --timeout.
func RunProgram(ctx context.Context, c *Call, h ledger.Hold, p Program) error {
	ctx = context.WithoutCancel(ctx)
	c.Closed = true // standard output is the program's
	fmt.Fprintf(c.Err, "label-state: claimed %s\n", h.Issue)
	r := runner{
		Call:    c,
		hold:    h,
		grace:   p.Grace,
		signals: make(chan os.Signal, 8),
	}
	signal.Notify(r.signals, forwarded...)
	defer signal.Stop(r.signals)
	defer c.Session.Attend(h.Issue)()
	cmd := exec.Command(p.Args[0], p.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, c.ChildOut, c.ChildErr
	cmd.Dir = c.Env.Dir
	w := h.Record.Worker
	url, _, _ := strings.Cut(h.URL, "#")
	cmd.Env = append(append(c.Env.Inherited(), c.Session.Signature()...),
		"LABEL_STATE_CODENAME="+w.Codename, "LABEL_STATE_FIRING_ID="+w.FiringID, "LABEL_STATE_ISSUE="+h.Issue.String(),
		"LABEL_STATE_ISSUE_URL="+url, "LABEL_STATE_FENCING_TOKEN="+strconv.FormatInt(h.Token, 10))
	unwatch := apart(cmd, c.Env.IsTerminal(c.Err))
	defer unwatch()

	// The thread that starts the command stays until the command has ended: on Linux a parent-death
	// signal is sent when that thread ends.
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // ProcessState says all there is to say
		}
	}()

	if err := <-started; err != nil {
		lost := r.release(ctx, ledger.Ending{Outcome: claim.OutcomeCancelled, Reason: "the command did not start"})
		return errors.Join(fmt.Errorf("start %s: %w", OneLine(p.Args[0]), err), lost)
	}

	code, err := r.wait(ctx, cmd, ended)
	switch {
	case err == nil:
		err = r.release(ctx, r.outcome(ctx, code))
	case errors.Is(err, keep.ErrDelivered):
		c.forgetEnded(h)
	}

	var lost *ledger.LostError
	if errors.As(err, &lost) {
		return fmt.Errorf("%w; the work was not delivered", lost)
	}
	if code != 0 {
		return &ExitStatus{Code: code}
	}

	return nil
}

// A runner is one program under one hold.
type runner struct {
	*Call
	hold     ledger.Hold
	grace    time.Duration
	signals  chan os.Signal
	signaled bool // one came and was passed on
}

// wait returns when the program has ended: its exit code, and why the hold ended before it, if it
// did. A program whose hold is lost is ended: TERM, and KILL after the grace.
func (r *runner) wait(ctx context.Context, cmd *exec.Cmd, ended <-chan struct{}) (int, error) {
	alive, stop := context.WithCancel(ctx)
	kept := make(chan error, 1)
	keeping := keep.Options{
		Clock: setup.Clock(),
		Trouble: func(err error) {
			r.Warnf("%s could not be renewed, trying again: %s", r.hold.Issue, err)
		},
		Renewed: r.RecordRenewal,
	}
	go func() { kept <- keep.Alive(alive, r.Session.Ledger, r.hold, keeping) }()
	var delivered error // the hold was handed over, and the program comes to its end without it
	for {
		select {
		case <-ended:
			stop()
			if delivered == nil {
				return codeOf(cmd.ProcessState), <-kept
			}
			return codeOf(cmd.ProcessState), delivered

		case s := <-r.signals:
			r.signaled = true
			tell(cmd, s)

		case over := <-kept:
			if errors.Is(over, keep.ErrDelivered) {
				delivered = over
				continue
			}

			r.Warnf("%s is lost, stopping the command: %s", r.hold.Issue, over)
			tell(cmd, syscall.SIGTERM)
			select {
			case <-ended:
			case <-time.After(r.grace):
				r.Warnf("the command did not stop within %s", r.grace)
			}

			tell(cmd, os.Kill) // also what the program left behind
			<-ended
			stop()
			return codeOf(cmd.ProcessState), over
		}
	}
}

// outcome is what an exit code means for the issue (spec.md#attempts).
func (r *runner) outcome(ctx context.Context, code int) ledger.Ending {
	switch {
	case r.signaled:
		return ledger.Ending{Outcome: claim.OutcomeCancelled, Reason: "interrupted"}
	case code != 0:
		return ledger.Ending{Outcome: claim.OutcomeFailure, Reason: fmt.Sprintf("exit code %d", code)}
	}

	f, err := r.Session.Ledger.Look(ctx, r.hold.Issue)
	if err != nil {
		return ledger.Ending{Outcome: claim.OutcomeNoCommit}
	}

	_, pr, delivered := r.Rules().Delivered(f)
	switch {
	case delivered:
		return ledger.Ending{Outcome: claim.OutcomeSuccess, PR: pr.URL}
	case !f.Open, f.PullRequest:
		return ledger.Ending{Outcome: claim.OutcomeSuccess}
	}

	return ledger.Ending{Outcome: claim.OutcomeNoCommit}
}

// releaseTime is how long the end of a hold may take; after that its lease ends it.
const releaseTime = time.Minute

// release ends the hold, unless the program has done so itself, or its work is there already. The
// error is a *ledger.LostError: somebody or time has ended the hold before. A release of which
// nobody knows is a warning.
func (r *runner) release(ctx context.Context, e ledger.Ending) error {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	e.Worker, e.Token = r.hold.Record.Worker, r.hold.Token
	_, err := r.Session.Ledger.Release(ctx, r.hold.Issue, e)
	err = r.WarnLate(err)
	if err == nil {
		err = r.GiveFailedToPerson(ctx, r.hold.Issue, e.Worker, e.Outcome)
	}

	var lost *ledger.LostError
	switch {
	case err == nil:
		why := ""
		if e.Outcome == claim.OutcomeNoCommit {
			why = r.undelivered()
		}
		fmt.Fprintf(r.Err, "label-state: released %s: %s%s\n", r.hold.Issue, e.Outcome, why)
	case errors.As(err, &lost) && lost.End.Own():
		err = nil
	case lost == nil:
		r.Warnf("%s could not be released, its lease ends by itself: %s", r.hold.Issue, err)
		return nil
	default:
		return err // and the record stays: what was done under the hold is still here
	}

	r.forgetEnded(r.hold)
	return nil
}

// undelivered says why the work under the hold is no success, and what would have made it one.
func (r *runner) undelivered() string {
	if len(r.Rules().Scheme.Stages) > 0 {
		return ", because the command did not advance it; to finish a stage: label-state advance"
	}
	return ", because no pull request is open for it; for work that needs none: label-state release --done"
}
