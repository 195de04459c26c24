package githubsim

import (
	"context"
	"fmt"
	"strings"
)

// repoLinks are the address templates that every repository object carries.
func repoLinks() []string {
	return []string{
		"archive_url {archive_format}{/ref}", "assignees_url /assignees{/user}", "blobs_url /git/blobs{/sha}",
		"branches_url /branches{/branch}", "collaborators_url /collaborators{/collaborator}",
		"comments_url /comments{/number}",
		"commits_url /commits{/sha}", "compare_url /compare/{base}...{head}", "contents_url /contents/{+path}",
		"contributors_url /contributors", "deployments_url /deployments", "downloads_url /downloads",
		"events_url /events",
		"forks_url /forks", "git_commits_url /git/commits{/sha}", "git_refs_url /git/refs{/sha}",
		"git_tags_url /git/tags{/sha}",
		"hooks_url /hooks", "issue_comment_url /issues/comments{/number}", "issue_events_url /issues/events{/number}",
		"issues_url /issues{/number}", "keys_url /keys{/key_id}", "labels_url /labels{/name}",
		"languages_url /languages",
		"merges_url /merges", "milestones_url /milestones{/number}",
		"notifications_url /notifications{?since,all,participating}", "pulls_url /pulls{/number}",
		"releases_url /releases{/id}",
		"stargazers_url /stargazers", "statuses_url /statuses/{sha}", "subscribers_url /subscribers",
		"subscription_url /subscription", "tags_url /tags", "teams_url /teams", "trees_url /git/trees{/sha}",
	}
}

// repoJSON is GitHub's full repository.
func (st *store) repoJSON(r *repository) object {
	api, page := st.repoURL(r), st.repoPage(r)
	open := openOf(present(), r.all())
	o := object{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(),
		"owner":   st.accountJSON(r.owner),
		"private": r.private, "visibility": r.visibility(), "description": nil, "fork": r.parent != nil, "url": api,
		"html_url": page, "clone_url": page + ".git", "git_url": strings.Replace(page, "http", "git", 1) + ".git",
		"ssh_url": fmt.Sprintf("git@github.com:%s.git", r.fullName()), "svn_url": page, "mirror_url": nil,
		"homepage": nil,
		"language": nil, "license": nil, "default_branch": r.base, "archived": r.archived, "disabled": false,
		"has_issues": !r.issuesOff, "has_projects": false, "has_wiki": false, "has_pages": false,
		"has_discussions": false,
		"has_downloads":   false, "forks": 0, "forks_count": 0, "stargazers_count": 0, "watchers": 0,
		"watchers_count": 0,
		"size":           1, "open_issues": open, "open_issues_count": open, "topics": []any{},
		"is_template": false, "allow_forking": true, "web_commit_signoff_required": false,
		"allow_merge_commit": r.merge.Commit, "allow_rebase_merge": r.merge.Rebase,
		"allow_squash_merge": r.merge.Squash, "delete_branch_on_merge": false,
		"pushed_at": timestamp(r.created), "created_at": timestamp(r.created), "updated_at": timestamp(r.created),
	}

	for _, link := range repoLinks() {
		name, path, _ := strings.Cut(link, " ")
		if strings.HasPrefix(path, "{") {
			path = "/" + path
		}
		o[name] = api + path
	}

	return o
}

// repoFor adds what depends on who asks, and the parent of a fork.
func (st *store) repoFor(who actor, r *repository) object {
	o := st.repoJSON(r)
	o["network_count"], o["subscribers_count"], o["custom_properties"] = 0, 0, object{}
	if r.parent != nil {
		o["parent"], o["source"] = st.repoJSON(r.parent), st.repoJSON(r.parent)
	}

	if who.account != nil {
		o["permissions"] = permissionsJSON(who.role(r))
	}

	return o
}

func permissionsJSON(have role) object {
	return object{
		"admin": have >= roleAdmin, "maintain": have >= roleMaintain, "push": have >= roleWrite,
		"triage": have >= roleTriage, "pull": have >= roleRead,
	}
}

