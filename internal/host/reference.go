package host

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// A reference is what a person typed, being read.
type reference struct {
	kind, text string
	forms      string // what would have been allowed
	Defaults
}

func (r reference) refuse(reason string) error {
	return &ReferenceError{Kind: r.kind, Shown: shown(r.text), Reason: reason}
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
		reason := "no repository is known here: " + r.Nowhere.Error() + "; write owner/repo#7"
		return "", "", &ReferenceError{Kind: r.kind, Shown: shown(r.text), Reason: reason, Err: r.Nowhere}
	case name == "" && (owner == "" || repo == ""):
		return "", "", r.refuse("no repository is known here; write owner/repo#7, or run it inside a clone")
	case !full && owner == "":
		return "", "", r.refuse("no owner is known here; write owner/repo, or set GH_ORG")
	case !closing.ValidOwner(owner) || !closing.ValidRepo(repo):
		return "", "", r.refuse(r.forms)
	}
	return owner, repo, nil
}

// issueURL reads https://HOST/owner/repo/issues/7 or …/pull/7 and does not mind what follows.
func (r reference) issueURL() (claim.Issue, error) {
	page := r.text
	if end := strings.IndexAny(page, "?#"); end >= 0 {
		page = page[:end]
	}
	a, err := split(page)
	parts := strings.SplitN(a.path, "/", 5)
	if err != nil || !a.isWeb() || len(parts) < 4 || parts[2] != "issues" && parts[2] != "pull" {
		return claim.Issue{}, r.refuse(r.forms)
	}
	number, ok := closing.ParseNumber(parts[3])
	if !ok || !closing.ValidOwner(parts[0]) || !closing.ValidRepo(parts[1]) {
		return claim.Issue{}, r.refuse(r.forms)
	}
	if err := r.known(a.webHost()); err != nil {
		return claim.Issue{}, err
	}
	return claim.Issue{Owner: parts[0], Repo: parts[1], Number: number}, nil
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

// shown quotes a reference for an error, unless it might be a URL with a token.
func shown(ref string) string {
	const most = 60
	if strings.ContainsAny(ref, ":@") {
		return "URL"
	}
	if len(ref) > most {
		return strconv.Quote(ref[:most]) + "…"
	}
	return strconv.Quote(ref)
}
