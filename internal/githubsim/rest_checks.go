package githubsim

import (
	"context"
	"encoding/hex"
	"fmt"
)

func checkRoutes() map[string]endpoint {
	return map[string]endpoint{
		"GET /R/commits/{ref}":            getOneCommit,
		"GET /R/commits/{ref}/check-runs": listCheckRuns,
		"GET /R/commits/{ref}/status":     getCombinedStatus,
		"POST /R/statuses/{sha}":          postStatus,
	}
}

// onHead runs one transaction on the newest commit of a pull request.
func (s *Server) onHead(repo string, number int, login string,
	do func(*store, actor, *repository, string) error,
) error {
	return s.on(repo, number, login, func(st *store, who actor, t *thread) error {
		now := t.state.now()
		if now.pull == nil {
			return notFound()
		}

		head, err := now.pull.headCommit(context.Background())
		if err != nil {
			return err
		}

		return do(st, who, t.repo, head)
	})
}

// commitIn resolves what the path calls a commit: its id or the beginning of that, a branch or a
// tag. Without git any id will do.
func (c *call) commitIn(r *repository, name string) (string, error) {
	if raw, err := hex.DecodeString(name); err == nil && len(raw) == 20 {
		return name, c.hasCommit(r, name)
	}
	if r.git == nil {
		return fakeSHA(r.fullName(), name), nil
	}

	for _, full := range []string{"refs/heads/" + name, "refs/tags/" + name, name} {
		oid, err := r.git.Commit(c.r.Context(), full)
		if err == nil || absentObject(err) == err {
			return oid, err
		}
	}

	return "", unprocessable("No commit found for SHA: " + name)
}

func getOneCommit(c *call) (answer, error) {
	r, err := c.gitFor()
	if err != nil {
		return answer{}, err
	}

	oid, err := c.commitIn(r, c.params["ref"])
	if err != nil {
		return answer{}, err
	}

	commit, err := r.git.ReadCommit(c.r.Context(), oid)
	if err != nil {
		return answer{}, absentObject(err)
	}

	return ok(c.commitOf(r)(commit))
}

func (c *call) hasCommit(r *repository, oid string) error {
	if r.git == nil {
		return nil
	}
	_, err := r.git.ReadCommit(c.r.Context(), oid)
	if err != nil && absentObject(err) != err {
		return unprocessable("No commit found for SHA: " + oid)
	}

	return err
}

// commit is the path's repository with the id of the commit that the parameter names.
func (c *call) commit(parameter string) (*repository, string, error) {
	r, err := c.repo()
	if err != nil {
		return nil, "", err
	}
	oid, err := c.commitIn(r, c.params[parameter])
	return r, oid, err
}

func listCheckRuns(c *call) (answer, error) {
	r, sha, err := c.commit("ref")
	if err != nil {
		return answer{}, err
	}

	v := r.verdictOn(sha)
	runs := v.latest()
	if c.r.URL.Query().Get("filter") == "all" {
		runs = v.runs
	}

	list := rendered(paged(c, runs), func(run checkRun) object { return c.checkRunJSON(r, sha, run) })
	return ok(object{"total_count": len(runs), "check_runs": list})
}

func (st *store) checkRunJSON(r *repository, sha string, run checkRun) object {
	api := fmt.Sprintf("%s/check-runs/%d", st.repoURL(r), run.id)
	page := fmt.Sprintf("%s/runs/%d", st.repoPage(r), run.id)
	return object{
		"id": run.id, "node_id": nodeID("CR", run.id), "head_sha": sha, "external_id": "", "url": api, "html_url": page,
		"details_url": page, "name": run.name, "status": run.status, "conclusion": orNull(run.conclusion),
		"started_at": timestamp(run.started), "completed_at": timestamp(run.completed),
		"check_suite": object{"id": run.id},
		"app":         nil, "pull_requests": []any{},
		"output": object{"title": nil, "summary": nil, "text": nil, "annotations_count": 0, "annotations_url": api +
			"/annotations"},
	}
}

func getCombinedStatus(c *call) (answer, error) {
	r, sha, err := c.commit("ref")
	if err != nil {
		return answer{}, err
	}

	all, within := r.verdictOn(sha).current(), c.repoJSON(r)
	for _, setting := range []string{"allow_merge_commit", "allow_rebase_merge", "allow_squash_merge"} {
		delete(within, setting) // this endpoint shows less of a repository
	}

	return ok(object{
		"state": combined(all), "sha": sha, "total_count": len(all), "repository": within,
		"statuses":   rendered(paged(c, all), func(s commitStatus) object { return c.statusJSON(r, sha, s) }),
		"commit_url": c.repoURL(r) + "/commits/" + sha, "url": c.repoURL(r) + "/commits/" + sha + "/status",
	})
}

func postStatus(c *call) (answer, error) {
	r, sha, err := c.commit("sha")
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		State, Context, Description string
		Target                      string `json:"target_url"`
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	s, err := c.setStatus(c.who, r, sha, commitStatus{
		state:       sent.State,
		context:     sent.Context,
		description: sent.Description,
		target:      sent.Target,
	})
	if err != nil {
		return answer{}, err
	}
	o := c.statusJSON(r, sha, s)
	o["creator"] = c.accountJSON(s.creator)

	return created(o)
}

func (st *store) statusJSON(r *repository, sha string, s commitStatus) object {
	return object{
		"id": s.id, "node_id": nodeID("SC", s.id), "url": st.repoURL(r) + "/statuses/" + sha, "state": s.state,
		"context":     s.context,
		"description": orNull(s.description), "target_url": orNull(s.target), "created_at": timestamp(s.created),
		"updated_at": timestamp(s.created), "avatar_url": st.web + "/avatars/" + s.creator.login,
	}
}
