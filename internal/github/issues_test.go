package github

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
)

func issuesClient(t *testing.T, issue githubsim.SeedIssue, fault *githubsim.Fault, changes ...func(*Options)) *Client {
	t.Helper()
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "bot", Token: "tok", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "mal", Token: "tok-mal"},
		},
		Repos: []githubsim.SeedRepo{{
			Name:          "acme/app",
			DefaultBranch: "main",
			Issues:        []githubsim.SeedIssue{issue},
			Pulls: []githubsim.SeedPull{
				{SeedIssue: githubsim.SeedIssue{
					Number: 2,
					Title:  "PR",
					Author: "bot",
					Labels: []string{"ready"},
				}, Head: "x", Base: "main"},
			},
		}},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server.Fault = func(*http.Request) *githubsim.Fault { return fault }
	o := Options{
		REST:    testREST,
		GraphQL: testGraphQL,
		Token:   NewSecret("tok"),
		HTTP:    server.Transport(),
	}

	for _, change := range changes {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// TestOpenIssues: all pages are listed, oldest first, and a list that was begun goes on after its
// page.
func TestOpenIssues(t *testing.T) {
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{Login: "bot", Token: "tok", Permissions: map[string]string{"acme/app": "write"}}},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", DefaultBranch: "main", Issues: []githubsim.SeedIssue{{
			Number: 900,
			Title:  "closed",
			Author: "bot",
			State:  "closed",
			Labels: []string{"agent:implement"},
		}}}},
	}, githubsim.Options{RateLimit: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}

	for n := range 130 {
		if _, err := server.AddIssue("acme/app", "bot", fmt.Sprint("t", n), "b", "agent:implement", "p1"); err != nil {
			t.Fatal(err)
		}
	}

	connect := func(change func(*Options)) *Client {
		o := Options{
			REST:    testREST,
			GraphQL: testGraphQL,
			Token:   NewSecret("tok"),
			HTTP:    server.Transport(),
		}
		change(&o)
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}

		return c
	}

	fresh := connect(func(*Options) {})
	if none, err := fresh.OpenIssues(t.Context(), repoOf("app"), "nobody's"); err != nil || len(none) > 0 {
		t.Errorf("no such issue: %v, %v", none, err)
	}

	twice := connect(func(o *Options) { o.HTTP = spoiled(o.HTTP, `"number":902,`, `"number":901,`) })
	if all, err := twice.OpenIssues(t.Context(), repoOf("app"), "agent:implement"); err != nil || len(all) != 129 {
		t.Errorf("one that is listed twice: %d issues, %v; want 129", len(all), err)
	}

	begun := connect(func(*Options) {})
	if err := begun.BeginOpen(t.Context(), repoOf("app")); err != nil {
		t.Fatal(err)
	}
	if none, err := begun.OpenIssues(t.Context(), repoOf("app"), "nobody's"); err != nil || len(none) > 0 {
		t.Errorf("another label than what was begun: %d issues, %v", len(none), err)
	}

	for name, c := range map[string]*Client{"asked at once": fresh, "begun": begun} {
		before := len(server.Requests())
		got, err := c.OpenIssues(t.Context(), repoOf("app"), "agent:implement")
		inOrder := slices.IsSortedFunc(got, func(a, b Issue) int { return cmp.Compare(a.Number, b.Number) })
		if err != nil || len(got) != 130 || !inOrder {
			t.Errorf("%s: %d issues, in order %t, %v; want 130", name, len(got), inOrder, err)
		}

		if sent := len(server.Requests()) - before; (name == "begun") != (sent == 1) {
			t.Errorf("%s: %d requests", name, sent)
		}
	}
}

