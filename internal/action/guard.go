package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// What the guard input and the configuration's guard may say.
const (
	guardOff  = "off"
	guardWarn = "warn"
	guardFail = "fail"
)

// A refusal is one issue that a pull request must not close.
type refusal struct {
	pull   string
	issue  lifecycle.Facts
	reason lifecycle.Reason
	lands  bool // by its title or a commit, and not by its description
	fails  bool // the check is red because of it
}

// String is the refusal in one line.
func (r refusal) String() string {
	return fmt.Sprintf("%s closes %s%s: %s", r.pull, r.issue.Issue, r.by(), r.reason.Text)
}

// by says where the keyword is, if that is not the description.
func (r refusal) by() string {
	if r.lands {
		return " by its title or a commit"
	}
	return ""
}

// An unjudged is what the guard could not find out about, and why.
type unjudged struct {
	what string
	err  error
	next string // what to do, where running the check again is no help
}

// String is what could not be found out, and what to do, in one line.
func (u unjudged) String() string {
	return fmt.Sprintf("could not find out whether %s: %s; %s", u.what, u.err, cmp.Or(u.next, "run this check again"))
}

// couldNotJudge takes in that what judges pull requests could not find something out. A check is
// green only if it has judged.
func (s *Step) couldNotJudge(r *result, u unjudged) {
	if s.Guard != guardOff || s.demands() {
		r.unjudged = append(r.unjudged, u)
	}
}

// closed are the issues that a pull request closes: by its description, and by nothing but what a
// merge makes of its title and its commits.
type closed struct{ described, landing []claim.Issue }

// guards reports whether anything is to be said of the issues that the pull request closes.
func (s *Step) guards(ctx context.Context, p github.Pull) bool {
	if s.Guard != guardOff || !s.demands() {
		return s.Guard != guardOff
	}
	is, err := s.contributor(ctx, p.Author)
	return is || err != nil
}

// guardIssues asks the guard about each issue that the pull request closes. It writes nothing, so
// that a run which may not write judges as well as any other.
func (s *Step) guardIssues(ctx context.Context, p github.Pull, c closed, snapshots []lifecycle.Snapshot, r *result) {
	if !s.guards(ctx, p) {
		r.excess = "" // the summary has said it
		return
	}
	if p.State != lifecycle.PROpened || !p.DefaultBase {
		return
	}

	s.tellLimit(ctx, p, snapshots, r)
	for _, one := range snapshots {
		i := one.Facts.Issue
		lands := slices.ContainsFunc(c.landing, i.Same)
		switch {
		case !lands && !slices.ContainsFunc(c.described, i.Same):
		// of which this token learns nothing, in no run
		case absent(one.Err), one.Err != nil && !s.here(i) && hidden(one.Err):
			s.Console.line("%s", one.Err)
		case one.Err != nil:
			s.couldNotJudge(r, unjudged{what: fmt.Sprintf("%s may close %s", p, i), err: one.Err})
		default:
			s.guardIssue(ctx, p, one.Facts, lands, r)
		}
	}
}

// tellLimit says of an agent's pull request that agents have more open than the repository wants.
// It fails no check.
func (s *Step) tellLimit(ctx context.Context, p github.Pull, snapshots []lifecycle.Snapshot, r *result) {
	agents := func(one lifecycle.Snapshot) bool { return one.Facts.Log.Worked(p.Author) }
	rules := s.Ledger.Rules()
	if rules.Limits.PullRequests == 0 || !p.Recorded && !slices.ContainsFunc(snapshots, agents) {
		return
	}

	load, err := s.Ledger.Load(ctx, s.Repo)
	if err != nil {
		s.Console.line("open pull requests of agents were not counted: %s", err)
		return
	}
	if text := rules.PullLimit(load, s.Repo.String(), rules.Limits.PullRequests+1); text != "" {
		s.Console.warn("%s", text)
		r.note("%s", text)
	}
}

