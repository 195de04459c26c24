package action

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Hub is what a step needs of GitHub besides the ledger's; *github.Client is one.
type Hub interface {
	ledger.Repos

	// Several issues at a time, and what belongs to issues.
	FactsOf(ctx context.Context, issues []claim.Issue) []lifecycle.Snapshot
	PullToMerge(ctx context.Context, r claim.Repo, number int, file github.FileAt) (github.Pull, github.Merge, error)
	Changes(ctx context.Context, i claim.Issue, path string) (bool, error)
	Excess(ctx context.Context, p github.Pull, named []claim.Issue) (*lifecycle.Excess, error)
	Blocking(ctx context.Context, i claim.Issue) ([]claim.Issue, error)
	Repository(ctx context.Context, r claim.Repo) (github.Repository, error)

	// The comments of issues and pull requests, and answers without words.
	Comments(ctx context.Context, i claim.Issue, since time.Time) ([]claim.Comment, error)
	Spoken(ctx context.Context, r claim.Repo, numbers []int, mark string) ([]int, error)
	Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error)
	EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error)
	DeleteComment(ctx context.Context, i claim.Issue, id int64) error
	Reactions(ctx context.Context, r claim.Repo, comment int64, login string) ([]string, error)
	React(ctx context.Context, r claim.Repo, comment int64, content string) error

	// Whose token this is, who may steer, and who put a label on or took it off.
	Viewer(ctx context.Context) (string, error)
	MayLabel(ctx context.Context, r claim.Repo, login string) (bool, error)
	LastMove(ctx context.Context, i claim.Issue, m ledger.LabelMoved) (ledger.Removal, error)

	// The labels that a repository defines, and those of its issues.
	Labels(ctx context.Context, r claim.Repo) ([]labels.Definition, error)
	CreateLabel(ctx context.Context, r claim.Repo, d labels.Definition) error
	AddLabel(ctx context.Context, i claim.Issue, name string) error
	RemoveLabel(ctx context.Context, i claim.Issue, name string) error

	// What strangers say and hold.
	Remarks(ctx context.Context, r claim.Repo, since time.Time, pages int) (all []github.Remark, whole bool, err error)
	PersonsHolds(ctx context.Context, r claim.Repo) ([]lifecycle.Facts, error)
	Joined(ctx context.Context, login string) (time.Time, error)
	NewestPulls(ctx context.Context, r claim.Repo) ([]github.Mergeable, error)
}

// A Place is one repository with its own configuration.
type Place struct {
	Repo   claim.Repo
	Ledger *ledger.Ledger
	Hub    Hub
	Guard  string // off, warn or fail

	Contributors config.Contributors // what strangers may do; the zero value is nothing
}

// facts reads one issue.
func (p Place) facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	snapshot := p.Hub.FactsOf(ctx, []claim.Issue{i})[0]
	return snapshot.Facts, snapshot.Err
}

// A Step is everything one run works with.
type Step struct {
	Place  // the workflow's own; of a step in another repository that one
	Inputs Inputs
	Event  Event
	Open   func(ctx context.Context, r claim.Repo) (Place, error) // any other repository
	Host   string                                                 // of issue URLs in descriptions

	// Unusable is what is wrong with the configuration on the default branch, which was read
	// without that: the guard judges by it, and nothing is written. nil when nothing is.
	Unusable *config.Error

	Console *Console
	Summary io.Writer // GITHUB_STEP_SUMMARY, may be io.Discard
	Output  io.Writer // GITHUB_OUTPUT, may be io.Discard
	Now     time.Time // for the name a sweep signs with and how far back it looks, nothing else
	Word    func() string
}

// Exit codes of a step.
const (
	ExitOK      = 0
	ExitNo      = 1 // a guard refused, a write failed, or something was not looked at
	ExitCalled  = 2 // a bad input or configuration
	ExitUnknown = 3 // nothing could be found out, or the guard could not judge
)

// mode is what the step does: what its input says, else what its event asks for; empty when there
// is nothing to do.
func (s *Step) mode() string {
	if s.Inputs.Mode != modeAuto {
		return s.Inputs.Mode
	}

	switch s.Event.Name {
	case "schedule", "workflow_dispatch", "repository_dispatch":
		return modeSweep
	case "pull_request", "pull_request_target":
		return modeLifecycle
	case "issues":
		return modeReconcile
	case "issue_comment":
		return modeCommands
	case "merge_group":
		return modeGuard
	}

	return ""
}

// Judges reports whether the step asks the guard: such a one has an answer also where nothing may
// be written.
func (s *Step) Judges() bool {
	mode := s.mode()
	return mode == modeLifecycle || mode == modeGuard
}

// SweepSince is the time since which a step that sweeps looks at what changed; zero for every other
// step.
func (s *Step) SweepSince() time.Time {
	if s.mode() != modeSweep {
		return time.Time{}
	}
	return s.Now.Add(-ledger.Lookback)
}

// Run does what the event asks for and returns the step's exit code.
func Run(ctx context.Context, s *Step) int {
	mode := s.mode()
	do := map[string]func(context.Context) result{
		modeSweep:     s.sweep,
		modeLifecycle: s.lifecycle,
		modeGuard:     s.guardOnly,
		modeReconcile: s.reconcile,
		modeCommands:  s.commands().run,
		modeSetup:     s.setUp,
	}[mode]

	var r result
	if do != nil {
		r = do(ctx)
	} else {
		r.leave("the Action does nothing for the event %s", s.Event.Name)
	}

	r.mode = cmp.Or(mode, s.Inputs.Mode)
	s.log(r)
	s.write(r)

	return s.exitCode(r)
}

// exitCode is what a step ends with. To judge and to write are two things: where a sweep does what
// could not be written, the guard's verdict alone counts, and what could not be judged is never
// green, whatever fail-on-incomplete says of the rest.
func (s *Step) exitCode(r result) int {
	var called *InputError
	if errors.As(r.err, &called) {
		return ExitCalled
	}
	fails := func(one refusal) bool { return one.fails }
	if slices.ContainsFunc(slices.Concat(r.refused, r.unclaimed), fails) ||
		s.fails() && r.excess != "" || s.Guard == guardFail && r.proposed != nil {
		return ExitNo
	}
	if s.fails() && len(r.unjudged) > 0 {
		return ExitUnknown
	}

	if r.readOnly() && s.sweepDoes(r) {
		return ExitOK
	}
	if r.err != nil {
		return ExitUnknown
	}
	if !r.report.Complete() && s.Inputs.FailOnIncomplete {
		return ExitNo
	}

	return ExitOK
}

// Refuse ends a run that could not even begin: the log, the summary and the outputs say so. The
// code is ExitCalled or ExitUnknown.
func Refuse(s *Step, err error, code int) int {
	s.Console.fail("%s", err)
	if code == ExitCalled {
		s.Console.line("hint: nothing was read or written; correct the workflow, or the configuration on the default branch: docs/action.md")
	} else {
		s.Console.line("hint: check the setup from outside: label-state doctor %s/%s", s.Repo.Owner, s.Repo.Name)
	}

	s.write(result{mode: s.Inputs.Mode, called: code == ExitCalled, err: err})
	return code
}

// fails reports whether what judges pull requests fails the check.
func (s *Step) fails() bool {
	return s.Guard == guardFail || s.Contributors.PullRequests == config.PullsFail
}

func (s *Step) write(r result) {
	if err := errors.Join(s.writeSummary(r), s.writeOutputs(r)); err != nil {
		s.Console.warn("%s", err)
	}
}
