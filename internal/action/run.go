package action

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Hub is what a step needs of GitHub besides the ledger's.
type Hub interface {
	ledger.Repos
	// Pull reads a pull request with the issues it closes and its description.
	Pull(ctx context.Context, r ledger.Repo, number int) (github.Pull, error)
}

// A Step is everything one run works with.
type Step struct {
	Inputs  Inputs
	Event   Event
	Repo    ledger.Repo
	Host    string // of issue URLs in descriptions
	Guard   string // off, warn or fail
	Ledger  *ledger.Ledger
	Hub     Hub
	Console *Console
	Summary io.Writer // GITHUB_STEP_SUMMARY, may be io.Discard
	Output  io.Writer // GITHUB_OUTPUT, may be io.Discard
	Now     time.Time // for the name a sweep signs with, nothing else
	Word    func() string
	Own     string // login the step writes as
}

// Exit codes of a step.
const (
	ExitOK      = 0
	ExitNo      = 1 // a guard refused, a write failed, or something was not looked at
	ExitCalled  = 2 // a bad input or configuration
	ExitUnknown = 3 // nothing could be found out
)

// Run does what the event asks for and returns the step's exit code.
func Run(ctx context.Context, s *Step) int {
	mode := s.Inputs.Mode
	if mode == "auto" {
		mode = s.Event.mode()
	}
	var r result
	switch mode {
	case "sweep":
		r = s.sweep(ctx)
	case "lifecycle":
		r = s.lifecycle(ctx)
	case "reconcile":
		r = s.reconcile(ctx)
	default:
		s.Console.line("nothing to do for event %s", s.Event.Name)
		return ExitOK
	}
	r.mode = mode
	return s.finish(r)
}

// A result is what a mode did.
type result struct {
	mode     string
	report   ledger.Report
	refused  []string // what the guard refused
	readOnly bool     // the token may only read; the sweep will do the work
	err      error    // nothing could be looked at
}

func (s *Step) finish(r result) int {
	s.log(r)
	err := errors.Join(s.writeSummary(r), s.writeOutputs(r))
	if err != nil {
		s.Console.warn("%s", err)
	}
	switch {
	case r.err != nil:
		s.Console.fail("%s: %s", r.mode, r.err)
		return ExitUnknown
	case len(r.refused) > 0 && s.Guard == "fail":
		return ExitNo
	case !r.readOnly && !r.report.Complete() && s.Inputs.FailOnIncomplete:
		s.Console.fail("%s: incomplete, %d failed, %d not examined", r.mode, r.report.Failed, len(r.report.Skipped))
		return ExitNo
	}
	return ExitOK
}

// Refuse ends a run that could not even begin: the log, the summary and the outputs say so.
func Refuse(s *Step, err error, code int) int {
	r := result{mode: s.Inputs.Mode, err: err}
	s.Console.fail("%s", err)
	if err := errors.Join(s.writeSummary(r), s.writeOutputs(r)); err != nil {
		s.Console.warn("%s", err)
	}
	return code
}

func (s *Step) sweep(ctx context.Context) result {
	repos, err := s.repos()
	if err != nil {
		return result{err: err}
	}
	report := s.Ledger.Sweep(ctx, s.Hub, ledger.Sweep{
		Repos: repos, By: ledger.SweepID(s.Now, s.Word()), MaxAge: s.Inputs.MaxAge,
		Since: s.Now.Add(-lookback), DryRun: s.Inputs.DryRun,
	})
	return result{report: report}
}

// lookback is how far back a sweep looks at issues without any lifecycle label: longer than a
// lease can be, so that a claim whose labels never came is found.
const lookback = 48 * time.Hour

func (s *Step) repos() ([]ledger.Repo, error) {
	if len(s.Inputs.Repos) == 0 {
		return []ledger.Repo{s.Repo}, nil
	}
	var out []ledger.Repo
	for _, name := range s.Inputs.Repos {
		owner, repo, ok := strings.Cut(name, "/")
		if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
			return nil, &InputError{"repos", name, "owner/name, separated by commas or new lines"}
		}
		out = append(out, ledger.Repo{Owner: owner, Name: repo})
	}
	return out, nil
}

func (s *Step) reconcile(ctx context.Context) result {
	if s.Event.Issue == nil || s.Event.Issue.Number == 0 || s.Event.Issue.PullRequest != nil {
		return result{}
	}
	i := claim.Issue{Owner: s.Repo.Owner, Repo: s.Repo.Name, Number: s.Event.Issue.Number}
	var r result
	s.look(ctx, i, &r, func(lifecycle.Facts) error { return nil })
	return r
}