// hidden reports whether GitHub does not tell the token what was asked: it lacks a right, or may
// not know the roles of a repository.
func hidden(err error) bool {
	var role *github.HiddenRoleError
	var right *github.PermissionError
	return errors.As(err, &role) || errors.As(err, &right)
}

// guardIssue asks the guard about one issue.
func (s *Step) guardIssue(ctx context.Context, p github.Pull, f lifecycle.Facts, lands bool, r *result) {
	refused, v := s.refusals(f, p)
	if s.Guard == guardOff {
		refused = nil
	}

	unheld, err := s.unheld(ctx, p, f)
	must := s.Guard == guardFail || unheld && s.Contributors.PullRequests == config.PullsFail
	for n := range refused {
		refused[n].lands, refused[n].fails = lands, must
	}

	r.refused = append(r.refused, refused...)
	if len(refused) == 0 && unheld {
		r.unclaimed = append(r.unclaimed, refusal{
			pull:   p.String(),
			issue:  f,
			reason: s.heldBy(f, v, p.Author),
			lands:  lands,
			fails:  s.Contributors.PullRequests == config.PullsFail,
		})
	}

	if err == nil && (v.Answer == lifecycle.Unknown || len(f.Doubts) > 0) {
		err = errors.New(cmp.Or(strings.Join(f.Doubts, "; "), v.String()))
	}
	if len(refused) == 0 && err != nil {
		s.couldNotJudge(r, unjudged{what: fmt.Sprintf("%s may close %s", p, f.Issue), err: err})
	}
}

// comment keeps the guard's one comment under the pull request true.
func (s *Step) comment(ctx context.Context, p github.Pull, r *result) {
	want := guardComment(r.refused, r.unclaimed, r.excess)
	if s.dry() || r.readOnly() || want == "" && p.Comments == 0 {
		return
	}

	err := s.say(ctx, s.Repo.Issue(p.Number), time.Time{}, guardMark, want)
	var refused *github.PermissionError
	switch {
	case errors.As(err, &refused): // on a locked conversation, or by the token
		s.Console.warn("guard comment: %s", err)
	case err != nil:
		r.skip("guard comment: %s", err)
	}
}

// refreshComments keeps the guard's comments true under pull requests of whose issues something may
// have changed, also where no event of the pull request tells so: a release, a sweep. It returns
// what could not be done.
func (s *Step) refreshComments(ctx context.Context, pulls map[int]bool) (skipped []string) {
	if s.mode() == modeLifecycle { // its own has its say anyway
		delete(pulls, s.Event.pull())
	}
	if s.Guard == guardOff && !s.demands() {
		return nil
	}

	commented, err := s.Hub.Spoken(ctx, s.Repo, slices.Sorted(maps.Keys(pulls)), guardMark)
	if err != nil {
		return []string{"guard comments: " + err.Error()}
	}

	for _, number := range commented {
		var r result
		if err := s.refreshComment(ctx, number, &r); err != nil {
			r.skip("guard comment: %s", err)
		}
		skipped = append(skipped, r.report.Skipped...)
	}

	return skipped
}

// refreshComment judges a pull request again for its comment alone. Where the guard cannot judge,
// the comment stays.
func (s *Step) refreshComment(ctx context.Context, number int, r *result) error {
	p, m, err := s.Hub.PullToMerge(ctx, s.Repo, number, github.FileAt{})
	if err != nil {
		return err
	}

	closes := s.moves(ctx, p, r)
	if r.err == nil {
		s.guardPull(ctx, p, m, closes, r)
	}

	for _, u := range r.unjudged {
		s.Console.line("the comment on %s stays: %s", p, u)
	}

	if r.err != nil || len(r.unjudged) > 0 {
		return r.err
	}
	r.report.Skipped = nil // what else could not be looked at is said elsewhere
	s.comment(ctx, p, r)

	return nil
}

