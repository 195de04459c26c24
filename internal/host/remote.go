package host

import (
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// A Remote is the repository that a git URL means. Host is lower case, github.com in one spelling;
// Owner and Repo are valid names, spelled as in the URL.
type Remote struct{ Host, Owner, Repo string }

// A NotGitHubError says why a URL cannot mean a repository on GitHub. It carries nothing of the
// URL, which may hold a token.
type NotGitHubError struct{ Reason string }

func (e *NotGitHubError) Error() string { return "read remote URL: " + e.Reason }

// ParseRemote reads a URL as git remotes have it: https, http, ssh, git+ssh, ssh+git and git, with
// user, token, port, trailing slash and .git or without, and the scp forms user@host:owner/repo and
// [user@host:port]:owner/repo. Any host passes that is not known to be another forge, an ssh alias
// among them (see [SSHHost]). A port counts only where it is the web's. The error is a
// [*NotGitHubError].
func ParseRemote(url string) (Remote, error) {
	a, err := split(url)
	if err != nil {
		return Remote{}, err
	}
	return a.remote()
}

// SSHHost returns the name that git hands to ssh for url, to be looked up in ssh's configuration
// ("ssh -G NAME"), and whether git uses ssh for it at all. It never begins with a hyphen.
func SSHHost(url string) (name string, ok bool) {
	a, err := split(url)
	return a.host, err == nil && strings.Contains(a.scheme, "ssh")
}

// On returns the same repository on another host, such as the one that an ssh alias stands for.
func (r Remote) On(hostname string) (Remote, error) {
	a, err := address{scheme: "ssh", path: r.Owner + "/" + r.Repo}.at(hostname)
	if err != nil {
		return Remote{}, err
	}
	return a.remote()
}

// remote is the repository at the address. The error is a *NotGitHubError.
func (a address) remote() (Remote, error) {
	if isElsewhere(a.host) {
		return Remote{}, &NotGitHubError{"its host is another forge, or serves gists"}
	}
	path := strings.TrimSuffix(strings.Trim(a.path, "/"), ".git")
	owner, repo, _ := strings.Cut(path, "/")
	switch {
	case !closing.ValidRepo(claim.Repo{Owner: owner, Name: repo}):
		return Remote{}, &NotGitHubError{"its path is not OWNER/REPO"}
	case strings.HasSuffix(repo, ".wiki"):
		return Remote{}, &NotGitHubError{"a wiki has no issues"}
	}

	return Remote{Host: a.webHost(), Owner: owner, Repo: repo}, nil
}
