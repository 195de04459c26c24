package github

import (
	"context"
	"fmt"
	"net/http"

	"github.com/label-state/label-state/internal/claim"
)

// onePage is how many comments one page holds at most.
const onePage = 100

// withComments reads all comments of an issue that was read, and where need be the issue again, until their number is what the issue
// says, and nothing happened to the issue while its pages were read. Where there still are fewer in the end, and nothing happened
// meanwhile, the difference is comments that GitHub shows to nobody.
func (s *session) withComments(ctx context.Context, r *snapshot, seen restIssue) (now restIssue, again bool, err error) {
	reason := ""
	for try := range rereads {
		if try > 0 {
			again = true
			if seen, err = s.issue(ctx, r); err != nil {
				return seen, again, err
			}
		}
		path, err := onIssue(r.facts.Issue, "/comments?per_page=%d", onePage)
		if err != nil {
			return seen, again, err
		}
		comments, _, err := list[restComment](ctx, s.api, path)
		if err != nil {
			return seen, again, err
		}
		have := len(comments)
		if have < seen.Comments && try < rereads-1 {
			continue
		}
		if reason, err = s.shifted(ctx, r.facts.Issue, seen, have); err != nil {
			return seen, again, err
		}
		if reason == "" {
			r.comments = nil
			for _, m := range comments {
				r.comments = append(r.comments, m.comment())
			}
			r.facts.Unshown = seen.Comments - have
			return seen, again, nil
		}
	}
	return restIssue{}, again, &AnswerError{Status: http.StatusOK, Reason: reason}
}

// shifted says why the comments that were read may not be all there are. Pages are numbered: one comment deleted and
// another posted between two of them hide a third, and the number is as before. So the issue is looked at again then.
func (s *session) shifted(ctx context.Context, i claim.Issue, seen restIssue, have int) (reason string, err error) {
	if have > seen.Comments {
		return fmt.Sprintf("%d comments counted and %d readable", seen.Comments, have), nil
	}
	if have == seen.Comments && have <= onePage {
		return "", nil
	}
	path, err := onIssue(i, "")
	if err != nil {
		return "", err
	}
	var now restIssue
	if _, err := s.api.Do(ctx, http.MethodGet, path, nil, &now); err != nil {
		return "", err
	}
	if !now.UpdatedAt.Equal(seen.UpdatedAt) || now.Comments != seen.Comments {
		return "comments came and went while they were read", nil
	}
	return "", nil
}
