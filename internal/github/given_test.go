package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/protocol"
)

// given are answers in the order in which they are given.
type given []func() *http.Response

// TestGivenAnswers compares with testdata/given.golden what calls come to with answers that the simulator never gives:
// of other servers, with parts that are missing, or of what is rare. The last answer is given again and again.
func TestGivenAnswers(t *testing.T) {
	app, one := repoOf("app"), issue("app", 1)
	since := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	const next = `Link: <https://api.github.com/x?page=9>; rel="next"`
	const whole = `"number":1,"state":"OPEN","createdAt":"2026-05-01T00:00:00Z"`
	const pull = `"number":1,"state":"OPEN","repository":{"nameWithOwner":"acme/app"},"comments":{}`
	const further = `"pageInfo":{"hasNextPage":true,"endCursor":"c"}`
	const noUpdate = `{"errors":[{"message":"Field 'x' doesn't exist on type 'Y'"}]}`
	of := func(status int, body string, headers ...string) func() *http.Response {
		return func() *http.Response { return reply(status, body, headers...) }
	}
	repo := func(fields string) func() *http.Response { return of(200, `{"data":{"repository":{`+fields+`}}}`) }
	scanned := func(fields string) func() *http.Response {
		lists := ""
		for n := range 12 {
			lists += fmt.Sprintf(`,"s%d":{"nodes":[]}`, n)
		}
		return of(200, `{"data":{"viewer":{"login":"bot"},"r0":{"viewerPermission":"ADMIN"`+lists+
			`,"changed":{"nodes":[]}`+
			fields+`}}}`)
	}
	remark := func(number, created string) string {
		return `{"id":5,"body":"x","issue_url":"https://api.github.com/repos/acme/app/issues/` + number +
			`","created_at":"` + created + `","updated_at":"2026-05-02T00:00:00Z","author_association":"MEMBER",
			"reactions":{"confused":1},"user":{"login":"ann","type":"User"}}`
	}
	commit := func(ctx context.Context, c *Client) (any, error) { return c.CreateCommit(ctx, one, "p", "m") }
	remarks := func(ctx context.Context, c *Client) (any, error) {
		out, whole, err := c.Remarks(ctx, app, since, 1)
		return []any{out, whole}, err
	}
	missing := func(ctx context.Context, c *Client) (any, error) {
		return c.Unopenable(ctx, "acme/app", "a", "b")
	}
	read := func(ctx context.Context, c *Client) (any, error) { return c.Issue(ctx, one) }
	merge := func(ctx context.Context, c *Client) (any, error) {
		_, m, err := c.PullToMerge(ctx, app, 1, FileAt{})
		return m, err
	}
	heads := func(ctx context.Context, c *Client) (any, error) {
		return c.HoldersOfHeads(ctx, app, app, []string{"fix"})
	}
	large := func(ctx context.Context, c *Client) (any, error) {
		return c.Do(ctx, http.MethodGet, "x", nil, nil)
	}
	sweepable := func(ctx context.Context, c *Client) (any, error) { return c.Sweepable(ctx, app) }
	swap := func(ctx context.Context, c *Client) (any, error) { return nil, c.CanSwapRefs(ctx) }
	open := func(ctx context.Context, c *Client) (any, error) {
		return c.OpenPull(ctx, "acme/app", prchain.Proposal{Title: "t", Body: "b", Branch: "fix", Base: "main"})
	}
	scan := func(ctx context.Context, c *Client) (any, error) {
		var out []int
		var last error
		for f, err := range c.Scan(ctx, app, since) {
			out, last = append(out, f.Issue.Number), errors.Join(last, err)
		}
		return out, last
	}

	shown := func(fields string) func() *http.Response {
		return of(200, `{"data":{"viewer":{"login":"bot"},"r0":{"viewerPermission":"ADMIN","i0":{
			"__typename":"Issue",`+whole+`,"url":"https://github.com/acme/app/issues/1","labels":{},"assignees":{},
			"closing":{},"comments":{}`+fields+`}}}}`)
	}
	records := func(said ...string) (fields string) { // author, text and more of each
		for n := 0; n < len(said); n += 3 {
			fields += fmt.Sprintf(`{"id":"C","fullDatabaseId":"%d","createdAt":"2026-05-01T00:0%d:00Z","url":"u",
				"body":%q,"author":{"login":%q}%s},`, n/3+5, n/3, said[n+1], said[n], said[n+2])
		}
		return fmt.Sprintf(`,"comments":{"totalCount":%d,"nodes":[%s]}`, len(said)/3, strings.TrimSuffix(fields, ","))
	}
	const claimed = "<!-- agent-claim:codename=c firing_id=f nonce=n ttl=1800 state=held -->"
	record := func(more string) string { return records("ann", claimed, more) }
	const edited = `,"lastEditedAt":"2026-05-01T01:00:00Z"`
	const wrote = `{"permission":"write"}`
	known := func(ctx context.Context, c *Client) (any, error) {
		f, err := c.Facts(ctx, one)
		var holders []string
		for _, live := range f.Log.Live() {
			holders = append(holders, live.Record.Worker.Codename)
		}
		return []any{f.Issue.Number, f.Assignees, f.Blockers, f.PRs, f.Unshown, holders, f.Log.Ignored}, err
	}
	twice := func(ctx context.Context, c *Client) (any, error) {
		_, first := known(ctx, c)
		got, err := known(ctx, c)
		return got, errors.Join(first, err)
	}
	listed := func(ctx context.Context, c *Client) (any, error) { return c.Labels(ctx, app) }
	times := func(ctx context.Context, c *Client) (any, error) {
		f, err := c.Facts(ctx, one)
		return []time.Time{f.BlockedAt, f.ClaimedAt, f.ReopenedAt}, err
	}
	const moved = `,"labeled":{"nodes":[{"createdAt":"2026-05-01T01:00:00Z","label":{"name":"agent:blocked"}},
		{"createdAt":"2026-05-01T02:00:00Z","label":{"name":"agent:in-flight"}}]},
		"reopened":{"nodes":[{"createdAt":"2026-05-01T03:00:00Z"}]}`
	unknown := func(o *Options) { o.Token = Secret{} }

	var out strings.Builder
	for _, call := range []struct {
		name    string
		do      func(ctx context.Context, c *Client) (any, error)
		answers given
		options func(*Options)
	}{
		{"one branch is missing", missing, given{
			repo(`"main":{"target":{"oid":"1"}},"head":{"target":{"oid":"1"}},"base":null`),
		}, nil},
		{"a branch has no commits", missing, given{
			repo(`"main":{"target":{"oid":"1"}},"head":{"target":{"oid":"1"}},"base":{"target":{"oid":"2"},
				"compare":{"status":"BEHIND"}}`),
		}, nil},
		{"no branch is missing", missing, given{
			repo(`"main":{"target":{"oid":"1"}},"head":{"target":{"oid":"1"}},"base":{"target":{"oid":"1"},"compare":null}`),
		}, nil},
		{"not even the default branch is shown", missing, given{repo(`"main":null,"head":null,"base":null`)}, nil},
		{"a branch could not be read", missing, given{
			of(200, `{"data":{"repository":{"main":{"target":{"oid":"1"}},"head":null,"base":null}},
				"errors":[{"message":"x","type":"FORBIDDEN","path":["repository","head"]}]}`),
		}, nil},
		{"GitHub compares nothing with a branch that is not there", missing, given{
			of(200, `{"data":{"repository":{"main":{"target":{"oid":"1"}},"head":null,"base":{"target":{"oid":"2"},"compare":null}}},
				"errors":[{"message":"x","type":"NOT_FOUND","path":["repository","base","compare"]}]}`),
		}, nil},
		{"GitHub cannot compare branches now", missing, given{
			of(200, `{"data":{"repository":{"main":{"target":{"oid":"1"}},"head":{"target":{"oid":"1"}},"base":null}},
				"errors":[{"message":"x","path":["repository","base","compare"]}]}`),
		}, nil},
		{"references", func(ctx context.Context, c *Client) (any, error) {
			return c.RefNames(ctx, one, "refs/x/")
		}, given{of(200, `[{"ref":"refs/x/1"},{"ref":"refs/x/2"}]`)}, nil},
		{"references of no name", func(ctx context.Context, c *Client) (any, error) {
			return c.RefNames(ctx, one, "refs/../x/")
		}, given{of(200, `[]`)}, nil},
		{"a commit", commit, given{of(201, `{"sha":"a","committer":{"date":"2026-05-01T00:00:00Z"}}`)}, nil},
		{"a commit without its date", commit, given{of(201, `{"sha":"a"}`)}, nil},
		{"a commit without its name", commit, given{of(201, `{"committer":{"date":"2026-05-01T00:00:00Z"}}`)}, nil},
		{"a commit on a tree", commit, given{
			of(422, `{}`), of(201, `{"sha":"t"}`), of(201, `{"sha":"a","committer":{"date":"2026-05-01T00:00:00Z"}}`),
		}, nil},
		{"a commit on a tree, because another fails", commit, given{
			of(500, `{}`), of(201, `{"sha":"t"}`), of(201, `{"sha":"a","committer":{"date":"2026-05-01T00:00:00Z"}}`),
		}, nil},
		{"a commit that is refused otherwise", commit, given{of(409, `{"message":"empty"}`)}, nil},
		{"a commit on no tree", commit, given{of(422, `{}`), of(201, `{}`)}, nil},
		{"a commit that is hidden", commit, given{of(404, `{"message":"Not Found"}`)}, nil},
		{"a commit that is refused", commit, given{
			of(403, `{"message":"Resource not accessible by integration"}`),
		}, nil},
		{"a commit in an archive", commit, given{
			of(403, `{"message":"Repository was archived so is read-only."}`),
		}, nil},
		{"no swap", swap, given{of(200, `{"data":{"input":null}}`)}, nil},
		{"no swap in the schema", swap, given{of(200, noUpdate)}, nil},
		{"no default branch", func(ctx context.Context, c *Client) (any, error) {
			return c.DefaultBranch(ctx, "acme/app")
		}, given{of(200, `{"full_name":"acme/app"}`)}, nil},
		{"archived", sweepable, given{of(200, `{"full_name":"acme/app","archived":true,"has_issues":true}`)}, nil},
		{"without issues", sweepable, given{of(200, `{"full_name":"acme/app"}`)}, nil},
		{"remarks", remarks, given{
			of(200, `[`+remark("7", "2026-05-01T10:00:00Z")+`,`+remark("8", "2026-04-30T10:00:00Z")+`]`),
		}, nil},
		{"remarks, and more", remarks, given{of(200, `[`+remark("7", "2026-05-01T10:00:00Z")+`]`, next)}, nil},
		{"remarks of nothing", remarks, given{of(200, `[`+remark("x", "2026-05-01T10:00:00Z")+`]`)}, nil},
		{"an issue", read, given{repo(`"issue":{"__typename":"Issue",` + whole + `,"title":"t","url":"u","body":"b",
			"updatedAt":"2026-05-02T00:00:00Z","author":{"login":"ann"},"milestone":{"title":"v1"},
			"labels":{"nodes":[{"name":"l"}]},"assignees":{"nodes":[{"login":"bo"}]}}`)}, nil},
		{"an issue with labels that are not shown", read, given{
			repo(`"issue":{` + whole + `,"labels":{"totalCount":1},"assignees":{}}`),
		}, nil},
		{"an issue with assignees that are not shown", read, given{
			repo(`"issue":{` + whole + `,"labels":{},"assignees":{"totalCount":1}}`),
		}, nil},
		{"an issue without its date", read, given{
			repo(`"issue":{"number":1,"state":"OPEN","labels":{},"assignees":{}}`),
		}, nil},
		{"a pull request that says nothing of what it closes", func(ctx context.Context, c *Client) (any, error) {
			return c.Pull(ctx, app, 1)
		}, given{repo(`"pullRequest":{` + pull + `}`)}, nil},
		{"no pull request to merge", merge, given{repo(`"pullRequest":null`)}, nil},
		{"a pull request to merge that says nothing of what it closes", merge, given{
			repo(`"pullRequest":{` + pull + `}`),
		}, nil},
		{"a pull request to merge without commits", merge, given{
			repo(`"pullRequest":{` + pull + `,"closingIssuesReferences":{}}`),
		}, nil},
		{"a pull request to merge without its last commits", merge, given{
			repo(`"pullRequest":{` + pull + `,"closingIssuesReferences":{},
				"commits":{"totalCount":2,` + further + `,"nodes":[{"commit":{"message":"m"}}]}}`),
			of(403, `{"message":"no"}`),
		}, nil},
		{"no list of pull requests", func(ctx context.Context, c *Client) (any, error) {
			return c.NewestPulls(ctx, app)
		}, given{repo(`"pullRequests":null`)}, nil},
		{"a pull request is opened", open, given{
			of(201, `{"number":5,"title":"t","body":"b","state":"open","html_url":"u",
				"head":{"sha":"s"},"base":{"ref":"main","repo":{"full_name":"acme/app"}}}`),
		}, nil},
		{"something is opened", open, given{of(201, `{"number":5}`)}, nil},
		{"files without end", func(ctx context.Context, c *Client) (any, error) {
			return c.Changes(ctx, one, "x")
		}, given{
			repo(`"pullRequest":{"files":{"pageInfo":{"hasNextPage":true,"endCursor":"c"},"nodes":[{"path":"y"}]}}`),
		}, nil},
		{"files with a further page that has no cursor", func(ctx context.Context, c *Client) (any, error) {
			return c.Changes(ctx, one, "x")
		}, given{repo(`"pullRequest":{"files":{"pageInfo":{"hasNextPage":true},"nodes":[{"path":"y"}]}}`)}, nil},
		{"a query of one's own", func(ctx context.Context, c *Client) (any, error) {
			var into struct{ A int }
			err := c.Query(ctx, "query { a b }", nil, &into)
			return into, err
		}, given{of(200, `{"data":{"a":1},"errors":[{"type":"NOT_FOUND","message":"no","path":["b"]}]}`)}, nil},
		{"a query of one's own into something else", func(ctx context.Context, c *Client) (any, error) {
			var into struct{ A string }
			return into, c.Query(ctx, "query { a }", nil, &into)
		}, given{of(200, `{"data":{"a":1}}`)}, nil},
		{"comments that were not read by GraphQL are not minimized", func(ctx context.Context, c *Client) (any, error) {
			return c.Minimize(ctx, make([]claim.Comment, 3))
		}, given{of(200, `{"data":{}}`)}, nil},
		{"comments of which the second part may not be minimized", func(ctx context.Context, c *Client) (any, error) {
			return c.Minimize(ctx, slices.Repeat([]claim.Comment{{Node: "C"}}, minimizedAtOnce+1))
		}, given{
			of(200, `{"data":{"m0":{"minimizedComment":{"isMinimized":true}}}}`), of(403, `{"message":"no"}`),
		}, nil},
		{"an assignment of which nothing can be read", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Assign(ctx, one, "ann")
		}, given{of(201, `{"number":1,"assignees":7}`)}, nil},
		{"a write of another kind", func(ctx context.Context, c *Client) (any, error) {
			out := c.Write(ctx, []ledger.Batch{{Issue: one, Writes: []protocol.Write{{Kind: "another"}}}})
			return nil, out[0].Results[0].Err
		}, given{of(200, `{"data":{}}`)}, nil},
		{"an App that is not listed", func(ctx context.Context, c *Client) (any, error) {
			c.WelcomeContributors()
			err := c.Heard(ctx, app)
			outsider, _ := errors.AsType[*OutsiderError](err)
			return []any{outsider.App(), outsider.Remedy(), outsider.Welcome}, err
		}, given{of(200, `{"data":{"viewer":{"login":"ci[bot]"}}}`)}, nil},
		{"a reader", func(ctx context.Context, c *Client) (any, error) {
			c.WelcomeContributors()
			err := c.Heard(ctx, app)
			outsider, _ := errors.AsType[*OutsiderError](err)
			return []any{outsider.App(), outsider.Remedy(), outsider.Welcome, outsider.Rejected()}, err
		}, given{
			of(200, `{"data":{"viewer":{"login":"ann"}}}`),
			of(200, `{"full_name":"acme/app","permissions":{"pull":true}}`),
		}, nil},
		{"a login whose role only the list of permissions tells", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Heard(ctx, app)
		}, given{
			of(200, `{"data":{"viewer":{"login":"ann"}}}`),
			of(200, `{"full_name":"acme/app"}`),
			of(200, `{"permission":"write"}`),
		}, nil},
		{"heads of a repository without its name", heads, given{
			of(200, `{"data":{"r0":{"nameWithOwner":null,"h0":{}}}}`),
		}, nil},
		{"heads of a parent that is none", heads, given{
			of(200, `{"data":{"r0":{"nameWithOwner":"acme/app","parent":"x","h0":{}}}}`),
		}, nil},
		{"heads without a list", heads, given{of(200, `{"data":{"r0":{"nameWithOwner":"acme/app","h0":null}}}`)}, nil},
		{"heads without the parent's list", heads, given{
			of(200, `{"data":{"r0":{"nameWithOwner":"acme/app","parent":{"nameWithOwner":"up/app"},"h0":{}}}}`),
		}, nil},
		{"heads of the parent's", heads, given{of(200, `{"data":{"r0":{"nameWithOwner":"acme/app","h0":{},
			"parent":{"nameWithOwner":"up/app","h0":{"totalCount":2,"nodes":[
				{"number":3,"headRepository":{"nameWithOwner":"acme/app"}},
				{"number":4,"headRepository":null}]}}}}}`)}, nil},
		{"a scan without a list", scan, given{scanned(`,"pulls0":null`)}, nil},
		{"a scan that may not list pull requests", scan, given{
			scanned(`,"pulls1":{},"pulls2":{}}},
				"errors":[{"type":"FORBIDDEN","message":"no","path":["r0","pulls0"]}],"x":{"y":{"z":1`),
		}, nil},
		{"a scan of pull requests that have not changed since", scan, given{
			scanned(`,"pulls0":{},"pulls1":{},
				"pulls2":{"nodes":[{"number":3,"updatedAt":"2026-04-01T00:00:00Z"}],` + further + `}`),
		}, nil},
		{"a repository of one's own, without a token", func(ctx context.Context, c *Client) (any, error) {
			may, err := c.MayLabel(ctx, app, "acme")
			return may, errors.Join(c.Heard(ctx, app), err)
		}, nil, unknown},
		{"somebody, without a token", func(ctx context.Context, c *Client) (any, error) {
			return c.MayLabel(ctx, app, "ann")
		}, given{of(401, `{"message":"no"}`)}, unknown},
		{"a later page is refused", listed, given{
			of(200, `[]`, `Link: <https://api.github.com/x?page=2>; rel="last"`), of(403, `{"message":"no"}`),
		}, nil},
		{"the next page is refused", listed, given{
			of(200, `[]`, `Link: <https://api.github.com/x?page=2>; rel="next"`), of(403, `{"message":"no"}`),
		}, nil},
		{"facts", known, given{shown(`,"assignees":{"nodes":[{"login":"ann"},{"__typename":"Bot","login":"ci"}]},
			"blockedBy":{"nodes":[{"number":2,"state":"OPEN","url":"v",
				"repository":{"nameWithOwner":"acme/lib"}}]}`)}, nil},
		{"facts without assignees", known, given{shown(`,"assignees":{"totalCount":30}`)}, nil},
		{"facts without blockers", known, given{shown(`,"blockedBy":{"totalCount":3000}`)}, nil},
		{"facts with a comment that is no text", known, given{
			shown(`,"comments":{"totalCount":1,"nodes":[{"fullDatabaseId":"5","body":5}]}`),
		}, nil},
		{"facts, and the next pull requests are refused", known, given{
			shown(`,"closing":{"totalCount":1,` + further + `}`), of(403, `{"message":"no"}`),
		}, nil},
		{"facts, and the next pull requests are too few", known, given{
			shown(`,"closing":{"totalCount":2,` + further + `,"nodes":[{` + pull + `}]}`),
			repo(`"issue":{"closing":{"totalCount":2}}`),
		}, nil},
		{"facts, and the comments that are missing are refused", known, given{
			shown(`,"comments":{"totalCount":1}`), of(403, `{"message":"no"}`),
		}, nil},
		{"an edited record", known, given{
			shown(record(edited)),
			of(200, wrote),
			of(200, `{"data":{"c0":{"userContentEdits":{"nodes":[
				{"editor":{"login":"mal"}},{"editor":{"login":"ann"}}]}}}}`),
		}, nil},
		{"an edited record that was deleted", known, given{
			shown(record(edited)), of(200, wrote), of(200, `{"data":{"c0":null}}`),
		}, nil},
		{"edits that may not be read", known, given{
			shown(record(edited)),
			of(200, wrote),
			of(200, `{"data":{"c0":null},"errors":[{"type":"FORBIDDEN","message":"no","path":["c0"]}]}`),
		}, nil},
		{"a hold that somebody else has ended, for the hook", func(ctx context.Context, c *Client) (any, error) {
			got := c.HoldersOf(ctx, []claim.Issue{one})[0]
			return []any{len(got.Facts.Log.Live()), got.Facts.Doubts}, got.Err
		}, given{
			shown(records("ann", claimed, "",
				"bo", "<!-- agent-release:codename=c firing_id=f outcome=forced by=bo -->", "")),
			of(200, wrote),
		}, nil},
		{"roles that were too much once are listed the next time", twice, given{
			shown(records("ann", claimed, "", "bo", claimed, "")),
			of(502, `{}`),
			of(502, `{}`),
			of(502, `{}`),
			of(502, `{}`),
			of(200, wrote),
			of(200, wrote),
			shown(records("cy", claimed, "", "di", claimed, "")),
			repo(`"a0":{"edges":[{"permission":"WRITE","node":{"login":"cy"}}]},"a1":{"edges":[]}`),
		}, nil},
		{"roles that may not be listed are not, the next time", twice, given{
			shown(records("ann", claimed, "", "bo", claimed, "")), of(403, `{}`), of(200, wrote), of(200, wrote),
			shown(records("cy", claimed, "", "di", claimed, "")), of(200, wrote),
		}, nil},
		{"labels with a token that is refused", func(ctx context.Context, c *Client) (any, error) {
			_, err := c.Facts(ctx, one)
			change := protocol.Write{Kind: protocol.WriteRelabel, Labels: labels.Change{Remove: []string{"bug"}}}
			out := c.Write(ctx, []ledger.Batch{{Issue: one, Read: true, Writes: []protocol.Write{change}}})
			return became(out[0].Results), err
		}, given{
			shown(`,"id":"I","labels":{"nodes":[{"id":"L","name":"bug"}]}`), of(401, `{"message":"no"}`),
		}, nil},
		{"a comment of which nobody knows whether it is there", func(ctx context.Context, c *Client) (any, error) {
			_, err := c.Facts(ctx, one)
			post := protocol.Write{Kind: protocol.WritePost, Body: "text"}
			out := c.Write(ctx, []ledger.Batch{{Issue: one, Read: true, Writes: []protocol.Write{post}}})
			return became(out[0].Results), err
		}, given{
			shown(`,"id":"I"`),
			of(200, `{"data":{"record0":null},"errors":[{"type":"SOMETHING","message":"no","path":["record0"]}]}`),
		}, nil},
		{"roles for a login that may not list them", known, given{
			of(200, `{"data":{"viewer":{"login":"bot"},"r0":{"viewerPermission":"TRIAGE","i0":{"__typename":"Issue",`+whole+
				`,"labels":{},"assignees":{},"closing":{}`+records("ann", claimed, "", "bo", claimed, "")+`}}}}`),
		}, nil},
		{"checks that go on", func(ctx context.Context, c *Client) (any, error) {
			return c.Checks(ctx, "acme/app", "abc")
		}, given{
			of(200, `{"total_count":3,"check_runs":[{"name":"a","status":"in_progress","conclusion":"failure"},
				{"name":"b","status":"completed"},{"name":"c","status":"completed","conclusion":"neutral"}]}`),
			of(200, `{"total_count":1,"statuses":[{"context":"d","state":"PENDING"}]}`),
		}, nil},
		{"a record of a login whose role is not told", known, given{
			shown(record("")), of(200, `{}`),
		}, nil},
		{"the label of a bundle is made", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.AddLabel(ctx, one, "Agent:Bundle:Login")
		}, given{
			of(404, `{"message":"Not Found"}`),
			of(201, `{"name":"x","node_id":"L"}`),
			of(200, `[{"name":"agent:bundle:login"}]`),
		}, nil},
		{"the label of a bundle may not be made", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.AddLabel(ctx, one, "agent:bundle:login")
		}, given{
			of(404, `{"message":"Not Found"}`),
			of(404, `{"message":"Not Found"}`),
			of(200, `{"full_name":"acme/app","permissions":{"triage":true}}`),
		}, nil},
		{"the first and the last of what is allowed", func(_ context.Context, c *Client) (any, error) {
			var out []any
			for _, n := range []int{0, 1, math.MaxInt32, math.MaxInt32 + 1} {
				out = append(out, nameable(issue("app", n)) == nil)
			}
			for _, token := range []string{"1234567", "12345678"} {
				out = append(out, NewSecret(token).hide("with "+token))
			}

			c.measures.note("x", measure{7, c.o.Clock.Now()})
			c.noteCrowd("y", nil, true)
			for _, wait := range []time.Duration{crowdLasts - 1, 1, measureFor - crowdLasts, 1} {
				time.Sleep(wait)
				_, noted := c.noted("y")
				out = append(out, noted, c.bearable("x", 100))
			}

			for _, status := range []int{399, 400, 408, 499, 500} {
				err := &StatusError{Status: status}
				out = append(out, err.Rejected(), err.Error())
			}
			return out, nil
		}, nil, nil},
		{"what is opened has no number", open, given{of(201, `{"number":0,"base":{"ref":"main"}}`)}, nil},
		{"a path that is none", func(ctx context.Context, c *Client) (any, error) {
			return c.Do(ctx, http.MethodGet, "%zz", nil, nil)
		}, nil, nil},
		{"a request whose body cannot be read", func(ctx context.Context, c *Client) (any, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, testREST, iotest.ErrReader(errSlow))
			if err != nil {
				return nil, err
			}
			got, err := c.transport.RoundTrip(r)
			return got != nil, err
		}, nil, nil},
		{"the largest answer", large, given{of(200, strings.Repeat(" ", maxAnswer-2)+"{}")}, nil},
		{"a large answer that breaks off", large, given{func() *http.Response {
			r := reply(200, "json")
			r.ContentLength = -1
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat(" ", smallAnswer)), broken{}))
			return r
		}}, nil},
		{"a query that failed because of its token", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Query(ctx, "query { a }", nil, nil)
		}, given{
			of(200, `{"errors":[{"message":"what is tok-secret"}]}`),
		}, func(o *Options) { o.Token = NewSecret("tok-secret") }},
		{"when labels were put on that are gone", times, given{shown(moved)}, nil},
		{"when labels were put on that are there", times, given{
			shown(moved + `,"state":"CLOSED","labels":{"nodes":[{"name":"agent:blocked"},{"name":"agent:in-flight"}]}`),
		}, nil},
		{"a stranger's pull request, not yet among its author's", func(ctx context.Context, c *Client) (any, error) {
			p := Pull{PR: lifecycle.PR{Repo: "acme/app", Number: 9, Author: "mal", State: lifecycle.PROpened}}
			excess, err := c.Excess(ctx, p, []claim.Issue{one, issue("app", 2), issue("app", 3)})
			again, failed := c.Excess(ctx, p, []claim.Issue{one, issue("app", 2)})
			return []any{excess, again, p.Outside()}, errors.Join(err, failed)
		}, given{
			of(200, `{"data":{"viewer":{"login":"bot"}}}`), of(200, `{"permission":"read"}`),
			of(200, `[{"number":4,"body":"closes #4","pull_request":{}},{"number":5,"body":"closes #5"}]`),
		}, nil},
		{"what errors, roles and names say of themselves", func(context.Context, *Client) (any, error) {
			inside := Pull{association: "MEMBER", PR: lifecycle.PR{Repo: "acme/app", Author: "mal"}}
			archived := &PermissionError{Message: "Repository was archived so is read-only."}
			_, read := parsePull("https://github.com/acme/app/pull/7", "%zz")
			quiet := quietError{"text", func() error { return context.Canceled }}
			return []any{
				archived.Archived(), (&PermissionError{Message: "no"}).Archived(), archived.Forbidden(), archived.Locked(),
				archived.Denied(), read, inside.Outside(), Secret{}.String(), NewSecret("x").String(),
				errors.Is(quiet, context.Canceled), errors.Is(quiet, errSlow), hostOf("%zz"),
				hostOf("https://ghe.acme.io:8443/x"),
				mapped(map[string]bool{"pull": false}), mapped(map[string]bool{"pull": true, "push": true}),
			}, &UnreadError{Repo: app, Numbers: []int{3, 1}, caused: caused{errSlow}}
		}, nil, nil},
		{"an edited record on an older server", twice, given{
			shown(record(edited)), of(200, wrote), of(200, noUpdate), shown(record(edited)),
		}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var n atomic.Int32
			c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) {
				return call.answers[min(int(n.Add(1)), len(call.answers))-1](), nil
			}), func(o *Options) {
				if call.options != nil {
					call.options(o)
				}
			})
			got, err := call.do(t.Context(), c)
			data, bad := json.Marshal(got)
			if bad != nil {
				t.Fatal(bad)
			}

			fmt.Fprintf(&out, "%s, by %d requests: %s\n", call.name, n.Load(), empties().ReplaceAll(data, nil))
			if err != nil {
				fmt.Fprintf(&out, "\t%s%s\n", strings.ReplaceAll(err.Error(), "\n", "\n\t"), facts(err))
			}
		})
	}

	golden.Check(t, "testdata/given.golden", out.String())
}
