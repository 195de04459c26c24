package action

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A result is what a mode did.
type result struct {
	mode      string
	report    ledger.Report
	left      []string   // what was left alone on purpose, and why
	refused   []refusal  // by the guard
	unclaimed []refusal  // the author is a contributor and does not hold what the pull request closes
	unjudged  []unjudged // by the guard, which could not find out
	excess    string     // that the pull request names more issues than it may move
	proposed  *config.Error
	notes     []string      // what was done besides labels, in words
	labels    []neededLabel // by setup
	poor      bool          // the token is known to only read
	called    bool          // the workflow or the configuration kept the run from beginning
	err       error         // nothing could be looked at, or what was asked for could not be done
}

// note takes in what was done besides labels.
func (r *result) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// leave takes in what was left alone on purpose, and why.
func (r *result) leave(format string, args ...any) {
	r.left = append(r.left, fmt.Sprintf(format, args...))
}

// skip takes in what was not looked at, and why.
func (r *result) skip(format string, args ...any) {
	r.report.Skipped = append(r.report.Skipped, fmt.Sprintf(format, args...))
}

// readOnly reports whether the token may only read, foretold or found out.
func (r result) readOnly() bool {
	return r.poor || denied(r.err) || denied(r.report.Stopped)
}

// denied reports whether the token lacks the permission, whatever it is used on.
func denied(err error) bool {
	var e interface{ Denied() bool }
	return errors.As(err, &e) && e.Denied()
}

// absent reports whether GitHub has no such thing, or no longer here, or does not show it.
func absent(err error) bool {
	var gone *github.NotFoundError
	var moved *github.MovedError
	return errors.As(err, &gone) || errors.As(err, &moved)
}

// unlessAbsent is the error, or nil where it says that there is no such thing.
func unlessAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// add takes a later report in: how an issue stands that both have examined is as the later one
// says.
func (r *result) add(o ledger.Report) {
	to := &r.report
	again := map[claim.Issue]bool{}
	for _, i := range o.Examined {
		again[i] = true
		delete(to.Lanes, i)
	}

	strand := func(s ledger.Strand) bool { return again[s.Issue] }
	to.Examined = append(slices.DeleteFunc(to.Examined, func(i claim.Issue) bool { return again[i] }), o.Examined...)
	to.Holds = append(slices.DeleteFunc(to.Holds, func(a ledger.Aged) bool { return again[a.Issue] }), o.Holds...)
	to.Waiting = append(slices.DeleteFunc(to.Waiting, strand), o.Waiting...)
	to.Stranded = append(slices.DeleteFunc(to.Stranded, strand), o.Stranded...)
	to.Unshown = append(slices.DeleteFunc(to.Unshown, func(u ledger.Unshown) bool { return again[u.Issue] }), o.Unshown...)

	to.Failed += o.Failed
	to.Minimized += o.Minimized
	if o.NotMinimized != nil {
		to.NotMinimized = o.NotMinimized
	}

	to.Findings = append(to.Findings, o.Findings...)
	to.Skipped = append(to.Skipped, o.Skipped...)
	if o.Stopped != nil {
		to.Stopped = o.Stopped
	}

	if to.Lanes == nil {
		to.Lanes = map[claim.Issue]lifecycle.Lane{}
	}
	maps.Copy(to.Lanes, o.Lanes)
}

// findings are those that are worth telling: what was changed, and apart from it what was to change
// and could not be written.
func (r result) findings() (changed, failed []ledger.Finding) {
	for _, f := range r.report.Findings {
		switch {
		case f.Err != nil && len(f.Ended) == 0 && !f.Moved():
			failed = append(failed, f)
		case f.Shows():
			changed = append(changed, f)
		}
	}

	return changed, failed
}
