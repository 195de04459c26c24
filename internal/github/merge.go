package github

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// A Merge is what a pull request brings to its base branch when it is merged.
type Merge struct {
	closing.Merge
	Unread int     // commits that were not read, because there are more than mergeCommits
	File   *string // text of the file that was asked for; nil if it is not there, or is no text
}

// A FileAt names a file in a commit. The zero value names none.
type FileAt struct{ Commit, Path string }

// mergeCommits is how many commits of a pull request are read: GitHub itself lists no more than
// 250.
const mergeCommits = 300

// PullToMerge is Pull with what a merge brings, and with a file as it is in a commit, in the same
// request. A pull request of more than a hundred commits costs one request for each further
// hundred.
func (c *Client) PullToMerge(ctx context.Context, r claim.Repo, number int,
	file FileAt,
) (out Pull, m Merge, err error) {
	id := r.Issue(number)
	if err = nameable(id); err == nil {
		out, m, err = c.queryMerge(ctx, id, file)
	}
	return out, m, failed(missing(err, pullObject(id)), "read pull request %s", id)
}

// A queryMergeable is a repository with one of its pull requests, and what a merge of it may make
// of it.
type queryMergeable struct {
	PullRequest *queryMergeablePull
	File        *struct {
		Text        *string
		IsTruncated bool
	}
	closing.Methods
}

type queryMergeablePull struct {
	queryWholePull
	Commits *connection[queryPullCommit]
}

type queryPullCommit struct{ Commit struct{ Message string } }

// mergeSettings select closing.Methods.
const mergeSettings = "commit: mergeCommitAllowed commitTitle: mergeCommitTitle commitMessage: mergeCommitMessage\n" +
	"    squash: squashMergeAllowed squashTitle: squashMergeCommitTitle squashMessage: squashMergeCommitMessage\n" +
	"    rebase: rebaseMergeAllowed"

const commitFields = "totalCount pageInfo { hasNextPage endCursor } nodes { commit { message } }"

func (c *Client) queryMerge(ctx context.Context, id pullID, file FileAt) (Pull, Merge, error) {
	d := newDocument()
	d.add("    " + mergeSettings + "\n")
	if file != (FileAt{}) {
		d.add("    file: object(expression: %s) { ... on Blob { text isTruncated } }\n",
			d.bind("String", file.Commit+":"+file.Path))
	}

	d.add("    pullRequest(number: %d) { "+wholePull+" commits(first: 100) { "+commitFields+" } }\n", id.Number)

	var found queryMergeable
	err := c.askWhole(ctx, id.In(), d, &found)
	if err == nil && found.PullRequest == nil {
		err = absent()
	}
	if err != nil {
		return Pull{}, Merge{}, err
	}

	out, err := found.PullRequest.whole()
	if err != nil {
		return Pull{}, Merge{}, err
	}

	m := Merge{Merge: closing.Merge{Title: out.Title, Body: out.Body, Methods: found.Methods}}
	if found.File != nil && !found.File.IsTruncated {
		m.File = found.File.Text
	}

	err = c.readCommits(ctx, id, found.PullRequest.Commits, &m)
	return out, m, err
}

// readCommits takes in a page of commits, and reads the following ones.
func (c *Client) readCommits(ctx context.Context, id pullID, page *connection[queryPullCommit], m *Merge) error {
	for {
		if page == nil {
			return unusable("commits are missing")
		}

		for one := range page.shown() {
			m.Commits = append(m.Commits, one.Commit.Message)
		}

		if !page.PageInfo.HasNextPage || len(m.Commits) >= mergeCommits || page.PageInfo.EndCursor == "" {
			m.Unread = max(0, page.TotalCount-len(m.Commits))
			return nil
		}

		d := newDocument()
		d.add("    pullRequest(number: %d) { commits(first: 100%s) { "+commitFields+" } }\n", id.Number,
			d.after(page.PageInfo.EndCursor))
		page = nil
		if _, err := c.askIn(ctx, id.In(), d, &page, "pullRequest", "commits"); err != nil {
			return err
		}
	}
}

// changedFiles is how many files of a pull request are looked through.
const changedFiles = 1000

// Changes reports whether a pull request changes a file. Of more than changedFiles files the others
// are not looked at.
func (c *Client) Changes(ctx context.Context, i claim.Issue, path string) (changes bool, err error) {
	after := ""
	for range changedFiles / 100 {
		d := newDocument()
		d.add("    pullRequest(number: %d) { files(first: 100%s) { pageInfo { hasNextPage endCursor } nodes { path } } }\n",
			i.Number, d.after(after))
		var files connection[struct{ Path string }]
		if _, err := c.askIn(ctx, i.In(), d, &files, "pullRequest", "files"); err != nil {
			return false, failed(missing(err, pullObject(i)), "read the files of %s", i)
		}

		for f := range files.shown() {
			if f.Path == path {
				return true, nil
			}
		}

		if !files.PageInfo.HasNextPage || files.PageInfo.EndCursor == "" {
			return false, nil
		}
		after = files.PageInfo.EndCursor
	}

	return false, nil
}
