package githubsim

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// An object is one JSON object on its way out.
type object = map[string]any

// timestamp is a moment as GitHub writes it; null for the zero time.
func timestamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// nodeID is an opaque global id, as GraphQL wants it.
func nodeID(kind string, id int64) string {
	return kind + "_kw" + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", kind, id))
}

// parseNodeID takes a global id apart.
func parseNodeID(node string) (kind string, id int64, ok bool) {
	prefix, rest, found := strings.Cut(node, "_kw")
	raw, err := base64.RawURLEncoding.DecodeString(rest)
	if !found || err != nil {
		return "", 0, false
	}

	kind, number, _ := strings.Cut(string(raw), ":")
	if _, err := fmt.Sscanf(number, "%d", &id); err != nil || kind != prefix {
		return "", 0, false
	}

	return kind, id, true
}

func (a *account) nodeKind() string {
	return map[string]string{"User": "U", "Bot": "BOT", "Organization": "O"}[a.kind]
}

// accountJSON is GitHub's simple user; null for nobody.
func (st *store) accountJSON(a *account) any {
	if a == nil {
		return nil
	}
	api := st.api + "/users/" + url.PathEscape(a.login)
	page := st.web + "/" + a.login
	if a.kind == "Bot" {
		page = st.web + "/apps/" + a.plain()
	}

	return object{
		"login": a.login, "id": a.id, "node_id": nodeID(a.nodeKind(), a.id), "type": a.kind, "site_admin": false,
		"avatar_url": fmt.Sprintf("%s/avatars/u/%d", st.web, a.id), "gravatar_id": "",
		"url": api, "html_url": page, "followers_url": api + "/followers",
		"following_url": api + "/following{/other_user}", "gists_url": api + "/gists{/gist_id}",
		"starred_url": api + "/starred{/owner}{/repo}", "subscriptions_url": api + "/subscriptions",
		"organizations_url": api + "/orgs", "repos_url": api + "/repos", "events_url": api + "/events{/privacy}",
		"received_events_url": api + "/received_events",
	}
}

// appJSON is the GitHub App behind a bot; null for people.
func (st *store) appJSON(a *account) any {
	if a == nil || a.kind != "Bot" {
		return nil
	}

	return object{
		"id": a.id, "node_id": nodeID("A", a.id), "slug": a.plain(), "name": a.plain(), "description": nil,
		"owner": st.accountJSON(st.accounts["github"]), "external_url": st.web + "/apps/" + a.plain(),
		"html_url": st.web + "/apps/" + a.plain(), "created_at": "2020-01-01T00:00:00Z",
		"updated_at":  "2020-01-01T00:00:00Z",
		"permissions": object{"issues": "write", "metadata": "read"}, "events": []string{},
	}
}

func (st *store) repoURL(r *repository) string { return st.api + "/repos/" + r.fullName() }

func (st *store) repoPage(r *repository) string { return st.web + "/" + r.fullName() }

func (st *store) labelJSON(r *repository, l label) object {
	var description any
	if l.description != nil {
		description = *l.description
	}

	return object{
		"id": l.id, "node_id": nodeID("LA", l.id), "name": l.name, "color": l.color, "default": false,
		"description": description, "url": st.repoURL(r) + "/labels/" + url.PathEscape(l.name),
	}
}

func (st *store) labelsJSON(r *repository, labels []label) []any {
	list := make([]any, 0, len(labels))
	for _, l := range labels {
		list = append(list, st.labelJSON(r, l))
	}
	return list
}

// issueKind is the path segment and the node kind of a thread.
func issueKind(now issue) (segment, kind string) {
	if now.pull != nil {
		return "pull", "PR"
	}
	return "issues", "I"
}

func (st *store) threadPage(t *thread, now issue) string {
	segment, _ := issueKind(now)
	return fmt.Sprintf("%s/%s/%d", st.repoPage(t.repo), segment, t.number)
}

