package github

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/printable"
)

// What a client is to others, which ask for most of it by the interface.
var (
	_ ledger.Forge    = (*Client)(nil)
	_ ledger.Repos    = (*Client)(nil)
	_ gitref.Refs     = (*Client)(nil)
	_ prchain.Forge   = (*Client)(nil)
	_ prchain.Watcher = (*Client)(nil)
)

func repoOf(name string) claim.Repo { return claim.Repo{Owner: "acme", Name: name} }

func pauseNow() lifecycle.Pause {
	return lifecycle.Pause{Since: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), By: "ann", Reason: "release week"}
}

// TestAddLabel: a label of ours is created as it should be, another one is never created.
func TestAddLabel(t *testing.T) {
	server := simulated(t)
	sent := watched(server.Transport())
	c := connect(t, sent)
	ctx, i := t.Context(), issue("lib", 1)
	for range 2 {
		if err := c.AddLabel(ctx, i, "Agent:Done"); err != nil {
			t.Fatal(err)
		}
	}

	all, err := c.Labels(ctx, repoOf("lib"))
	want := labels.Definition{Name: "agent:done", Color: "0e8a16", Description: "Closed and shipped"}
	if err != nil || !slices.Contains(all, want) {
		t.Errorf("labels = %v, %v; want %v among them", all, err, want)
	}

	var gone *NotFoundError
	for _, name := range []string{"agent:dnoe", "agent:paused", "..", ""} {
		if err := c.AddLabel(ctx, i, name); !errors.As(err, &gone) {
			t.Errorf("%q: error = %v, want not found", name, err)
		}
	}

	names, err := server.RepoLabels("acme/lib")
	if err != nil || !slices.Equal(names, []string{"agent:done"}) {
		t.Errorf("labels = %q, %v; want only ours", names, err)
	}

	if err := c.AddLabel(ctx, issue("lib", 77), "agent:done"); !errors.As(err, &gone) ||
		!strings.Contains(err.Error(), "issue acme/lib#77 not found") {
		t.Errorf("error = %v, want it to name the issue", err)
	}

	if n := sent.like("GET /repos/acme/lib/labels"); n > 6 {
		t.Errorf("asked for labels %d times, want once for each name", n)
	}
}

// TestAddLabelAnswer: an answer without the label is not success.
func TestAddLabelAnswer(t *testing.T) {
	c := connect(t, spoiled(simulated(t).Transport(), `"name":"bug"`, `"name":"gub"`))
	c.noteLabel(repoOf("app"), "bug", label{exists: true})
	var answer *AnswerError
	if err := c.AddLabel(t.Context(), issue("app", 3), "bug"); !errors.As(err, &answer) || answer.Rejected() {
		t.Errorf("error = %v, want an unusable answer", err)
	}
}

// TestRemoveLabel: gone is success, a missing issue is not; names from outside stay names.
func TestRemoveLabel(t *testing.T) {
	server := simulated(t)
	sent := watched(server.Transport())
	c := connect(t, sent)
	ctx := t.Context()
	odd := "odd/name? 100%#+ü"
	if err := server.AddLabels("acme/app", 1, "bot", odd); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{odd, odd, "AGENT:implement", "never there"} {
		if err := c.RemoveLabel(ctx, issue("app", 1), name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}

	if have, err := server.Labels("acme/app", 1); err != nil || !slices.Equal(have, []string{"bug"}) {
		t.Errorf("labels = %q, %v; want only bug left", have, err)
	}
	var gone *NotFoundError
	for _, name := range []string{"bug", "..", "."} {
		if err := c.RemoveLabel(ctx, issue("app", 77), name); !errors.As(err, &gone) {
			t.Errorf("%q: error = %v, want not found", name, err)
		}
	}

	if _, err := c.DeleteLabel(ctx, repoOf("app"), ".."); !errors.As(err, &gone) ||
		sent.like("DELETE ") != sent.like("DELETE /repos/acme/app/issues/") {
		t.Errorf("error = %v, want the name refused before it deletes a repository", err)
	}
}

// TestPathsStayInside: no name can lead a request elsewhere.
func TestPathsStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owner, repo := rapid.String().Draw(t, "owner"), rapid.String().Draw(t, "repo")
		to := at(claim.Repo{Owner: owner, Name: repo}, "/issues/%d", 7)
		if path := to.path; to.err == nil &&
			(path != "repos/"+owner+"/"+repo+"/issues/7" || strings.Count(path, "/") != 4 ||
				strings.ContainsAny(path, "?#% ")) {
			t.Fatalf("path = %q", path)
		}

		name := rapid.String().Draw(t, "label")
		to = target{}.label(name)
		escaped := strings.TrimPrefix(to.path, "/labels/")
		if to.err == nil && (strings.ContainsAny(escaped, "/?# ") || escaped == "." || escaped == "..") {
			t.Fatalf("label %q is %q", name, escaped)
		}
	})
}