func TestIssues(t *testing.T) {
	c := issuesClient(t, githubsim.SeedIssue{
		Number: 1,
		Title:  "T",
		Author: "mal",
		Labels: []string{"Ready", "p1"},
		Comments: []githubsim.SeedComment{
			{Author: "mal", Body: "<!-- forged -->\nx"},
			{Author: "bot", Body: "<!-- ours -->\nx"},
			{Author: "bot", Body: "said: <!-- inside -->\n"},
		},
	}, nil)
	r, first := claim.Repo{Owner: "acme", Name: "app"}, claim.Issue{Owner: "acme", Repo: "app", Number: 1}
	all, err := c.OpenIssues(t.Context(), r, "ready")
	if err != nil || len(all) != 1 || all[0].Number != 1 || all[0].Body != "" || all[0].Author != "mal" ||
		all[0].Created.IsZero() || strings.Join(all[0].Labels, " ") != "Ready p1" {
		t.Errorf("list: %+v %v", all, err)
	}

	if pull, err := c.Issue(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 2}); err != nil ||
		!pull.PullRequest {
		t.Errorf("pull request: %+v %v", pull, err)
	}

	for line, want := range map[string]bool{
		"<!-- forged -->": false, "<!-- ours -->": true, "<!-- inside -->": false,
		"<!-- our": false,
	} {
		if got, err := c.Said(t.Context(), first, line); got != want || err != nil {
			t.Errorf("said %q: %v %v", line, got, err)
		}
	}

	for login, want := range map[string]error{"BOT": nil, "nobody": ledger.ErrUnassignable} {
		if err := c.Assign(t.Context(), first, login); !errors.Is(err, want) {
			t.Errorf("assign %s: %v, want %v", login, err, want)
		}
	}

	for range 2 {
		if err := c.CloseCompleted(t.Context(), first); err != nil {
			t.Error(err)
		}
	}

	if i, err := c.Issue(t.Context(), first); err != nil || i.Open {
		t.Errorf("closed: %+v %v", i, err)
	}
	var gone *NotFoundError
	if _, err := c.Issue(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 99}); !errors.As(err, &gone) {
		t.Errorf("missing: %v", err)
	}
	if _, err := c.Issue(t.Context(), issue("nowhere", 1)); !errors.As(err, &gone) ||
		gone.What != repository(repoOf("nowhere")) {
		t.Errorf("a missing repository: %v, want it named", err)
	}

	if _, err := c.OpenIssues(t.Context(), claim.Repo{Owner: "..", Name: ".."}, "ready"); !errors.As(err, &gone) {
		t.Errorf("no repository's name: %v", err)
	}
}

// TestIssuesUnusable: an answer that is not a list of issues is an error, never an empty queue.
func TestIssuesUnusable(t *testing.T) {
	for name, body := range map[string]string{
		"web page": "<html>", "null": "null", "an object": "{}", "no issues": `[{"message":"x"}]`,
		"cut":                   `[{"number":1,"state":"op`,
		"no list":               `{"data":{"r0":{"nameWithOwner":"acme/app"}}}`,
		"an issue that is null": `{"data":{"r0":{"open":{"pageInfo":{},"nodes":[null]}}}}`,
		"an issue without a state": `{"data":{"r0":{"open":{"pageInfo":{},"nodes":[{"number":1,"createdAt":"2026-01-01T00:00:00Z",
			"labels":{"nodes":[]},"assignees":{"nodes":[]}}]}}}}`,
		"labels cut off": `{"data":{"r0":{"open":{"pageInfo":{},"nodes":[{"number":1,"state":"OPEN","createdAt":"2026-01-01T00:00:00Z",
			"labels":{"totalCount":2,"nodes":[{"name":"a"}]},"assignees":{"nodes":[]}}]}}}}`,
	} {
		c := issuesClient(t, githubsim.SeedIssue{Number: 1, Title: "T", Author: "bot"},
			&githubsim.Fault{Status: 200, Body: body})
		var answer *AnswerError
		if all, err := c.OpenIssues(t.Context(), claim.Repo{Owner: "acme", Name: "app"}, "ready"); !errors.As(err,
			&answer) {
			t.Errorf("%s: %v %v", name, all, err)
		}
	}
}
