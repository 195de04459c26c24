package github

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

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

// repositories reads what a repository is.
type repositories struct {
	api  *api
	path string // of the file that the first query about a repository brings along; empty for none

	mu    sync.Mutex
	along map[string]*along // what it brought, by owner/repo in lower case; nil when it is under way
}

// Repository reads a repository. One that does not exist, or that the token may not see, is a
// *NotFoundError.
func (rp *repositories) Repository(ctx context.Context, r claim.Repo) (Repository, error) {
	got, _, err := fetch[restRepository](ctx, rp.api, at(r.Owner, r.Name, ""))
	if err == nil && got.repo() == (claim.Repo{}) {
		err = &AnswerError{Reason: "it is not a repository"}
	}

	if err != nil {
		return Repository{}, failed(err, Object{RepositoryObject, r.String()}, "read repository %s", r)
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
func (rp *repositories) DefaultBranch(ctx context.Context, repo string) (string, error) {
	r, err := rp.Repository(ctx, place(repo))
	if err == nil && r.DefaultBranch == "" {
		err = fmt.Errorf("read repository %s: %w", repo,
			&AnswerError{Reason: "it has no default branch"})
	}
	return r.DefaultBranch, err
}

// place splits owner/name.
func place(repo string) claim.Repo {
	owner, name, _ := strings.Cut(repo, "/")
	return claim.Repo{Owner: owner, Name: name}
}

// Sweepable reports whether issues of the repository can change at all: it is not archived and has
// issues.
func (rp *repositories) Sweepable(ctx context.Context, r claim.Repo) (why string, err error) {
	rp.mu.Lock()
	got := rp.along[key(r.String())]
	rp.mu.Unlock()
	if got != nil {
		return Repository{Archived: got.archived, HasIssues: got.hasIssues}.Unsweepable(), nil
	}

	known, err := rp.Repository(ctx, r)
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
func (rp *repositories) File(ctx context.Context, r claim.Repo, path string) (content []byte, err error) {
	var escaped []string
	for part := range strings.SplitSeq(path, "/") {
		if strings.Trim(part, ".") == "" {
			err = &NotFoundError{What: Object{Kind: FileObject}, Status: http.StatusNotFound, Message: "not a path"}
		}
		escaped = append(escaped, url.PathEscape(part))
	}

	var raw json.RawMessage
	if err == nil {
		_, err = rp.api.send(ctx, http.MethodGet, at(r.Owner, r.Name, "/contents/%s", strings.Join(escaped, "/")),
			nil, &raw)
	}

	var got struct{ Type, Encoding, Content string }
	if err == nil && json.Unmarshal(raw, &got) != nil { // a folder is a list
		err = &AnswerError{Reason: "it is not a file but a folder"}
	}

	if err == nil && (got.Type != "file" || got.Encoding != "base64") {
		err = &AnswerError{Reason: "it is not a file of up to a megabyte"}
	}

	if err == nil {
		if content, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(got.Content, "\n", "")); err != nil {
			err = &AnswerError{Reason: "its content is not base64"}
		}
	}

	if err != nil {
		return nil, failed(err, Object{Kind: FileObject}, "read %s of %s", path, r)
	}

	return content, nil
}

// An along is what the first query about a repository brought along.
type along struct {
	known     bool
	data      []byte
	archived  bool
	hasIssues bool
}

// askAlong asks for what comes along, once for every repository.
func (rp *repositories) askAlong(d *document, r claim.Repo) {
	rp.mu.Lock()
	_, asked := rp.along[key(r.String())]
	rp.along[key(r.String())] = rp.along[key(r.String())]
	rp.mu.Unlock()
	if asked || rp.path == "" {
		return
	}

	d.add("    isArchived hasIssuesEnabled\n    branch: defaultBranchRef { name }\n")
	d.add("    file: object(expression: %s) { __typename ... on Blob { text byteSize isTruncated } }\n",
		d.bind("String", "HEAD:"+rp.path))
}

// noteAlong takes the file from an answer. It is absent only where the default branch can be seen
// and has no such file; a file that is not text, that is cut off or not to be read is not known
// here.
func (rp *repositories) noteAlong(s sheet) {
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
	got := along{}
	failed := s.failed("branch", Object{}) != nil || s.failed("file", Object{}) != nil
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

	rp.mu.Lock()
	defer rp.mu.Unlock()
	rp.along[key(s.repo.String())] = &got
}

// Along returns the file that came along with the first query about the repository, nil when its
// default branch has none, and forgets it. known is false when it did not come, and then only File
// can tell.
func (rp *repositories) Along(r claim.Repo, path string) (data []byte, known bool) {
	rp.mu.Lock()
	defer rp.mu.Unlock()
	got := rp.along[key(r.String())]
	if got == nil || !got.known || path != rp.path {
		return nil, false
	}

	got.known = false
	return got.data, true
}
