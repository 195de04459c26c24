// Package host says which GitHub a git remote or a reference to an issue means, and how to ask it.
//
// Hosts are lower case. One that serves the web on a port of its own carries it: ghe.example:8443.
package host

import (
	"slices"
	"strings"
)

const (
	dotCom  = "github.com"
	tenancy = ".ghe.com" // GitHub Enterprise Cloud with data residency: SUBDOMAIN.ghe.com
)

// TokenVariables returns the environment variables that may hold a token for host, best first. A
// token of github.com and its tenants never goes to another host, nor the other way round. The
// order is that of GitHub's own CLI.
func TokenVariables(host string) []string {
	if isCloud(canonical(host)) {
		return []string{"GH_TOKEN", "GITHUB_TOKEN"}
	}
	return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
}

// isCloud reports whether GitHub itself runs host.
func isCloud(host string) bool { return host == dotCom || strings.HasSuffix(host, tenancy) }

// canonical gives the names of one host one spelling: www.github.com and ssh.github.com are
// github.com, x.acme.ghe.com is acme.ghe.com.
func canonical(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.HasSuffix(host, "."+dotCom) {
		return dotCom
	}
	if name, ok := strings.CutSuffix(host, tenancy); ok {
		return name[strings.LastIndexByte(name, '.')+1:] + tenancy
	}

	return host
}

// isElsewhere reports whether host is known to be no GitHub, so that no token is ever offered to
// it: another public forge, or GitHub's gists, which have no issues.
func isElsewhere(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.HasPrefix(host, "gist.") && isCloud(canonical(host)) {
		return true
	}

	others := []string{
		"gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com", "git.sr.ht", "dev.azure.com",
		"huggingface.co",
	}
	return slices.ContainsFunc(others, func(other string) bool {
		return host == other || strings.HasSuffix(host, "."+other)
	})
}