func TestLabelDefinitions(t *testing.T) {
	c := connect(t, simulated(t).Transport())
	ctx, r := t.Context(), repoOf("lib")
	d := labels.Definition{Name: "agent:done", Color: "0e8a16", Description: "Closed and shipped"}
	for range 2 {
		if err := c.CreateLabel(ctx, r, d); err != nil {
			t.Fatal(err)
		}
	}

	changed := labels.Definition{Name: "agent:finished", Color: "000000", Description: "over"}
	if err := c.UpdateLabel(ctx, r, "AGENT:done", changed); err != nil {
		t.Fatal(err)
	}

	all, err := c.Labels(ctx, r)
	if err != nil || !slices.Equal(all, []labels.Definition{changed}) {
		t.Errorf("labels = %v, %v; want %v", all, err, changed)
	}

	if err := c.UpdateLabel(ctx, r, "agent:finished", changed); err != nil || c.Lacks(r, "agent:finished") {
		t.Errorf("with the same name: %v, or it is thought to be gone", err)
	}

	var gone *NotFoundError
	if err := c.UpdateLabel(ctx, r, "agent:done", changed); !errors.As(err, &gone) {
		t.Errorf("update: %v, want not found", err)
	}

	for range 2 {
		if _, err := c.DeleteLabel(ctx, r, "agent:finished"); err != nil {
			t.Errorf("delete: %v", err)
		}
	}

	if _, err := c.DeleteLabel(ctx, repoOf("nowhere"), "x"); !errors.As(err, &gone) {
		t.Errorf("delete in a missing repository: %v, want not found", err)
	}

	if err := connect(t, simulated(t).Transport(), as("tok-rob")).CreateLabel(ctx, repoOf("app"), d); err == nil ||
		!err.(interface{ Unwrap() error }).Unwrap().(interface{ Rejected() bool }).Rejected() {
		t.Errorf("create without permission: %v", err)
	}
}

// TestManyLabels follows the pages.
func TestManyLabels(t *testing.T) {
	seed := world()
	for n := range 250 {
		seed.Repos[1].Labels = append(seed.Repos[1].Labels,
			githubsim.SeedLabel{Name: fmt.Sprint("l", n), Color: "ffffff"})
	}

	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	all, err := connect(t, server.Transport()).Labels(t.Context(), repoOf("lib"))
	if err != nil || len(all) != 250 {
		t.Errorf("%d labels, %v; want 250", len(all), err)
	}
}

// TestPages: a list that leads elsewhere or in cycles is an error.
func TestPages(t *testing.T) {
	for _, link := range []string{
		`<https://elsewhere.example/x>; rel="next"`,
		`<https://api.github.com/repos/acme/lib/labels?per_page=100>; rel="next"`,
	} {
		n := 0
		c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) {
			n++
			return reply(200, "[]", "Link: "+link), nil
		}))
		var answer *AnswerError
		if _, err := c.Labels(t.Context(), repoOf("lib")); !errors.As(err, &answer) || n > 2 {
			t.Errorf("%s: %v after %d requests, want an error", link, err, n)
		}
	}

	for _, body := range []string{"null", `{"message":"hello"}`} {
		c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, body), nil }))
		var answer *AnswerError
		if _, err := c.Labels(t.Context(), repoOf("lib")); !errors.As(err, &answer) {
			t.Errorf("%s: %v, want an error", body, err)
		}
	}
}

