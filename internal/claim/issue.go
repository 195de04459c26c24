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

// In returns the repository of the issue.
func (i Issue) In() Repo { return Repo{i.Owner, i.Repo} }

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

// A Repo names a repository.
type Repo struct{ Owner, Name string }

// String returns owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Issue is the issue, or the pull request, with the number.
func (r Repo) Issue(number int) Issue { return Issue{r.Owner, r.Name, number} }

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
