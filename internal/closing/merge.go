package closing

import (
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

// A Merge is what a pull request may bring to its base branch as the text of commits: keywords
// there close issues as keywords in the description do. The zero value brings nothing.
type Merge struct {
	Title   string   // of the pull request
	Body    string   // its description
	Commits []string // messages of its commits, oldest first
	Methods Methods
}

// Methods are the ways in which a repository lets pull requests be merged, and what the messages of
// the new commits are made of. The words are those of GitHub's GraphQL API.
type Methods struct {
	Commit        bool
	CommitTitle   string // MERGE_MESSAGE or PR_TITLE
	CommitMessage string // PR_TITLE, PR_BODY or BLANK

	Squash        bool
	SquashTitle   string // COMMIT_OR_PR_TITLE or PR_TITLE
	SquashMessage string // COMMIT_MESSAGES, PR_BODY or BLANK

	Rebase bool
}

// BringCommits reports whether a merge by any of them brings the messages of all commits.
func (m Methods) BringCommits() bool {
	return m.Commit || m.Rebase || m.Squash && m.SquashMessage == "COMMIT_MESSAGES"
}

// messages are the texts of which a merge by any of the allowed methods may make commit messages.
// Who merges may write another text, which nobody knows before.
func (m Merge) messages() []string {
	var out []string
	way := m.Methods
	if way.BringCommits() {
		out = append(out, m.Commits...)
	}

	onlyCommit := len(m.Commits) == 1 && way.SquashTitle == "COMMIT_OR_PR_TITLE"
	if way.Squash && onlyCommit {
		out = append(out, firstLine(m.Commits[0]))
	}

	if way.Squash && !onlyCommit || way.Commit && (way.CommitTitle == "PR_TITLE" || way.CommitMessage == "PR_TITLE") {
		out = append(out, m.Title)
	}

	if way.Squash && way.SquashMessage == "PR_BODY" || way.Commit && way.CommitMessage == "PR_BODY" {
		out = append(out, m.Body)
	}

	return out
}

// InMerge returns the issues that a merge may close by the messages of its commits, each once, in
// the order of Messages. The description closes others ([InDescription]). more is that there are
// further issues, which are not returned: [Limit] in all.
func InMerge(m Merge, home claim.Repo, host string) (found []claim.Issue, more bool) {
	return scanner{home, host}.scan(m.messages()...)
}

func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}