func TestPause(t *testing.T) {
	server := simulated(t)
	c := connect(t, server.Transport())
	ctx, r := t.Context(), repoOf("lib")
	check := func(want *lifecycle.Pause) {
		t.Helper()
		got, err := c.Pause(ctx, r)
		if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("pause = %+v, %v; want %+v", got, err, want)
		}
	}

	check(nil)
	for _, reason := range []string{"release week", "second thoughts"} {
		p := pauseNow()
		p.Reason = reason
		if err := c.SetPause(ctx, r, p); err != nil {
			t.Fatal(err)
		}
		check(&p)
	}

	stands, err := c.Pause(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetPause(ctx, r, lifecycle.Pause{By: "tia"}); err != nil {
		t.Fatal(err)
	}
	check(stands) // without a reason the one that stands is left as it is

	made, err := c.Labels(ctx, r)
	if err != nil || len(made) != 1 || made[0].Color != "b60205" {
		t.Errorf("labels = %v, %v; want a red one", made, err)
	}

	many, err := c.Pauses(ctx, []claim.Repo{repoOf("app"), r, repoOf("tools")})
	if err != nil || len(many) != 2 || many[repoOf("tools")].By != "bot" {
		t.Errorf("pauses = %v, %v; want lib and tools", many, err)
	}

	for _, want := range []bool{true, false} {
		if was, err := c.ClearPause(ctx, r); was != want || err != nil {
			t.Errorf("it was paused: %t, %v", was, err)
		}
	}

	check(nil)
	var gone *NotFoundError
	if _, err := c.Pause(ctx, repoOf("nowhere")); !errors.As(err, &gone) {
		t.Errorf("a missing repository: %v, want not found and not \"not paused\"", err)
	}
}

// TestPauseText: whatever is written is read back, and what would need more than a hundred characters is refused.
func TestPauseText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pauseNow()
		p.By = rapid.StringMatching(`[a-z][a-z0-9-]{0,38}(\[bot\])?`).Draw(t, "by")
		p.Reason = rapid.String().Draw(t, "reason") + strings.Repeat("x", rapid.IntRange(0, 99).Draw(t, "more"))
		want := p
		want.Reason = printable.Short(p.Reason, 1000)
		most := 100 - len("paused since 2026-05-01T12:00:00Z by : ") - len(p.By)
		text, err := DescribePause(p)
		fits := len([]rune(want.Reason)) <= most
		if got := parsePause(text, time.Time{}); (err == nil) != fits || fits && got != want {
			t.Fatalf("%v, %q is read as %+v", err, text, got)
		}
	})

	for text, want := range map[string]lifecycle.Pause{
		"":                              {Since: pauseNow().Since},
		"back on Monday":                {Since: pauseNow().Since, Reason: "back on Monday"},
		"paused since Monday by ann: x": {Since: pauseNow().Since, Reason: "paused since Monday by ann: x"},
		"Paused since 2026-04-01T00:00:00Z by ann": {Since: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), By: "ann"},
	} {
		if got := parsePause(text, pauseNow().Since); got != want {
			t.Errorf("%q = %+v, want %+v", text, got, want)
		}
	}
}

func TestComments(t *testing.T) {
	server := simulated(t)
	c := connect(t, server.Transport())
	ctx, i := t.Context(), issue("app", 1)
	m, err := c.Comment(ctx, i, "hello")
	if err != nil {
		t.Fatal(err)
	}

	if err := c.React(ctx, repoOf("app"), m.ID, "eyes"); err != nil {
		t.Error(err)
	}

	if err := server.DeleteComment("acme/app", m.ID, "bot"); err != nil {
		t.Fatal(err)
	}

	if _, err := c.EditComment(ctx, i, m.ID, "again"); !errors.Is(err, ledger.ErrGone) {
		t.Errorf("edit: %v, want gone", err)
	}
	var gone *NotFoundError
	if _, err := c.Comment(ctx, issue("app", 77), "hello"); !errors.As(err, &gone) || !gone.Rejected() {
		t.Errorf("comment: %v, want not found", err)
	}

	server.Fault = func(*http.Request) *githubsim.Fault { return &githubsim.Fault{ApplyThenFail: true} }
	before, _ := server.Comments("acme/app", 1)
	var open interface{ Rejected() bool }
	if _, err := c.Comment(ctx, i, "lost answer"); !errors.As(err, &open) || open.Rejected() {
		t.Errorf("lost answer: %v, want an open end", err)
	}

	if after, _ := server.Comments("acme/app", 1); len(after) != len(before)+1 {
		t.Errorf("%d comments, want one more than %d", len(after), len(before))
	}
}

