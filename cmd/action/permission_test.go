package main

import (
	"fmt"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
)

// TestReleaseNeedsContents: with leases in git references /release needs contents: write. A job
// that lacks it says so and is red: it does not end well having done nothing.
func TestReleaseNeedsContents(t *testing.T) {
	app := repository("acme/app", "claim: {lease: refs}\n", "agent:implement")
	app.Private = true
	roles := map[string]string{"acme/app": "write"}
	server, err := githubsim.New(githubsim.Seed{Repos: []githubsim.SeedRepo{app}, Users: []githubsim.SeedUser{
		{Login: "agents", Token: "tok-agents", Permissions: roles},
		{Login: "olga", Token: "tok-olga", Permissions: roles},
		{
			Login:            "github-actions[bot]",
			Token:            "tok-read",
			Permissions:      roles,
			TokenPermissions: map[string]string{"contents": "read", "issues": "write", "pull_requests": "write"},
		},
		{
			Login:            "github-actions[bot]",
			Token:            "tok-write",
			Permissions:      roles,
			TokenPermissions: map[string]string{"contents": "write", "issues": "write", "pull_requests": "write"},
		},
	}}, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, app)
	r.server = server
	held(t, r)
	id, err := server.AddComment("acme/app", 1, "olga", "/release")
	if err != nil {
		t.Fatal(err)
	}

	r.env["GITHUB_EVENT_NAME"] = "issue_comment"
	r.file("event.json", fmt.Sprintf(`{"action":"created","repository":{"full_name":"acme/app"},"issue":{"number":1},"sender":{"login":"olga","type":"User"},
		"comment":{"id":%d,"body":"/release","created_at":"2100-01-01T00:00:00Z","user":{"login":"olga","type":"User"}}}`, id))
	r.env["INPUT_TOKEN"] = "tok-read"
	r.run(3, "::error::commands: the token may not write; the job needs permissions: contents: write")
	r.labels("acme/app", "agent:in-flight")
	r.env["INPUT_TOKEN"] = "tok-write"
	r.run(0, "/release by olga")
	r.labels("acme/app", "agent:implement")
}

// held has the agents claim the issue.
func held(t *testing.T, r *runner) {
	t.Helper()
	client, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Web:     "https://github.com",
		Token:   github.NewSecret("tok-agents"),
		HTTP:    r.server.Transport(),
		Clock:   setup.Clock(),
		Scheme:  config.Default().Labels,
	})
	if err != nil {
		t.Fatal(err)
	}
	l := ledger.New(client, setup.Clock(), func() string { return "12345678" }, ledger.DefaultSettings()).
		Strict(gitref.New(client, gitref.Options{Sleep: setup.Clock().Sleep}), lease.Refs)
	if _, err := l.Claim(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 1},
		ledger.Request{Worker: claim.Worker{Codename: "lucius"}}); err != nil {
		t.Fatal(err)
	}
}
