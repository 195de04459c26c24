package githubsim

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// grants are the permissions of a fine-grained token, an App's or a workflow's: a permission, as
// GitHub's API names it, to read, write or admin. Every such token reads metadata. Nil grants
// everything, as a classic token does.
type grants map[string]string

// grantNames are the permissions that the endpoints of the simulator ask for.
func grantNames() []string {
	return []string{"checks", "contents", "issues", "metadata", "pull_requests", "statuses", "workflows"}
}

func parseGrants(given map[string]string) (grants, error) {
	for name, level := range given {
		if !slices.Contains(grantNames(), name) {
			return nil, fmt.Errorf("token permission %q: expected one of %s", name, strings.Join(grantNames(), ", "))
		}
		if !slices.Contains(levelNames(), level) {
			return nil, fmt.Errorf("token permission %s: %q: expected none, read, write or admin", name, level)
		}
	}

	return given, nil
}

// levelNames are the levels of a permission; each includes the ones before it.
func levelNames() []string { return []string{"none", "read", "write", "admin"} }

// readOnlyGrants are what GitHub gives to the workflow run of a fork's pull request.
func readOnlyGrants() grants {
	all := grants{}
	for _, name := range grantNames() {
		all[name] = "read"
	}
	return all
}

// allow reports whether the grants meet one of the accepted sets, which are written as in the
// header X-Accepted-GitHub-Permissions: sets with "; " between, the permissions of a set with ",".
func (g grants) allow(accepted string) bool {
	if g == nil || accepted == "" {
		return true
	}

	for set := range strings.SplitSeq(accepted, "; ") {
		missing := slices.ContainsFunc(strings.Split(set, ","), func(one string) bool {
			name, level, _ := strings.Cut(one, "=")
			have := g[name]
			if have == "" && name == "metadata" {
				have = "read"
			}
			return slices.Index(levelNames(), have) < slices.Index(levelNames(), level)
		})

		if !missing {
			return true
		}
	}

	return false
}

// permissionSets are the permissions that each endpoint of a repository accepts, as GitHub's page
// "Permissions required for GitHub Apps" has them.
func permissionSets() map[string][]string {
	return map[string][]string{
		"metadata=read": {
			"GET /repos/{owner}/{repo}", "GET /R/collaborators/{login}",
			"GET /R/collaborators/{login}/permission",
		},
		issuesRead: {
			"GET /R/issues", "GET /R/issues/{number}", "GET /R/issues/comments/{id}/reactions",
			"GET /R/issues/{number}/dependencies/blocked_by", "GET /R/issues/{number}/dependencies/blocking",
			"GET /R/issues/{number}/sub_issues", "GET /R/issues/{number}/parent",
		},
		"issues=write": {
			"POST /R/issues", "POST /R/issues/comments/{id}/reactions",
			"POST /R/issues/{number}/dependencies/blocked_by",
			"DELETE /R/issues/{number}/dependencies/blocked_by/{id}", "POST /R/issues/{number}/sub_issues",
		},
		eitherRead: {
			"GET /R/issues/{number}/comments", "GET /R/issues/comments", "GET /R/issues/comments/{id}",
			"GET /R/issues/{number}/events",
			"GET /R/issues/{number}/timeline", "GET /R/issues/{number}/labels", "GET /R/labels", "GET /R/labels/{name}",
		},
		eitherWrite: {
			"POST /R/issues/{number}/comments", "PATCH /R/issues/comments/{id}", "DELETE /R/issues/comments/{id}",
			"PATCH /R/issues/{number}",
			"PUT /R/issues/{number}/lock", "DELETE /R/issues/{number}/lock", "POST /R/issues/{number}/labels",
			"POST /R/issues/{number}/assignees", "DELETE /R/issues/{number}/assignees",
			"PUT /R/issues/{number}/labels", "DELETE /R/issues/{number}/labels",
			"DELETE /R/issues/{number}/labels/{name}",
			"POST /R/issues/{number}/assignees", "DELETE /R/issues/{number}/assignees",
			"POST /R/labels", "PATCH /R/labels/{name}", "DELETE /R/labels/{name}",
		},
		pullsRead: {
			"GET /R/pulls", "GET /R/pulls/{number}", "GET /R/pulls/{number}/commits", "GET /R/pulls/{number}/merge",
		},
		"pull_requests=write": {"POST /R/pulls", "PATCH /R/pulls/{number}"},
		contentsRead: {
			"GET /R/git/ref/{ref...}", "GET /R/git/matching-refs/{ref...}", "GET /R/git/commits/{sha}",
			"GET /R/git/trees/{sha}",
			"GET /R/git/tags/{sha}", "GET /R/branches/{branch...}", "GET /R/contents/{path...}", "GET /R/commits/{ref}",
		},
		contentsWrite: {
			"DELETE /R/git/refs/{ref...}", "POST /R/git/commits", "POST /R/git/trees", "POST /R/git/blobs",
			"POST /R/git/tags",
			"PUT /R/pulls/{number}/merge",
		},
		"contents=write; contents=write,workflows=write": {"POST /R/git/refs", "PATCH /R/git/refs/{ref...}"},

		"checks=read":    {"GET /R/commits/{ref}/check-runs"},
		"statuses=read":  {"GET /R/commits/{ref}/status"},
		"statuses=write": {"POST /R/statuses/{sha}"},
	}
}

const (
	issuesRead    = "issues=read"
	pullsRead     = "pull_requests=read"
	contentsRead  = "contents=read"
	eitherRead    = "issues=read; pull_requests=read"
	eitherWrite   = "issues=write; pull_requests=write"
	contentsWrite = "contents=write"
)

// acceptedBy turns permissionSets round: what each endpoint accepts.
func acceptedBy() map[string]string {
	by := map[string]string{}
	for accepted, endpoints := range permissionSets() {
		for _, endpoint := range endpoints {
			by[endpoint] = accepted
		}
	}

	return by
}

// grants are the permissions of the actor's token.
func (who actor) grants() grants {
	if who.token == nil {
		return nil
	}
	return who.token.grants
}

// granted refuses what the token lacks every accepted permission for. What is public can be read
// without any.
func (who actor) granted(r *repository, accepted string, reads bool) error {
	if who.account == nil || reads && !r.private || who.grants().allow(accepted) {
		return nil
	}
	return who.inaccessible()
}

// inaccessible is GitHub's refusal of a token that lacks a permission.
func (who actor) inaccessible() error {
	if who.account.kind == "Bot" {
		return forbidden("Resource not accessible by integration")
	}
	return forbidden("Resource not accessible by personal access token")
}

// permitted tells the token's owner what the endpoint accepts, and refuses a token that lacks it.
// What the actor does not see, or what has moved, is for the endpoint to answer.
func (c *call) permitted(accepted string) error {
	if accepted == "" || c.who.account == nil || c.who.token.classic {
		return nil
	}
	c.header.Set("X-Accepted-GitHub-Permissions", accepted)
	r, err := c.repo()
	var refused *refusal
	if errors.As(err, &refused) {
		return nil
	}
	if err != nil {
		return err
	}

	reads := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	return c.who.granted(r, accepted, reads)
}

// mutates refuses a GraphQL mutation of something in the repository, which accepts what the REST
// endpoint of the same effect does.
func (c *call) mutates(r *repository, accepted string) error {
	return c.who.granted(r, accepted, false)
}
