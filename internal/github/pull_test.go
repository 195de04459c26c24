package github

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

func TestPull(t *testing.T) {
	server := simulated(t)
	for range 3 {
		if _, err := server.AddComment("acme/app", 7, "mal", "nice"); err != nil {
			t.Fatal(err)
		}
	}
	for name, option := range map[string]func(*Options){"GraphQL": func(*Options) {}, "REST": byREST} {
		c := connect(t, server.Transport(), option)
		p, err := c.Pull(t.Context(), repoOf("app"), 7)
		if err != nil || p.State != lifecycle.PROpened || p.Head != "fix" || !p.DefaultBase || p.Body != "Closes #3" || p.Comments != 3 {
			t.Errorf("%s: pull request = %+v, %v", name, p, err)
		}
		if want := []claim.Issue{issue("app", 3)}; name == "GraphQL" && !slices.Equal(p.Closes, want) {
			t.Errorf("closes %v, want %v", p.Closes, want)
		}
		var gone *NotFoundError
		for _, n := range []int{1, 404, 0, 1 << 40} {
			if _, err := c.Pull(t.Context(), repoOf("app"), n); !errors.As(err, &gone) || gone.What.Name == "" {
				t.Errorf("%s: %d: %v, want not found", name, n, err)
			}
		}
	}
}

// TestParsePull: only addresses on this GitHub name pull requests.
func TestParsePull(t *testing.T) {
	for text, want := range map[string]string{
		"https://github.com/acme/app/pull/7":             "acme/app#7",
		"https://GITHUB.com/acme/app/pull/7/files?x=1#r": "acme/app#7",
		"http://github.com/acme/app/pull/7":              "acme/app#7",
		"https://github.com/acme/app/issues/7":           "",
		"https://elsewhere.example/acme/app/pull/7":      "",
		"https://github.com/acme/app/pull/0":             "",
		"https://github.com/acme/app/pull/99999999999":   "",
		"https://github.com/../app/pull/7":               "",
		"https://github.com/acme/pull/7":                 "",
		"acme/app#7":                                     "",
		"::":                                             "",
		"":                                               "",
	} {
		got, ok := parsePull(text, "https://github.com")
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%q is %v, %t; want %q", text, got, ok, want)
		}
	}
	if got, ok := parsePull("http://127.0.0.1:8080/gh/acme/app/pull/7", "http://127.0.0.1:8080/gh"); !ok || got != issue("app", 7) {
		t.Errorf("below a path: %v, %t", got, ok)
	}
}

// TestMentions: by REST a merged pull request is found by its mention in the issue's timeline, and
// one that only mentions the issue, or goes to another branch, closes nothing.
func TestMentions(t *testing.T) {
	pull := func(number, base, body string) string {
		return `{"number":` + number + `,"title":"x","state":"closed","merged_at":"2026-05-01T10:00:00Z","user":null,"body":"` + body + `",
			"html_url":"https://github.com/acme/lib/pull/` + number + `","head":{"ref":"f","repo":null},
			"base":{"ref":"` + base + `","repo":{"full_name":"acme/lib","default_branch":"trunk"}}}`
	}
	mention := func(number, body string) string {
		return `{"event":"cross-referenced","created_at":"2026-05-01T09:00:00Z","source":{"type":"issue","issue":{"number":` + number + `,
			"body":"` + body + `","pull_request":{},"repository":{"full_name":"acme/lib"}}}}`
	}
	answers := map[string]string{
		"/repos/acme/app/issues/1": `{"number":1,"title":"x","state":"open","comments":0,"labels":[],"html_url":"u",
			"repository_url":"https://api.github.com/repos/acme/app"}`,
		"/repos/acme/app/issues/1/comments": `[]`,
		"/repos/acme/app/issues/1/timeline": `[` + mention("2", "Closes acme/app#1") + `,` + mention("3", "About acme/app#1") + `,` +
			mention("2", "Closes acme/app#1") + `,` + mention("4", "Fixes https://github.com/acme/app/issues/1") + `,
			{"event":"reopened","created_at":"2026-05-01T08:00:00Z"},{"event":"commented","user":{"login":"x"}}]`,
		"/repos/acme/app/pulls": `[]`, "/repos/acme/lib/pulls/2": pull("2", "trunk", "Closes acme/app#1"),
		"/repos/acme/lib/pulls/4": pull("4", "release", "Fixes https://github.com/acme/app/issues/1"),
		"/user":                   `{"login":"bot"}`,
	}
	c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		if body, known := answers[r.URL.Path]; known {
			return reply(200, body), nil
		}
		if strings.HasSuffix(r.URL.Path, "/labels/agent:paused") || strings.HasSuffix(r.URL.Path, "/blocked_by") {
			return reply(404, "json"), nil
		}
		if r.URL.Path == "/repos/acme/app" {
			return reply(200, `{"full_name":"acme/app"}`), nil
		}
		t.Errorf("asked for %s", r.URL)
		return reply(404, "json"), nil
	}), byREST, func(o *Options) { o.Blockers.TextOff = true })
	f, err := c.Facts(t.Context(), issue("app", 1))
	if err != nil || len(f.PRs) != 1 {
		t.Fatalf("pull requests = %+v, %v; want lib#2", f.PRs, err)
	}
	if p := f.PRs[0]; p.String() != "acme/lib#2" || p.State != lifecycle.PRMerged || p.HeadRepo != "" || p.Author != ghost || !p.DefaultBase {
		t.Errorf("pull request = %+v", p)
	}
	if !f.ReopenedAt.Equal(*day("08:00:00")) || f.BlockersRead || c.has(featureDependencies) {
		t.Errorf("facts = %+v; want the reopening, and no blockers where the server has none", f)
	}
}

func TestFile(t *testing.T) {
	seed := world()
	seed.Repos[0].Files = map[string]string{".github/label-state.yml": "preset: agent\n", "odd #name?.txt": "x"}
	server, err := githubsim.New(seed, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, server.Transport())
	for path, want := range seed.Repos[0].Files {
		if got, err := c.File(t.Context(), repoOf("app"), path); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v; want %q", path, got, err, want)
		}
	}
	var gone *NotFoundError
	for _, path := range []string{"missing.yml", "../../../user", "a//b", ".", ""} {
		if _, err := c.File(t.Context(), repoOf("app"), path); !errors.As(err, &gone) {
			t.Errorf("%q: %v, want not found", path, err)
		}
	}
	if _, err := c.File(t.Context(), ledger.Repo{Owner: "acme", Name: "nowhere"}, "x"); !errors.As(err, &gone) {
		t.Errorf("missing repository: %v, want not found", err)
	}
	for _, body := range []string{`{"type":"file","encoding":"none","content":""}`, `{"type":"file","encoding":"base64","content":"!"}`, `[{"type":"file"}]`} {
		c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, body), nil }))
		var answer *AnswerError
		if _, err := c.File(t.Context(), repoOf("app"), "x"); !errors.As(err, &answer) {
			t.Errorf("%s: %v, want an unusable answer", body, err)
		}
	}
}
