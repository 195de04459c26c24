package github

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

// A Repository is what matters of one.
type Repository struct {
	Repo          claim.Repo // as GitHub spells it now; differs from what was asked for after a renaming
	DefaultBranch string
	Private       bool
	Archived      bool
	HasIssues     bool
	Parent        claim.Repo // of a fork
	Role          Role       // of the token's owner; empty when GitHub does not say, as for a workflow's token
}

// Repository reads a repository. One that does not exist, or that the token may not see, is a
// *NotFoundError.
func (c *Client) Repository(ctx context.Context, r claim.Repo) (Repository, error) {
	got, _, err := fetch[restRepository](ctx, c, at(r, ""))
	if err == nil && got.repo() == (claim.Repo{}) {
		err = unusable("it is not a repository")
	}

	if err != nil {
		return Repository{}, failed(err, "read repository %s", r)
	}

	return Repository{
		Repo:          got.repo(),
		DefaultBranch: got.DefaultBranch,
		Private:       got.Private,
		Archived:      got.Archived,
		HasIssues:     got.HasIssues,
		Parent:        got.Parent.repo(),
		Role:          mapped(got.Permissions),
	}, nil
}

// restRepository is the repository object of REST, wherever it appears.
type restRepository struct {
	FullName      string          `json:"full_name"`
	DefaultBranch string          `json:"default_branch"`
	Private       bool            `json:"private"`
	Archived      bool            `json:"archived"`
	HasIssues     bool            `json:"has_issues"`
	Parent        *restRepository `json:"parent"`
	Permissions   map[string]bool `json:"permissions"`
}

func (r *restRepository) repo() claim.Repo {
	if r == nil {
		return claim.Repo{}
	}
	return place(r.FullName)
}

// DefaultBranch returns the name of a repository's default branch.
func (c *Client) DefaultBranch(ctx context.Context, repo string) (string, error) {
	r, err := c.Repository(ctx, place(repo))
	if err == nil && r.DefaultBranch == "" {
		err = fmt.Errorf("read repository %s: %w", repo,
			unusable("it has no default branch"))
	}
	return r.DefaultBranch, err
}

// Unopenable says why no pull request can be from branch into base (prchain.Forge). It is empty for
// a token that is not shown the default branch, and where GraphQL cannot compare branches: neither
// can tell.
func (c *Client) Unopenable(ctx context.Context, repo, branch, base string) (why string, err error) {
	d := newDocument()
	d.add("    main: defaultBranchRef { target { oid } }\n")
	d.add("    head: ref(qualifiedName: %s) { target { oid } }\n", d.bind("String!", "refs/heads/"+branch))
	d.add("    base: ref(qualifiedName: %s) { target { oid } compare(headRef: %s) { status } }\n",
		d.bind("String!", "refs/heads/"+base), d.bind("String!", "refs/heads/"+branch))

	var shown struct {
		Main, Head *queryTarget
		Base       *struct {
			queryTarget
			Compare struct{ Status string } // the zero value where GitHub does not compare them
		}
	}
	got, err := c.askIn(ctx, place(repo), d, &shown)
	switch {
	case tooOld(err) || is[*QueryError](err): // it compares none: what it refuses it says itself, later
		return "", nil
	case err != nil:
		return "", failed(err, "look for branches of %s", repo)
	case !shown.Main.there():
	case got.failed("repository", "head") != nil || got.failed("repository", "base", "target") != nil:
	case !shown.Head.there():
		return repo + " has no branch " + branch, nil
	case shown.Base == nil || !shown.Base.there():
		return repo + " has no branch " + base, nil
	case slices.Contains([]string{"IDENTICAL", "BEHIND"}, shown.Base.Compare.Status):
		return "branch " + branch + " of " + repo + " has no commit that " + base + " lacks", nil
	}

	return "", nil
}

// place splits owner/name.
func place(repo string) claim.Repo {
	owner, name, _ := strings.Cut(repo, "/")
	return claim.Repo{Owner: owner, Name: name}
}

