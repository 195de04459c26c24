package githubsim

import (
	"fmt"
	"net/http"
)

func repoRoutes() map[string]endpoint {
	return map[string]endpoint{
		"GET /user":                               getViewer,
		"GET /users/{login}":                      getUser,
		"GET /rate_limit":                         getRateLimit,
		"GET /repos/{owner}/{repo}":               getRepo,
		"GET /R/collaborators/{login}/permission": getPermission,
		"GET /R/collaborators/{login}":            checkCollaborator,
		"GET /meta":                               getMeta,
	}
}

func getMeta(c *call) (answer, error) {
	return ok(object{"verifiable_password_authentication": false})
}

func getViewer(c *call) (answer, error) {
	switch {
	case c.who.account == nil:
		return answer{}, &refusal{status: http.StatusUnauthorized, message: "Requires authentication"}
	case c.who.account.kind == "Bot":
		return answer{}, forbidden("Resource not accessible by integration")
	}

	return ok(c.userJSON(c.who.account))
}

func getUser(c *call) (answer, error) {
	a, known := c.known(c.params["login"])
	if !known {
		return answer{}, notFound()
	}
	return ok(c.userJSON(a))
}

// userJSON is the simple user with what a profile adds.
func (st *store) userJSON(a *account) object {
	o, _ := st.accountJSON(a).(object)
	for _, name := range []string{"name", "company", "location", "email", "hireable", "bio", "twitter_username"} {
		o[name] = nil
	}

	for _, name := range []string{"public_repos", "public_gists", "followers", "following"} {
		o[name] = 0
	}
	o["blog"], o["created_at"], o["updated_at"] = "", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"
	o["user_view_type"] = "public"

	return o
}

func getRateLimit(c *call) (answer, error) {
	limit := c.server.options.RateLimit
	resources := object{}
	for _, name := range []string{"core", "graphql", "search"} {
		resources[name] = c.who.token.budget(name, limit, c.moment).json(name)
	}
	return ok(object{"resources": resources, "rate": resources["core"]})
}

func getRepo(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}
	return ok(c.repoFor(c.who, r))
}

// collaborator is whose permission the request asks for, and in which repository: one's own, and
// everybody's with push access. Bots may ask with the metadata they always have.
func (c *call) collaborator() (r *repository, login string, err error) {
	r, err = c.repo()
	login = c.params["login"]
	switch {
	case err != nil:
		return nil, login, err
	case c.who.account == nil:
		return nil, login, &refusal{status: http.StatusUnauthorized, message: "Requires authentication"}
	case c.who.role(r) >= roleWrite, c.who.account.kind == "Bot", sameLogin(c.who.account.login, login):
		return r, login, nil
	}

	return nil, login, forbidden("Must have push access to view collaborator permission.")
}

func getPermission(c *call) (answer, error) {
	r, login, err := c.collaborator()
	if err != nil {
		return answer{}, err
	}

	a, known := c.known(login)
	if !known || a.kind == "Bot" { // an App is not a user
		return answer{}, &refusal{status: http.StatusNotFound, message: fmt.Sprintf("%s is not a user", login)}
	}

	have := a.grant(r)
	name := have.String()
	if have.role == roleNone {
		name = ""
	}

	user, _ := c.accountJSON(a).(object)
	user["name"], user["email"] = nil, nil
	user["permissions"], user["role_name"] = permissionsJSON(have.role), name
	return ok(object{"permission": have.role.permission(), "role_name": name, "user": user})
}

func checkCollaborator(c *call) (answer, error) {
	r, login, err := c.collaborator()
	if err != nil {
		return answer{}, err
	}
	if a, known := c.known(login); known && a.kind != "Bot" && a.collaborates(r) {
		return nothing()
	}

	return answer{}, notFound()
}
