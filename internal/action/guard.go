package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lifecycle"
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
}

// String is the refusal in one line.
func (r refusal) String() string {
	return fmt.Sprintf("%s closes %s: %s", r.pull, r.issue.Issue, r.reason.Text)
}

// stand is the guard: it judges a pull request and keeps its one comment true.
func (s *Step) stand(ctx context.Context, p github.Pull, facts []lifecycle.Facts, r *result) {
	if s.Guard == guardOff {
		r.excess = "" // the summary has said it
	}
	if s.Guard != guardOff && p.State == lifecycle.PROpened && p.DefaultBase {
		for _, f := range facts {
			r.refused = append(r.refused, s.judge(f, p)...)
		}
	}
	if s.dry() || r.readOnly() {
		return
	}
	err := s.speak(ctx, p, guardComment(r.refused, r.excess))
	var refused *github.PermissionError
	switch {
	case errors.As(err, &refused): // on a locked conversation, or by the token
		s.Console.warn("guard comment: %s", err)
	case err != nil:
		r.report.Skipped = append(r.report.Skipped, "guard comment: "+err.Error())
	}
}

// judge is the hook's twin on the server, for those who pushed with --no-verify: the pull request
// must not close what somebody else holds, nor what an older pull request closes already
// (spec.md#the-verdict). The holder's own pull request is not stopped by other people's, and no part of a chain by
// the other parts.
func (s *Step) judge(f lifecycle.Facts, p github.Pull) []refusal {
	if !f.Open || f.PullRequest {
		return nil
	}
	var out []refusal
	if n := slices.IndexFunc(f.PRs, func(o lifecycle.PR) bool { return o.Number == p.Number && strings.EqualFold(o.Repo, p.Repo) }); n >= 0 {
		p.PR = f.PRs[n] // the issue's facts say what chain it is a part of, and whether a release names it
	}
	c, has := f.Log.Holder()
	own := p.Recorded || has && f.Of(p.PR, c) // the work of the issue's holder, or of the last one
	v := s.Ledger.Rules().Verdict(f, lifecycle.Seeker{Repo: p.HeadRepo, Branch: p.Head})
	for _, reason := range v.Reasons {
		held := reason.Code == lifecycle.CodeInFlight && !f.Of(p.PR, *reason.Claim)
		// Numbers tell within a repository; another repository's pull request is taken for older.
		taken := reason.Code == lifecycle.CodePROpen && !own &&
			(!strings.EqualFold(reason.PR.Repo, p.Repo) || reason.PR.Number < p.Number)
		if held || taken {
			out = append(out, refusal{p.String(), f, reason})
		}
	}
	return out
}

// guardMark is how the guard finds its comment again. It is no record: those begin with "<!-- agent-".
const guardMark = "<!-- label-state:guard -->"

const guardLimit = 50 // refusals that the comment lists

// guardComment is what the guard has to say under the pull request; nothing when nothing stands in its way.
func guardComment(refused []refusal, excess string) string {
	if excess != "" {
		return guardMark + "\n**This pull request moves no issue.**\n\n" + markdown("The "+excess) + ". Its issues were not judged; " +
			"name fewer, or let somebody open it whose records count.\n\nThis comment goes away by itself when it names fewer."
	}
	if len(refused) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(guardMark + "\n**Somebody else has what this pull request closes.**\n\n")
	for _, r := range refused[:min(len(refused), guardLimit)] {
		is := " is"
		if r.reason.Claim != nil && r.reason.Claim.Person != "" {
			is = ":" // PERSON holds it since …
		}
		fmt.Fprintf(&b, "- %s%s %s", issueLink(r.issue.Issue, r.issue.URL), is, markdown(strings.TrimPrefix(r.reason.Text, "pull request ")))
		if r.reason.URL != "" {
			b.WriteString(" (" + link("evidence", r.reason.URL) + ")")
		}
		b.WriteString("\n")
	}
	if more := len(refused) - guardLimit; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	b.WriteString("\nThree ways on:\n\n" +
		"1. take the closing keyword out of the description, if the work is theirs;\n" +
		"2. wait until they release the issue, then run this check again;\n" +
		"3. take it over: somebody who may label comments `/release` on the issue, then run this check again.\n\n" +
		"This comment goes away by itself when nothing stands in the way any more.")
	return b.String()
}

// speak makes the guard's own comments under a pull request be exactly want: one that is edited,
// or none.
func (s *Step) speak(ctx context.Context, p github.Pull, want string) error {
	i := claim.Issue{Owner: s.Repo.Owner, Repo: s.Repo.Name, Number: p.Number}
	if want == "" && p.Comments == 0 {
		return nil
	}
	own, err := s.ours(ctx, i, time.Time{}, guardMark)
	if err != nil {
		return err
	}
	if want != "" && len(own) == 0 {
		if _, err := s.Hub.Comment(ctx, i, want); err != nil {
			return err
		}
		if own, err = s.ours(ctx, i, time.Time{}, guardMark); err != nil { // somebody may have spoken at the same time
			return err
		}
	}
	for n, c := range own {
		switch {
		case n > 0 || want == "":
			err = s.Hub.DeleteComment(ctx, i, c.ID)
		case c.Body != want:
			_, err = s.Hub.EditComment(ctx, i, c.ID, want)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