func (r *repository) visibility() string {
	if r.private {
		return "private"
	}
	return "public"
}

func (r *repository) all() []*thread {
	var all []*thread
	for _, n := range r.numbers() {
		all = append(all, r.threads[n])
	}
	return all
}

// pullJSON renders a pull request as lists of the pulls API do.
func (st *store) pullJSON(ctx context.Context, v view, t *thread, now issue) (object, error) {
	head, err := now.pull.headCommit(ctx)
	if err != nil {
		return nil, err
	}
	return st.pullAt(v, t, now, head), nil
}

// pullAt renders a pull request whose newest commit is known.
func (st *store) pullAt(v view, t *thread, now issue, head string) object {
	api := fmt.Sprintf("%s/pulls/%d", st.repoURL(t.repo), t.number)
	asIssue := fmt.Sprintf("%s/issues/%d", st.repoURL(t.repo), t.number)
	page := st.threadPage(t, now)
	p := now.pull
	first, assignees := st.assigneesJSON(now)

	return object{
		"assignee": first, "assignees": assignees,
		"id": p.id, "node_id": nodeID("PR", now.id), "number": t.number, "state": stateName(now), "locked": now.locked,
		"title": now.title, "body": orNull(now.body), "user": st.accountJSON(now.author), "draft": p.draft,
		"labels": st.labelsJSON(t.repo, t.repo.labelsOf(v, now)), "milestone": nil,
		"requested_reviewers": []any{}, "requested_teams": []any{}, "auto_merge": nil, "active_lock_reason": nil,
		"author_association": now.author.association(t.repo), "created_at": timestamp(now.created),
		"updated_at": timestamp(now.updated), "closed_at": timestamp(now.closed), "merged_at": timestamp(p.merged),
		"merge_commit_sha": orNull(p.mergeSHA), "url": api, "html_url": page, "diff_url": page + ".diff",
		"patch_url": page + ".patch", "issue_url": asIssue, "commits_url": api + "/commits",
		"review_comments_url": api + "/comments", "review_comment_url": st.repoURL(t.repo) + "/pulls/comments{/number}",
		"comments_url": asIssue + "/comments", "statuses_url": st.repoURL(t.repo) + "/statuses/" + head,
		"head": st.branchJSON(p.headRepo, p.head, head), "base": st.branchJSON(t.repo, p.base, p.baseSHA),
		"_links": pullLinks(api, asIssue, page, st.repoURL(t.repo), head),
	}
}

// pullDetails adds what only a single pull request shows.
func (st *store) pullDetails(v view, t *thread, now issue, o object) object {
	o["merged"], o["merged_by"] = !now.pull.merged.IsZero(), st.accountJSON(now.pull.mergedBy)
	o["mergeable"], o["mergeable_state"], o["rebaseable"] = nil, "unknown", nil
	if now.open {
		o["mergeable"], o["mergeable_state"] = true, "clean"
	}

	o["comments"], o["review_comments"], o["commits"] = len(t.everyComment(v)), 0, 1
	o["additions"], o["deletions"], o["changed_files"], o["maintainer_can_modify"] = 0, 0, 0, false
	return o
}

func (st *store) branchJSON(r *repository, branch, sha string) object {
	return object{
		"label": r.owner.login + ":" + branch, "ref": branch, "sha": sha, "user": st.accountJSON(r.owner),
		"repo": st.repoJSON(r),
	}
}

func pullLinks(api, asIssue, page, repo, head string) object {
	link := func(href string) object { return object{"href": href} }
	return object{
		"self": link(api), "html": link(page), "issue": link(asIssue), "comments": link(asIssue + "/comments"),
		"review_comments": link(api + "/comments"), "review_comment": link(repo + "/pulls/comments{/number}"),
		"commits": link(api + "/commits"), "statuses": link(repo + "/statuses/" + head),
	}
}
