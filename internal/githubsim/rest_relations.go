package githubsim

import "strconv"

func relationRoutes() map[string]endpoint {
	return map[string]endpoint{
		"GET /R/issues/{number}/dependencies/blocked_by":         listBlockers,
		"POST /R/issues/{number}/dependencies/blocked_by":        postBlocker,
		"DELETE /R/issues/{number}/dependencies/blocked_by/{id}": deleteBlocker,
		"GET /R/issues/{number}/dependencies/blocking":           listBlocking,
		"GET /R/issues/{number}/sub_issues":                      listChildren,
		"POST /R/issues/{number}/sub_issues":                     postChild,
		"GET /R/issues/{number}/parent":                          getParent,
	}
}

// related renders threads of any repository, with the repository in each.
func (c *call) related(threads []*thread) []any {
	return rendered(paged(c, threads), func(t *thread) object {
		now, _ := t.state.at(c.view)
		o := c.issueJSON(c.view, t, now)
		o["repository"] = c.repoJSON(t.repo)
		return o
	})
}

func listBlockers(c *call) (answer, error) {
	_, now, err := c.target()
	if err != nil {
		return answer{}, err
	}
	return ok(c.related(now.blockers))
}

func listBlocking(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}
	return ok(c.related(c.blocking(c.view, t)))
}

// byID is the issue with that database id, if the actor may read it.
func (c *call) byID(id int64) (*thread, error) {
	t := c.threads[id]
	if t == nil || t.deleted || c.who.role(t.repo) < roleRead {
		return nil, notFound()
	}
	return t, nil
}

func postBlocker(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		ID int64 `json:"issue_id"`
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	blocker, err := c.byID(sent.ID)
	if err != nil {
		return answer{}, err
	}
	if err := c.block(c.who, t, blocker); err != nil {
		return answer{}, err
	}

	return created(c.issueJSON(present(), t, t.state.now()))
}

func deleteBlocker(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}

	id, err := strconv.ParseInt(c.params["id"], 10, 64)
	if err != nil {
		return answer{}, notFound()
	}

	blocker, err := c.byID(id)
	if err != nil {
		return answer{}, err
	}
	if err := c.unblock(c.who, t, blocker); err != nil {
		return answer{}, err
	}

	return ok(c.issueJSON(present(), t, t.state.now()))
}

func listChildren(c *call) (answer, error) {
	_, now, err := c.target()
	if err != nil {
		return answer{}, err
	}
	return ok(c.related(now.children))
}

func postChild(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		ID int64 `json:"sub_issue_id"`
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	child, err := c.byID(sent.ID)
	if err != nil {
		return answer{}, err
	}
	if err := c.adopt(c.who, t, child); err != nil {
		return answer{}, err
	}

	return created(c.issueJSON(present(), t, t.state.now()))
}

func getParent(c *call) (answer, error) {
	_, now, err := c.target()
	if err != nil {
		return answer{}, err
	}
	if now.parent == nil {
		return answer{}, notFound()
	}

	above, _ := now.parent.state.at(c.view)
	return ok(c.issueJSON(c.view, now.parent, above))
}
