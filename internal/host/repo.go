package host

import (
	"cmp"
	"errors"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// ParseRepo reads owner/repo, repo, host/owner/repo, or a URL of a repository as [ParseRemote]
// does. The names are valid. The error is an answer.Usage.
func ParseRepo(s string, d Defaults) (owner, repo string, err error) {
	r := reference{
		kind:     "repository",
		text:     s,
		forms:    repoForms,
		Defaults: d,
	}

	switch {
	case s == "":
		return "", "", r.refuse(r.forms)
	case strings.Contains(s, ":"):
		return r.remote(s)
	case strings.Count(s, "/") == 2:
		return r.remote("https://" + s)
	}

	return r.repo(s)
}

// repo completes and checks a name: owner/repo, repo, or nothing for the repository of the clone.
func (r reference) repo(name string) (owner, repo string, err error) {
	owner, repo, full := strings.Cut(name, "/")
	if name == "" {
		owner, repo = r.Owner, r.Repo
	} else if !full {
		owner, repo = cmp.Or(r.Org, r.Owner), name
	}

	switch {
	case name == "" && (owner == "" || repo == "") && r.Nowhere != nil:
		nowhere := r.refuse("no repository is known here: " + r.Nowhere.Error() + "; write owner/repo#7")
		nowhere.Cause = r.Nowhere
		if says, is := errors.AsType[*answer.Problem](r.Nowhere); is && says.Next != nil {
			nowhere.Next = says.Next
		}
		return "", "", nowhere
	case name == "" && (owner == "" || repo == ""):
		return "", "", r.refuse("no repository is known here; write owner/repo#7, or run it inside a clone")
	case !full && owner == "":
		return "", "", r.refuse("no owner is known here; write owner/repo")
	case !closing.ValidRepo(claim.Repo{Owner: owner, Name: repo}):
		return "", "", r.refuse(r.forms)
	}

	return owner, repo, nil
}

// remote reads the URL of a repository.
func (r reference) remote(url string) (owner, repo string, err error) {
	remote, err := ParseRemote(url)
	if err != nil {
		return "", "", r.refuse(r.forms)
	}
	if err := r.known(remote.Host); err != nil {
		return "", "", err
	}

	return remote.Owner, remote.Repo, nil
}
