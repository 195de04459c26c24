package githubsim

import (
	"slices"
)

func pullRoutes() map[string]endpoint {
	return map[string]endpoint{
		"GET /R/pulls":                  listPulls,
		"POST /R/pulls":                 postPull,
		"GET /R/pulls/{number}":         getPull,
		"PATCH /R/pulls/{number}":       patchPull,
		"GET /R/pulls/{number}/merge":   checkMerged,
		"PUT /R/pulls/{number}/merge":   putMerge,
		"GET /R/pulls/{number}/commits": listPullCommits,
	}
}

func listPulls(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	list := slices.DeleteFunc(r.seenIn(c.view), func(s seen) bool { return !c.wantsPull(s) })
	c.sort(list)
	out := []any{}
	for _, s := range paged(c, list) {
		o, err := c.pullJSON(c.r.Context(), c.view, s.thread, s.now)
		if err != nil {
			return answer{}, err
		}
		out = append(out, o)
	}

	return ok(out)
}

// wantsPull applies the filters of a list of pull requests; head is owner:branch.
func (c *call) wantsPull(s seen) bool {
	if s.now.pull == nil || !c.wants(s) {
		return false
	}
	query := c.r.URL.Query()
	if base := query.Get("base"); base != "" && base != s.now.pull.base {
		return false
	}

	head := query.Get("head")
	return head == "" || head == s.now.pull.headRepo.owner.login+":"+s.now.pull.head
}

// pull is the pull request in the request's path.
func (c *call) pull() (*thread, issue, error) {
	t, now, err := c.numbered("a PullRequest")
	if err == nil && now.pull == nil {
		err = notFound()
	}
	return t, now, err
}

func getPull(c *call) (answer, error) {
	t, now, err := c.pull()
	if err != nil {
		return answer{}, err
	}

	o, err := c.pullJSON(c.r.Context(), c.view, t, now)
	if err != nil {
		return answer{}, err
	}

	return ok(c.pullDetails(c.view, t, now, o))
}

// fresh is the pull request after a change.
func (c *call) fresh(t *thread) (object, error) {
	now := t.state.now()
	o, err := c.pullJSON(c.r.Context(), present(), t, now)
	if err != nil {
		return nil, err
	}
	return c.pullDetails(present(), t, now, o), nil
}

func postPull(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		Title, Body, Head, Base string
		Draft                   bool
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	t, err := c.createPull(c.r.Context(), c.who, r, proposal{
		title: sent.Title,
		body:  sent.Body,
		head:  sent.Head,
		base:  sent.Base,
		draft: sent.Draft,
	})
	if err != nil {
		return answer{}, err
	}
	o, err := c.fresh(t)
	if err != nil {
		return answer{}, err
	}

	return created(o)
}

func patchPull(c *call) (answer, error) {
	t, _, err := c.pull()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		issueEdit
		Base *string
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	if err := c.mayEdit(c.who, t); err != nil {
		return answer{}, err
	}

	if sent.Base != nil {
		if err := c.setBase(c.who, t, *sent.Base); err != nil {
			return answer{}, err
		}
	}

	sent.Labels = nil // this endpoint has none
	if err := c.editIssue(t, sent.issueEdit); err != nil {
		return answer{}, err
	}

	o, err := c.fresh(t)
	if err != nil {
		return answer{}, err
	}

	return ok(o)
}

func checkMerged(c *call) (answer, error) {
	_, now, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	if now.pull.merged.IsZero() {
		return answer{}, notFound()
	}

	return nothing()
}

func putMerge(c *call) (answer, error) {
	t, _, err := c.pull()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		SHA     string
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	message := sent.Title
	if message != "" && sent.Message != "" {
		message += "\n\n" + sent.Message
	}

	oid, err := c.merge(c.r.Context(), c.who, t, message, sent.SHA)
	if err != nil {
		return answer{}, err
	}

	return ok(object{"sha": oid, "merged": true, "message": "Pull Request successfully merged"})
}

// listPullCommits needs git; without it a pull request has none.
func listPullCommits(c *call) (answer, error) {
	t, now, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	if t.repo.git == nil || now.pull.headRepo != t.repo {
		return ok([]any{})
	}

	head, err := now.pull.headCommit(c.r.Context())
	if err != nil {
		return answer{}, err
	}

	commits, err := t.repo.git.Between(c.r.Context(), now.pull.baseSHA, head)
	if err != nil {
		return answer{}, absentObject(err)
	}

	return ok(rendered(paged(c, commits), c.commitOf(t.repo)))
}
