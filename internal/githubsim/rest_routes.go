package githubsim

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultPage = 30
	maxPage     = 100
)

// A route is one line of the table of endpoints. Its path holds {names} of parameters; {name...}
// takes the rest.
type route struct {
	method   string
	path     []string
	serve    endpoint
	accepted string // permissions, as permissionSets has them
}

// restRoutes is the table of REST endpoints, literal segments before parameters. /R/ stands for a
// repository.
func restRoutes() []route {
	var routes []route
	accepted := acceptedBy()
	for _, table := range []map[string]endpoint{
		repoRoutes(), labelRoutes(), issueRoutes(), commentRoutes(), pullRoutes(), relationRoutes(), gitRoutes(),
		contentRoutes(), checkRoutes(),
	} {
		for pattern, serve := range table {
			method, path, _ := strings.Cut(pattern, " ")
			path = strings.Replace(path, "/R/", "/repos/{owner}/{repo}/", 1)
			routes = append(routes, route{method, strings.Split(path, "/"), serve, accepted[pattern]})
		}
	}

	slices.SortFunc(routes, func(a, b route) int { return -slices.Compare(a.path, b.path) })
	slices.SortStableFunc(routes, func(a, b route) int { return a.wild() - b.wild() })
	return routes
}

// wild is how many segments of the path are parameters.
func (r route) wild() int {
	count := 0
	for _, part := range r.path {
		if strings.HasPrefix(part, "{") {
			count++
		}
	}

	return count
}

// match returns the parameters if the route is for this request.
func (r route) match(method string, parts []string) (params map[string]string, ok bool) {
	if method != r.method && (method != http.MethodHead || r.method != http.MethodGet) {
		return nil, false
	}
	params = map[string]string{}
	for i, part := range r.path {
		name, isParam := strings.CutPrefix(part, "{")
		rest, takesAll := strings.CutSuffix(name, "...}")
		switch {
		case i >= len(parts), !isParam && part != parts[i]:
			return nil, false
		case takesAll:
			params[rest] = strings.Join(parts[i:], "/")
			return params, true
		case isParam:
			params[strings.TrimSuffix(name, "}")] = parts[i]
		}
	}

	return params, len(parts) == len(r.path)
}

// route finds the endpoint of a path; what has none is 404.
func (c *call) route(path string) endpoint {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if plain, err := url.PathUnescape(part); err == nil {
			parts[i] = plain
		}
	}

	for _, r := range c.server.routes {
		if params, ok := r.match(c.r.Method, parts); ok {
			c.params = params
			return func(c *call) (answer, error) {
				if err := c.permitted(r.accepted); err != nil {
					return answer{}, err
				}
				return r.serve(c)
			}
		}
	}

	return func(*call) (answer, error) { return answer{}, notFound() }
}

// repo is the repository in the request's path.
func (c *call) repo() (*repository, error) {
	r, err := c.repository(c.who, c.params["owner"], c.params["repo"])
	if err != nil {
		return nil, err
	}
	return r, nil
}

// target is the issue or pull request in the request's path, as the view has it.
func (c *call) target() (*thread, issue, error) { return c.numbered("an issue") }

// numbered is the thread of the request's path; what says, for a refusal, as what it was asked for.
func (c *call) numbered(what string) (*thread, issue, error) {
	r, err := c.repo()
	if err != nil {
		return nil, issue{}, err
	}

	number, err := strconv.Atoi(c.params["number"])
	if err != nil {
		return nil, issue{}, notFound()
	}

	t, now, err := c.thread(c.view, r, number, what)
	if err == nil && r.issuesOff && now.pull == nil {
		return nil, issue{}, gone("Issues has been disabled in this repository.")
	}

	return t, now, err
}

// tail is what a redirect keeps of the request: the rest of the path after what moved, and the
// query.
func (c *call) tail() string {
	path := apiPath(c.r.URL.EscapedPath())
	parts := strings.SplitN(path, "/", 7) // "", repos, owner, repo, issues, number, rest
	keep := ""
	switch {
	case len(parts) > 5 && parts[4] == "issues" && c.movedThread():
		keep = strings.Join(parts[6:], "/")
	case len(parts) > 4:
		keep = strings.Join(parts[4:], "/")
	}

	if keep != "" {
		keep = "/" + keep
	}

	if c.r.URL.RawQuery != "" {
		keep += "?" + c.r.URL.RawQuery
	}

	return keep
}

// movedThread reports whether the repository is where the request says, so that only the issue
// moved.
func (c *call) movedThread() bool {
	_, err := c.repo()
	return err == nil
}

// paged cuts the page out of the list that the request asks for, and sets the Link header.
func paged[T any](c *call, all []T) []T {
	query := c.r.URL.Query()
	size := positive(query.Get("per_page"), defaultPage)
	size = min(size, maxPage)
	page := positive(query.Get("page"), 1)
	last := max(1, (len(all)+size-1)/size)
	c.link(query, page, last)
	from := min((page-1)*size, len(all))

	return all[from:min(from+size, len(all))]
}

func positive(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return otherwise
	}
	return n
}

func (c *call) link(query url.Values, page, last int) {
	var links []string
	add := func(rel string, number int) {
		query.Set("page", strconv.Itoa(number))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.api, c.path, query.Encode(), rel))
	}

	if page > 1 {
		add("prev", min(page-1, last))
	}

	if page < last {
		add("next", page+1)
		add("last", last)
	}

	if page > 1 {
		add("first", 1)
	}

	if len(links) > 0 {
		if announced := c.header.Get("Link"); announced != "" {
			links = append(links, announced)
		}
		c.header.Set("Link", strings.Join(links, ", "))
	}
}

// since is the moment that the request asks to start from; zero if it does not.
func (c *call) since() time.Time {
	t, err := time.Parse(time.RFC3339, c.r.URL.Query().Get("since"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// rendered turns a page into JSON objects.
func rendered[T any](items []T, render func(T) object) []any {
	list := make([]any, 0, len(items))
	for _, item := range items {
		list = append(list, render(item))
	}
	return list
}
