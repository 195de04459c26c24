package action

import (
	"context"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// lifecycle follows a pull request: every issue that it closes, or closed before it was edited,
// is brought in line, and the holder whose work it is has its claim released with pr=.
func (s *Step) lifecycle(ctx context.Context) result {
	number := s.Event.pull()
	if number == 0 {
		s.Console.notice("event %s names no pull request; the next sweep catches up", s.Event.Name)
		return result{}
	}
	pull, err := s.Hub.Pull(ctx, s.Repo, number)
	if err != nil {
		return result{err: fmt.Errorf("read pull request %s#%d: %w", s.Repo, number, err)}
	}
	r := result{readOnly: s.readOnly()}
	if r.readOnly {
		s.Console.notice("the token of this run may only read (fork or Dependabot); the next sweep moves the labels")
	}
	for _, i := range s.named(pull) {
		s.look(ctx, i, &r, func(f lifecycle.Facts) error {
			s.guard(f, pull, &r)
			return s.handOver(ctx, f, r.readOnly)
		})
	}
	return r
}

func (s *Step) readOnly() bool { return s.Event.foreign() || s.Event.dependabot() }

// named lists the issues of the current description, by GitHub's reading and by ours, and those
// of the description before an edit.
func (s *Step) named(p github.Pull) []claim.Issue {
	home := closing.Repo{Owner: s.Repo.Owner, Name: s.Repo.Name}
	all := append([]claim.Issue(nil), p.Closes...)
	for _, text := range []string{p.Body, s.Event.Changes.Body.From} {
		for _, ref := range closing.InDescription(text, home, s.Host) {
			all = append(all, ref.Issue)
		}
	}
	var out []claim.Issue
	seen := map[string]bool{}
	for _, i := range all {
		key := strings.ToLower(i.String())
		if own := i.Same(claim.Issue{Owner: s.Repo.Owner, Repo: s.Repo.Name, Number: p.Number}); own || seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, i)
	}
	return out
}

// look reads one issue, lets act on what was read, and reconciles it. An issue of another
// repository that this token cannot see is none of this run's business.
func (s *Step) look(ctx context.Context, i claim.Issue, r *result, act func(lifecycle.Facts) error) {
	r.report.Examined++
	f, _, err := s.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err != nil {
		if !strings.EqualFold(i.Slug(), s.Repo.String()) {
			s.Console.line("%s is in another repository and cannot be read here: %s", i, err)
			return
		}
		s.fail(r, ledger.Repair{Issue: i}, err)
		return
	}
	if err := act(f); err != nil {
		s.fail(r, ledger.Repair{Issue: i, Title: f.Title, URL: f.URL}, err)
		return
	}
	if r.readOnly || s.Inputs.DryRun {
		return
	}
	rep, err := s.Ledger.Reconcile(ctx, i)
	if err != nil {
		s.fail(r, rep, err)
		return
	}
	rep.Was = s.was(f)
	s.note(r, rep)
}

func (s *Step) was(f lifecycle.Facts) []string {
	scheme := s.Ledger.Rules().Scheme
	var out []string
	for _, st := range scheme.Of(f.Labels) {
		out = append(out, scheme.Name(st))
	}
	return out
}

func (s *Step) fail(r *result, rep ledger.Repair, err error) {
	r.report.Failed++
	r.report.Findings = append(r.report.Findings, ledger.Finding{Repair: rep, Err: err})
}

func (s *Step) note(r *result, rep ledger.Repair) {
	if strings.Join(rep.Was, " ") != strings.Join(rep.Is, " ") || !rep.Change.Empty() {
		r.report.Findings = append(r.report.Findings, ledger.Finding{Repair: rep})
	}
}

// handOver releases the hold of the worker whose pull request this is.
func (s *Step) handOver(ctx context.Context, f lifecycle.Facts, readOnly bool) error {
	if readOnly || s.Inputs.DryRun {
		return nil
	}
	_, _, err := s.Ledger.HandOver(ctx, f, "pull-request-event")
	return err
}

// guard is the hook's twin on the server: the pull request must not close what somebody else
// holds, or what another open pull request closes already (PRODUCT ruling 9).
func (s *Step) guard(f lifecycle.Facts, p github.Pull, r *result) {
	if s.Guard == "off" || p.State != lifecycle.PROpened || !p.DefaultBase {
		return
	}
	v := s.Ledger.Rules().Verdict(f, lifecycle.Seeker{Repo: p.HeadRepo, Branch: p.Head})
	for _, reason := range v.Reasons {
		mine := reason.Claim != nil && p.Of(*reason.Claim)
		stops := reason.Code == lifecycle.CodeInFlight || reason.Code == lifecycle.CodePROpen
		if !stops || mine || reason.PR != nil && reason.PR.Number == p.Number && strings.EqualFold(reason.PR.Repo, s.Repo.String()) {
			continue
		}
		text := fmt.Sprintf("%s closes %s: %s", p, f.Issue, reason.Text)
		r.refused = append(r.refused, text)
		if s.Guard == "warn" {
			s.Console.warn("%s (%s)", text, reason.URL)
		} else {
			s.Console.fail("%s (%s)", text, reason.URL)
		}
	}
}
