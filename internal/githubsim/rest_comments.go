package githubsim

import (
	"slices"
	"strconv"
)

func commentRoutes() map[string]endpoint {
	return map[string]endpoint{
		"GET /R/issues/{number}/comments":        listComments,
		"POST /R/issues/{number}/comments":       postComment,
		"GET /R/issues/comments":                 listRepoComments,
		"GET /R/issues/comments/{id}":            getComment,
		"PATCH /R/issues/comments/{id}":          patchComment,
		"DELETE /R/issues/comments/{id}":         deleteComment,
		"GET /R/issues/comments/{id}/reactions":  listReactions,
		"POST /R/issues/comments/{id}/reactions": postReaction,
	}
}

// listComments answers in ascending id; there is no sort here.
func listComments(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}
	return ok(rendered(paged(c, c.recent(t.commentsIn(c.view))), c.commentJSON))
}

// recent keeps what was updated since the moment the request asks for.
func (c *call) recent(list []comment) []comment {
	since := c.since()
	return slices.DeleteFunc(list, func(m comment) bool { return m.updated.Before(since) })
}

func listRepoComments(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	var all []comment
	for _, t := range r.all() {
		all = append(all, t.commentsIn(c.view)...)
	}

	all = c.recent(all)
	query := c.r.URL.Query()
	slices.SortFunc(all, func(a, b comment) int {
		order := 0
		switch query.Get("sort") {
		case "updated":
			order = a.updated.Compare(b.updated)
		case "created":
			order = a.created.Compare(b.created)
		}

		if order == 0 {
			order = int(a.id - b.id)
		}

		if query.Get("sort") != "" && query.Get("direction") != "asc" {
			return -order
		}

		return order
	})

	return ok(rendered(paged(c, all), c.commentJSON))
}

// one is the comment in the request's path, as the view has it.
func (c *call) one() (comment, error) {
	r, err := c.repo()
	if err != nil {
		return comment{}, err
	}

	id, err := strconv.ParseInt(c.params["id"], 10, 64)
	if err != nil {
		return comment{}, notFound()
	}

	return c.comment(c.view, r, id)
}

func getComment(c *call) (answer, error) {
	m, err := c.one()
	if err != nil {
		return answer{}, err
	}
	return ok(c.commentJSON(m))
}

func (c *call) sentBody() (string, error) {
	var sent struct{ Body string }
	err := c.decode(&sent)
	return sent.Body, err
}

func postComment(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}

	body, err := c.sentBody()
	if err != nil {
		return answer{}, err
	}

	m, err := c.addComment(c.who, t, body)
	if err != nil {
		return answer{}, err
	}

	return created(c.commentJSON(m))
}

func patchComment(c *call) (answer, error) {
	m, err := c.one()
	if err != nil {
		return answer{}, err
	}

	body, err := c.sentBody()
	if err != nil {
		return answer{}, err
	}
	if m, err = c.editComment(c.who, m, body); err != nil {
		return answer{}, err
	}

	return ok(c.commentJSON(m))
}

func deleteComment(c *call) (answer, error) {
	m, err := c.one()
	if err != nil {
		return answer{}, err
	}
	if err := c.store.deleteComment(c.who, m); err != nil {
		return answer{}, err
	}

	return nothing()
}

func listReactions(c *call) (answer, error) {
	m, err := c.one()
	if err != nil {
		return answer{}, err
	}
	return ok(rendered(paged(c, m.reactions), c.reactionJSON))
}

func postReaction(c *call) (answer, error) {
	m, err := c.one()
	if err != nil {
		return answer{}, err
	}

	var sent struct{ Content string }
	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}

	r, made, err := c.react(c.who, m, sent.Content)
	if err != nil {
		return answer{}, err
	}
	if !made {
		return ok(c.reactionJSON(r))
	}

	return created(c.reactionJSON(r))
}
