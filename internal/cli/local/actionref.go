package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/workflow"
)

// tagged is a version that a tag may have: of a module that "go install module@version" has
// fetched.
var tagged = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// chooseRef is the tag of a release for a program of a release, else the commit that this program
// was built from, so that the workflow runs today: the one that it knows, else that of its version.
// Where nobody knows that commit, or GitHub does not have it, it is the branch.
//
// note is the comment beside it, next what a person should know or do about it; both may be empty.
func chooseRef(ctx context.Context, c *cli.Call) (ref, note, next string) {
	build := c.Build
	if major := build.Release(); major != "" {
		return major, "", ""
	}

	known := build.Commit
	if known == "" && tagged.MatchString(build.Version) {
		known = build.Version
	}

	if known == "" {
		return workflow.Ref, "", unpinned
	}

	commit, err := findCommit(ctx, c, workflow.Reference{Repo: workflow.Action, Ref: known})
	switch {
	case errors.Is(err, errNoCommit):
		return workflow.Ref, "", "the commit that this program was built from is not on GitHub; " + unpinned
	case err != nil && len(known) < 40:
		return workflow.Ref, "", unpinned
	case err != nil: // as on another server, to which Actions come from elsewhere
		commit = known
	}

	next = "the workflow names the commit that this program was built from, until there is a release; GitHub builds the Action from it at each run"
	if build.Changed {
		next += ". Your program has changes that are not in it"
	}

	return commit, "label-state " + build.Version, next
}

// unpinned is what a person does about a workflow that names the branch.
const unpinned = "the workflow is not pinned: each run takes what is on " + workflow.Ref + " of " + workflow.Action +
	"; in " + cli.WorkflowPath + " put a commit of it in place of " + workflow.Ref

// errNoCommit is the answer that a repository has no such branch, tag or commit.
var errNoCommit = errors.New("no such branch, tag or commit")

// findCommit is the commit that a reference means on GitHub. The error is errNoCommit where the
// repository has none, a *github.NotFoundError where the token sees no such repository, and what
// kept it from being found out otherwise.
func findCommit(ctx context.Context, c *cli.Call, r workflow.Reference) (string, error) {
	owner, name, _ := strings.Cut(r.Repo, "/")
	path := fmt.Sprintf("repos/%s/%s/commits/%s", url.PathEscape(owner), url.PathEscape(name), url.PathEscape(r.Ref))
	var answer struct {
		SHA string `json:"sha"`
	}
	_, err := c.Session.Client.Do(ctx, http.MethodGet, path, nil, &answer)
	var status *github.StatusError
	switch {
	case errors.As(err, &status) && status.Status == http.StatusUnprocessableEntity: // "No commit found for SHA"
		return "", errNoCommit
	case err != nil:
		return "", err
	case len(answer.SHA) < 40:
		return "", errors.New("GitHub named no commit")
	}

	return answer.SHA, nil
}

// workflowStep is the workflow. One that is there and differs in nothing but what it names of the
// Action is there.
func workflowStep(ctx context.Context, c *cli.Call, root, kind string) (InitStep, error) {
	const about = "the Action, which sweeps every hour"
	o := workflow.Options{Refs: kind == lease.Refs}
	if kind == lease.Redis {
		o.Variables = []string{c.Session.Config.Lease.RedisURLEnv}
	}

	if have, err := readHere(root, cli.WorkflowPath); err == nil {
		o.Ref, o.Note = refIn(have)
		s, err := fileStep(ctx, c, root, cli.WorkflowPath, workflow.Text(o), about)
		if o.Ref == workflow.Ref {
			s.Next = unpinned
		}
		if !c.Session.Unconfigured { // or none of the files is there
			var absent *github.NotFoundError
			_, read := c.Session.Client.File(ctx, c.Session.Repo, cli.WorkflowPath)
			s.Unlanded = errors.As(read, &absent)
		}

		return s, err
	}

	var next string
	o.Ref, o.Note, next = chooseRef(ctx, c)
	s, err := fileStep(ctx, c, root, cli.WorkflowPath, workflow.Text(o), about)
	if s.Status == stepMissing {
		s.Next = next
	}

	return s, err
}

// refIn is what a workflow names of the Action, and the comment behind it; empty where it names
// another.
func refIn(text string) (ref, note string) {
	_, rest, found := strings.Cut(text, "uses: "+workflow.Action+"@")
	if !found {
		return "", ""
	}

	line, _, _ := strings.Cut(rest, "\n")
	ref, note, _ = strings.Cut(strings.TrimSuffix(line, "\r"), " # ")
	return ref, note
}