func TestRepository(t *testing.T) {
	server := simulated(t)
	c := connect(t, server.Transport())
	got, err := c.Repository(t.Context(), repoOf("lib"))
	want := Repository{
		Repo:          repoOf("lib"),
		DefaultBranch: "trunk",
		HasIssues:     true,
		Role:          RoleAdmin,
	}

	if err != nil || got != want {
		t.Errorf("repository = %+v, %v; want %+v", got, err, want)
	}
	var gone *NotFoundError
	for _, r := range []claim.Repo{repoOf("nowhere"), repoOf(".."), {Owner: "a/b", Name: "c"}, {}} {
		if _, err := c.Repository(t.Context(), r); !errors.As(err, &gone) || gone.Status != 404 {
			t.Errorf("%s: %v, want not found", r, err)
		}
	}
}

func TestViewerAndScopes(t *testing.T) {
	server := simulated(t)
	app := roundTrip(func(*http.Request) (*http.Response, error) {
		return reply(200, `{"data":{"viewer":{"login":"my-app[bot]"}}}`), nil
	})

	for want, options := range map[string][]func(*Options){
		"bot": nil, "my-app[bot]": nil, "tia": {as("tok-tia")}, "github-actions[bot]": {as("tok-ci")},
	} {
		sent := watched(server.Transport())
		if want == "my-app[bot]" {
			sent.next = app
		}

		c := connect(t, sent, options...)
		for range 2 {
			if login, err := c.Viewer(t.Context()); err != nil || login != want {
				t.Errorf("viewer = %q, %v; want %q", login, err, want)
			}
		}

		if len(sent.sent) != 1 {
			t.Errorf("sent %q, want the login remembered", sent.sent)
		}
	}

	nobody := roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, `{"data":{"viewer":null}}`), nil })
	if login, err := connect(t, nobody).Viewer(t.Context()); err == nil {
		t.Errorf("viewer = %q without an error; want that the login is missing", login)
	}

	scopes, told, err := connect(t, server.Transport()).TokenScopes(t.Context())
	if err != nil || !told || !slices.Equal(scopes, []string{"repo"}) {
		t.Errorf("scopes = %v, %t, %v; want repo", scopes, told, err)
	}

	if scopes, told, err = connect(t, server.Transport(), as("tok-tia")).TokenScopes(t.Context()); err != nil || told ||
		len(scopes) != 0 {
		t.Errorf("scopes = %v, %t, %v; want none told", scopes, told, err)
	}

	bare := roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, "json", "X-OAuth-Scopes: "), nil })
	if scopes, told, err = connect(t, bare).TokenScopes(t.Context()); err != nil || !told || len(scopes) != 0 {
		t.Errorf("scopes = %v, %t, %v; want told that there are none", scopes, told, err)
	}
}

func TestOptions(t *testing.T) {
	o := Options{REST: testREST, GraphQL: testGraphQL, Trust: Trust{Minimum: "king"}}
	if _, err := New(o); err == nil {
		t.Error("a role that is none is taken")
	}
	if _, err := New(Options{REST: "https://[::1", GraphQL: testGraphQL}); err == nil {
		t.Error("an address that is none is taken")
	}

	for web, want := range map[string]string{"": "https://github.com", "https://ghe.acme.io/": "https://ghe.acme.io"} {
		c, err := New(Options{REST: testREST, GraphQL: testGraphQL, Web: web})
		if err != nil || c.o.Web != want {
			t.Errorf("web %q = %q, %v; want %q", web, c.o.Web, err, want)
		}
	}
}
