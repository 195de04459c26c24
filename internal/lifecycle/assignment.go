package lifecycle

import (
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
)

// An assignment is somebody who is assigned to an issue.
type assignment struct {
	Login string
	Since time.Time // when it was made last; zero when not known
	Over  time.Time // when it no longer keeps anybody off; zero when nothing but its end does that
}

// notice is what people are told once when the assignment no longer keeps anybody off.
func (a assignment) notice() claim.Notice {
	return claim.Notice{Kind: claim.NoticeIdle, Key: a.Login + "@" + a.Since.UTC().Format(time.RFC3339)}
}

// assignments lists who is assigned, but for logins that a live claim has put there or that hold
// the issue, with when each keeps others off no more (spec.md#assignments).
func (r Rules) assignments(f Facts) (out []assignment) {
	for _, login := range f.Assignees {
		if slices.ContainsFunc(f.Log.Live(), func(c claim.Claim) bool {
			return claim.SameLogin(c.Record.Assignee, login) || c.IsOf(login)
		}) {
			continue
		}

		one := assignment{Login: login, Since: f.AssignedAt[strings.ToLower(login)]}
		ttl := r.AssigneeTTL
		if claim.IsApp(login) {
			ttl = r.AssignedBotTTL
		}

		open, closed := f.working(login)
		if ttl > 0 && !open && !one.Since.IsZero() {
			one.Over = claim.Latest(one.Since, closed, f.Log.Spoke(login)).Add(ttl)
		}

		out = append(out, one)
	}

	return out
}

// idle reports whether the assignment no longer keeps anybody off.
func (a assignment) idle(now time.Time) bool { return !a.Over.IsZero() && !now.Before(a.Over) }

// Unassigns lists the logins that a sweep takes off the issue: their assignments no longer keep
// anybody off, and people were told.
func (r Rules) Unassigns(f Facts) (out []string) {
	if !r.Unassign || len(f.Missing) > 0 || !f.Open || f.PullRequest {
		return nil
	}

	for _, a := range r.assignments(f) {
		if a.idle(f.Now) && f.Log.Told(a.notice()) {
			out = append(out, a.Login)
		}
	}

	return out
}

// assigned is what the assignments say about the issue: a reason for those that keep others off,
// and a note for each that no longer does.
func (v *Verdict) assigned(r Rules, f Facts) {
	if r.Unassigned || f.PullRequest || v.Has(CodeOwn) || claim.HasLogin(f.Assignees, f.Viewer) {
		return
	}

	var others []string
	var end time.Time
	ends := true
	for _, a := range r.assignments(f) {
		if a.idle(f.Now) {
			v.Notes = append(v.Notes, Reason{
				Code: CodeAssignmentExpired,
				Text: a.Login + " is assigned, without a sign of work until " + printable.Minute(a.Over),
				URL:  f.URL,
			})
			continue
		}
		others, end, ends = append(others, a.Login), claim.Latest(end, a.Over), ends && !a.Over.IsZero()
	}

	if len(others) == 0 {
		return
	}
	reason := v.because(CodeAssigned, f.URL, "assigned to %s", strings.Join(others, ", "))
	if ends {
		reason.Until = end
		reason.Text += ", until " + printable.Minute(end)
	}
}