// Sweepable reports whether issues of the repository can change at all: it is not archived and has
// issues.
func (c *Client) Sweepable(ctx context.Context, r claim.Repo) (why string, err error) {
	if got, _ := c.along.get(key(r.String())); got.read {
		return Repository{Archived: got.archived, HasIssues: got.hasIssues}.Unsweepable(), nil
	}

	known, err := c.Repository(ctx, r)
	return known.Unsweepable(), err
}

// Unsweepable says why issues of the repository cannot change; empty when they can.
func (r Repository) Unsweepable() string {
	switch {
	case r.Archived:
		return "archived, nothing can change there"
	case !r.HasIssues:
		return "issues are turned off there"
	}

	return ""
}

// File reads a file of the default branch, at most the megabyte that GitHub sends this way. A
// file that does not exist is a *NotFoundError, a folder an *AnswerError.
func (c *Client) File(ctx context.Context, r claim.Repo, path string) (content []byte, err error) {
	name, ok := escaped(path)
	to := at(r, "/contents/%s", name).about(Object{Kind: FileObject})
	if !ok || strings.Contains("/"+path+"/", "//") {
		to = nowhere(FileObject, "", "not a path")
	}

	raw, _, err := fetch[json.RawMessage](ctx, c, to)
	if denied, is := errors.AsType[*PermissionError](err); is {
		denied.Needs = cmp.Or(denied.Needs, "contents: read")
	}

	var got struct{ Type, Encoding, Content string }
	switch {
	case err != nil:
	case json.Unmarshal(raw, &got) != nil: // a folder is a list
		err = unusable("it is not a file but a folder")
	case got.Type != "file" || got.Encoding != "base64":
		err = unusable("it is not a file of up to a megabyte")
	default:
		if content, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(got.Content, "\n", "")); err != nil {
			content, err = nil, unusable("its content is not base64")
		}
	}

	return content, failed(err, "read %s of %s", path, r)
}

// An along is what the first query about a repository brought along.
type along struct {
	read      bool // false when it is under way
	known     bool // of the file
	data      []byte
	archived  bool
	hasIssues bool
}

// askAlong asks for what comes along, once for every repository.
func (c *Client) askAlong(d *document, r claim.Repo) {
	if c.o.Along == "" || !c.along.first(key(r.String()), along{}) {
		return
	}

	d.add("    isArchived hasIssuesEnabled\n    branch: defaultBranchRef { name }\n")
	d.add("    file: object(expression: %s) { __typename ... on Blob { text byteSize isTruncated } }\n",
		d.bind("String", "HEAD:"+c.o.Along))
}

// noteAlong takes the file from an answer. It is absent only where the default branch can be seen
// and has no such file; a file that is not text, that is cut off or not to be read is not known
// here.
func (c *Client) noteAlong(s sheet) {
	if s.err != nil || s.fields["file"] == nil {
		return
	}
	var branch *named
	var file *struct {
		Typename    string `json:"__typename"`
		Text        *string
		ByteSize    int
		IsTruncated bool
	}
	got := along{read: true}
	failed := s.failed("branch") != nil || s.failed("file") != nil
	if json.Unmarshal(s.fields["isArchived"], &got.archived) != nil ||
		json.Unmarshal(s.fields["hasIssuesEnabled"], &got.hasIssues) != nil ||
		json.Unmarshal(s.fields["branch"], &branch) != nil || json.Unmarshal(s.fields["file"], &file) != nil {
		return
	}

	switch {
	case failed || branch == nil:
	case file == nil:
		got.known = true
	case file.Typename == "Blob" && !file.IsTruncated && file.Text != nil && len(*file.Text) == file.ByteSize:
		got.known, got.data = true, []byte(*file.Text)
	}

	c.along.note(key(s.repo.String()), got)
}

// Along returns the file that came along with the first query about the repository, nil when its
// default branch has none, and forgets it. known is false when it did not come, and then only File
// can tell.
func (c *Client) Along(r claim.Repo, path string) (data []byte, known bool) {
	got, _ := c.along.get(key(r.String()))
	if !got.known || path != c.o.Along {
		return nil, false
	}

	c.along.note(key(r.String()), along{read: true, archived: got.archived, hasIssues: got.hasIssues})
	return got.data, true
}
