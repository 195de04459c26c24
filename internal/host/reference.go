package host

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// A reference is what a person typed, being read.
type reference struct {
	kind, text string
	forms      string // what would have been allowed
	Defaults
}

// refuse is the error for a reason. It quotes the reference, unless that might be a URL with a
// token.
func (r reference) refuse(reason string) *answer.Problem {
	const most = 60
	shown := strconv.Quote(r.text)
	switch {
	case strings.ContainsAny(r.text, ":@"):
		shown = "URL"
	case len(r.text) > most:
		shown = strconv.Quote(r.text[:most]) + "…"
	}

	next := answer.Advice("give owner/repo#7, the issue's URL, or inside a clone just 7")
	if r.kind == "repository" {
		next = answer.Call("give OWNER/NAME, as in", "doctor", "acme/app")
	}

	return &answer.Problem{
		Code: answer.Usage,
		Why:  "read " + r.kind + " " + shown + ": " + reason,
		Next: []answer.Command{next},
	}
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

// known refuses a host whose repositories this caller does not mean.
func (r reference) known(host string) error {
	hosts := r.Hosts
	if len(hosts) == 0 {
		hosts = []string{dotCom}
	}

	if slices.Contains(hosts, host) {
		return nil
	}

	return r.refuse("it is not on " + strings.Join(hosts, " or "))
}
