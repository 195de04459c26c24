package claim

import (
	"cmp"
	"fmt"
	"strings"
)

// An Issue names one GitHub issue. It prints as owner/repo#7.
type Issue struct {
	Owner, Repo string
	Number      int
}

// String returns owner/repo#7.
func (i Issue) String() string { return fmt.Sprintf("%s/%s#%d", i.Owner, i.Repo, i.Number) }

// Slug returns owner/repo.
func (i Issue) Slug() string { return i.Owner + "/" + i.Repo }

// Same reports whether both name one issue; GitHub compares owners and repositories without case.
func (i Issue) Same(o Issue) bool {
	return i.Number == o.Number && i.SameRepo(o)
}

// SameRepo reports whether both are of one repository.
func (i Issue) SameRepo(o Issue) bool {
	return strings.EqualFold(i.Owner, o.Owner) && strings.EqualFold(i.Repo, o.Repo)
}

// Folded is the one spelling of an issue that all others have in common, for the key of a map.
func (i Issue) Folded() Issue {
	return Issue{strings.ToLower(i.Owner), strings.ToLower(i.Repo), i.Number}
}

// An IssueError says what was being done to which issue when it failed. It prints as "read
// owner/repo#7: " and the cause.
type IssueError struct {
	Doing string // read, look at
	Issue Issue
	Err   error
}

func (e *IssueError) Error() string { return e.Doing + " " + e.Issue.String() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *IssueError) Unwrap() error { return e.Err }

// Compare orders issues by repository, then number.
func (i Issue) Compare(o Issue) int {
	return cmp.Or(strings.Compare(strings.ToLower(i.Slug()), strings.ToLower(o.Slug())),
		cmp.Compare(i.Number, o.Number))
}

// IsName reports whether an owner or a repository can have the name: 1 to 100 ASCII letters,
// digits, dots, dashes and underscores, as GitHub allows them, but neither "." nor "..". Such a
// name leads out of no folder.
func IsName(s string) bool {
	if s == "" || len(s) > 100 || s == "." || s == ".." {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
}

// A Worker is one run of an agent or a person: the kind it is and this firing of it.
// The pair is the key of a claim; it is used once for an issue (spec-writing.md#claim).
type Worker struct{ Codename, FiringID string }

// String returns codename:firing_id, the form in which records name another worker.
func (w Worker) String() string { return w.Codename + ":" + w.FiringID }

// IsZero reports whether w names nobody.
func (w Worker) IsZero() bool { return w == Worker{} }

// Validate reports why a new claim cannot be made in the name of w, or nil. Codenames and firing
// ids are 1 to 64 of A-Z a-z 0-9 . _ / - (a firing id may also hold a colon) and start with a
// letter or digit. Records under other names are read all the same.
func (w Worker) Validate() error {
	if err := checkName("codename", w.Codename, "._/-"); err != nil {
		return err
	}
	return checkName("firing id", w.FiringID, "._/-:")
}

// checkName reports why s is not a codename or firing id; what names it in the error, punctuation
// is what else it may hold, but not begin with.
func checkName(what, s, punctuation string) error {
	if s == "" || len(s) > 64 {
		return fmt.Errorf("%s %q: expected 1 to 64 characters", what, clip(s))
	}

	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if letter || i > 0 && strings.ContainsRune(punctuation, r) {
			continue
		}
		return fmt.Errorf("%s %q: expected letters, digits and %s, starting with a letter or digit", what, clip(s),
			punctuation)
	}

	return nil
}

// clip cuts a text of somebody else for an error.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// SameLogin compares two logins as GitHub does: without case.
func SameLogin(a, b string) bool { return strings.EqualFold(a, b) }