// refusals is the hook's twin on the server, for those who pushed with --no-verify: the pull
// request must not close what somebody else holds, nor what an older pull request closes already
// (spec.md#the-verdict). The holder's own pull request is not stopped by other people's, and no
// part of a chain by the other parts. The verdict is the predicate's, and free where it is not
// asked.
func (s *Step) refusals(f lifecycle.Facts, p github.Pull) (out []refusal, v lifecycle.Verdict) {
	if !f.Open || f.PullRequest {
		return nil, lifecycle.Verdict{Answer: lifecycle.Free}
	}

	if n := slices.IndexFunc(f.PRs, p.Is); n >= 0 {
		p.PR = f.PRs[n] // the issue's facts say what chain it is a part of, and whether a release names it
	}

	c, has := f.Log.Holder()
	own := p.Recorded || has && f.Of(p.PR, c) // the work of the issue's holder, or of the last one
	v = s.Ledger.Rules().Verdict(f, lifecycle.Seeker{Repo: p.HeadRepo, Branch: p.Head})
	for _, reason := range v.Reasons {
		held := reason.Code == lifecycle.CodeInFlight && !f.Of(p.PR, *reason.Claim)
		// Numbers tell within a repository; another repository's pull request is taken for older.
		taken := reason.Code == lifecycle.CodePROpen && !own &&
			(!strings.EqualFold(reason.PR.Repo, p.Repo) || reason.PR.Number < p.Number)
		if held || taken {
			out = append(out, refusal{pull: p.String(), issue: f, reason: reason})
		}
	}

	return out, v
}

// guardMark is how the guard finds its comment again. It is not a record: those begin with "<!--
// agent-".
const guardMark = "<!-- label-state:guard -->"

const guardLimit = 50 // refusals that the comment lists

// guardComment is what the guard has to say under the pull request; nothing when nothing stands in
// its way.
func guardComment(refused, unclaimed []refusal, excess string) string {
	if excess != "" {
		return guardMark + "\n**This pull request moves no issue.**\n\n" + markdown("The "+excess) +
			". Its issues were not judged; " +
			"name fewer, or have it opened by somebody whose records count.\n\nThis comment is deleted once it names fewer." +
			printable.Footer
	}
	if len(refused) == 0 && len(unclaimed) > 0 {
		return unclaimedComment(unclaimed)
	}
	if len(refused) == 0 {
		return ""
	}

	title, wait := "Another pull request closes an issue that this one closes.", "that one is closed"
	takeOver := ""
	if slices.ContainsFunc(refused, func(r refusal) bool { return r.reason.Code == lifecycle.CodeInFlight }) {
		title, wait = "Somebody else holds an issue that this pull request closes.", "they release the issue"
		takeOver = ";\n3. take it over: ask somebody who may add labels to comment `/release` on the issue, " +
			"then run this check again"
	}

	var b strings.Builder
	b.WriteString(guardMark + "\n**" + title + "**\n\n")
	b.WriteString(listRefusals(refused, func(r refusal) string {
		where, evidence := "", ""
		if r.lands {
			where = ", which the title or a commit closes"
		}
		if r.reason.URL != "" {
			evidence = " (" + link("evidence", r.reason.URL) + ")"
		}

		return issueLink(r.issue.Issue, r.issue.URL) + where + ": " + markdown(toPeople(r.reason)) + evidence
	}))
	b.WriteString("\nOptions:\n\n" +
		"1. remove the closing keyword from the description, the title and the commits, if the work belongs to them;\n" +
		"2. wait until " + wait + ", then run this check again" + takeOver + ".\n\n" +
		"This comment is deleted once nothing blocks the pull request." + printable.Footer)

	return b.String()
}

// listRefusals is a list of refusals, as line tells each, and of how many more there are than fit.
func listRefusals(all []refusal, line func(refusal) string) string {
	var b strings.Builder
	for _, r := range all[:min(len(all), guardLimit)] {
		fmt.Fprintf(&b, "- %s\n", line(r))
	}
	if more := len(all) - guardLimit; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}

	return b.String()
}