func stateName(now issue) string {
	if now.open {
		return "open"
	}
	return "closed"
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// issueJSON renders a thread as the issues API does, pull requests too.
func (st *store) issueJSON(v view, t *thread, now issue) object {
	api := fmt.Sprintf("%s/issues/%d", st.repoURL(t.repo), t.number)
	_, kind := issueKind(now)
	blocking := st.blocking(v, t)
	o := object{
		"id": now.id, "node_id": nodeID(kind, now.id), "number": t.number, "title": now.title, "body": orNull(now.body),
		"state": stateName(now), "state_reason": orNull(now.reason), "locked": now.locked, "active_lock_reason": nil,
		"user": st.accountJSON(now.author), "author_association": now.author.association(t.repo),
		"labels": st.labelsJSON(t.repo, t.repo.labelsOf(v, now)), "milestone": nil,
		"comments": len(t.everyComment(v)), "created_at": timestamp(now.created), "updated_at": timestamp(now.updated),
		"closed_at": timestamp(now.closed), "closed_by": st.accountJSON(now.closedBy),
		"performed_via_github_app": st.appJSON(now.author), "url": api, "repository_url": st.repoURL(t.repo),
		"labels_url": api + "/labels{/name}", "comments_url": api + "/comments", "events_url": api + "/events",
		"timeline_url": api + "/timeline", "html_url": st.threadPage(t, now), "reactions": rollup(api, nil),
		"sub_issues_summary": childrenJSON(v, now),
		"issue_dependencies_summary": object{
			"blocked_by": openOf(v, now.blockers), "total_blocked_by": len(now.blockers),
			"blocking": openOf(v, blocking), "total_blocking": len(blocking),
		},
	}
	o["assignee"], o["assignees"] = st.assigneesJSON(now)
	if now.pull != nil {
		o["draft"] = now.pull.draft
		o["pull_request"] = st.pullLinks(t, now)
	}

	return o
}

// assigneesJSON is the first assignee, null without one, and all of them.
func (st *store) assigneesJSON(now issue) (first any, all []any) {
	all = []any{}
	for _, a := range now.assignees {
		all = append(all, st.accountJSON(a))
	}

	if len(all) > 0 {
		first = all[0]
	}

	return first, all
}

func childrenJSON(v view, now issue) object {
	total := len(now.children)
	done := total - openOf(v, now.children)
	return object{"total": total, "completed": done, "percent_completed": 100 * done / max(1, total)}
}

func (st *store) pullLinks(t *thread, now issue) object {
	page := st.threadPage(t, now)
	return object{
		"url": fmt.Sprintf("%s/pulls/%d", st.repoURL(t.repo), t.number), "html_url": page,
		"diff_url": page + ".diff", "patch_url": page + ".patch", "merged_at": timestamp(now.pull.merged),
	}
}

// rollup counts reactions by content.
func rollup(api string, reactions []reaction) object {
	o := object{"url": api + "/reactions", "total_count": len(reactions)}
	for _, name := range reactionNames() {
		count := 0
		for _, r := range reactions {
			if r.content == name {
				count++
			}
		}

		o[name] = count
	}

	return o
}

func (st *store) commentPage(c comment) string {
	return fmt.Sprintf("%s#issuecomment-%d", st.threadPage(c.thread, c.thread.state.now()), c.id)
}

func (st *store) commentJSON(c comment) object {
	r := c.thread.repo
	api := fmt.Sprintf("%s/issues/comments/%d", st.repoURL(r), c.id)
	return object{
		"id": c.id, "node_id": nodeID("IC", c.id), "url": api, "body": c.body, "user": st.accountJSON(c.author),
		"html_url":   st.commentPage(c),
		"issue_url":  fmt.Sprintf("%s/issues/%d", st.repoURL(r), c.thread.number),
		"created_at": timestamp(c.created), "updated_at": timestamp(c.updated),
		"author_association":       c.author.association(r),
		"performed_via_github_app": st.appJSON(c.author), "reactions": rollup(api, c.reactions),
		"minimized": minimizedJSON(c),
	}
}

// minimizedJSON says why a comment was minimized; null if it is not.
func minimizedJSON(c comment) any {
	if c.hidden == "" {
		return nil
	}
	return object{"reason": c.hidden}
}

func (st *store) reactionJSON(r reaction) object {
	return object{
		"id": r.id, "node_id": nodeID("REA", r.id), "user": st.accountJSON(r.author), "content": r.content,
		"created_at": timestamp(r.created),
	}
}

// eventJSON renders one line of the timeline as the events API does.
func (st *store) eventJSON(t *thread, e event) object {
	o := object{
		"id": e.id, "node_id": nodeID("EV", e.id), "url": fmt.Sprintf("%s/issues/events/%d", st.repoURL(t.repo), e.id),
		"actor": st.accountJSON(e.actor), "event": e.kind, "commit_id": nil, "commit_url": nil,
		"created_at": timestamp(e.created), "performed_via_github_app": st.appJSON(e.actor),
	}

	switch e.kind {
	case "labeled", "unlabeled":
		o["label"] = object{"name": e.label.name, "color": e.label.color}
	case "assigned", "unassigned":
		o["assignee"], o["assigner"] = st.accountJSON(e.assignee), st.accountJSON(e.actor)
	case "closed":
		o["state_reason"] = orNull(e.reason)
	case "renamed":
		o["rename"] = object{"from": e.from, "to": e.to}
	}

	return o
}
