package github

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
)

func TestPull(t *testing.T) {
	server := simulated(t)
	for range 3 {
		if _, err := server.AddComment("acme/app", 7, "mal", "nice"); err != nil {
			t.Fatal(err)
		}
	}

	c := connect(t, server.Transport())
	p, err := c.Pull(t.Context(), repoOf("app"), 7)
	if err != nil || p.State != lifecycle.PROpened || p.Head != "fix" || !p.DefaultBase || p.Body != "Closes #3" ||
		p.Comments != 3 || p.Outside() {
		t.Errorf("pull request = %+v, %v", p, err)
	}

	if want := []claim.Issue{issue("app", 3)}; !slices.Equal(p.Closes, want) {
		t.Errorf("closes %v, want %v", p.Closes, want)
	}
	var gone *NotFoundError
	for _, n := range []int{1, 404, 0, 1 << 40} {
		if _, err := c.Pull(t.Context(), repoOf("app"), n); !errors.As(err, &gone) || gone.What.Name == "" {
			t.Errorf("%d: %v, want not found", n, err)
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

	if got, ok := parsePull("http://127.0.0.1:8080/gh/acme/app/pull/7", "http://127.0.0.1:8080/gh"); !ok ||
		got != issue("app", 7) {
		t.Errorf("below a path: %v, %t", got, ok)
	}
}

func TestFile(t *testing.T) {
	seed := world()
	seed.Repos[0].Files = map[string]string{".github/label-state.yml": "preset: agent\n", "odd #name?.txt": "x"}
	server, err := githubsim.New(seed, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	sent := watched(server.Transport())
	c := connect(t, sent)
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

	if len(sent.sent) != len(seed.Repos[0].Files)+1 {
		t.Errorf("sent %q, want no request for what is not a path", sent.sent)
	}

	if _, err := c.File(t.Context(), claim.Repo{Owner: "acme", Name: "nowhere"}, "x"); !errors.As(err, &gone) {
		t.Errorf("missing repository: %v, want not found", err)
	}

	for _, body := range []string{
		`{"type":"file","encoding":"none","content":""}`,
		`{"type":"file","encoding":"base64","content":"!"}`, `[{"type":"file"}]`,
	} {
		c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, body), nil }))
		var answer *AnswerError
		if _, err := c.File(t.Context(), repoOf("app"), "x"); !errors.As(err, &answer) {
			t.Errorf("%s: %v, want an unusable answer", body, err)
		}
	}

	c = connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(403, `{}`), nil }))
	var denied *PermissionError
	if _, err := c.File(t.Context(), repoOf("app"), "x"); !errors.As(err, &denied) || denied.Needs != "contents: read" {
		t.Errorf("not permitted: %+v", err)
	}
}

// TestPartsOfAChain: the pull requests of a branch are told with their state, merged apart from
// closed, and with nothing of another branch or of a fork's, whatever GitHub answers.
func TestPartsOfAChain(t *testing.T) {
	server := simulated(t)
	if err := server.AddLabels("acme/lib", 2, "bot", "bug"); err != nil {
		t.Fatal(err)
	}

	c := connect(t, server.Transport())
	all, err := c.PullsFrom(t.Context(), "acme/lib", "feature")
	if err != nil || len(all) != 1 || all[0].State != prchain.Merged || all[0].Base != "trunk" ||
		all[0].ID != (claim.Issue{Owner: "acme", Repo: "lib", Number: 2}) || !slices.Equal(all[0].Labels, []string{"bug"}) {
		t.Errorf("the branch's = %+v, %v", all, err)
	}

	one, err := c.ReadPull(t.Context(), issue("app", 7))
	if err != nil || one.State != "open" || one.Title != "Fix it" || one.Body != "Closes #3" || one.URL == "" {
		t.Errorf("#7 = %+v, %v", one, err)
	}

	const odd = "fix/a&state=open+c#1%20"
	number, err := server.OpenPull("acme/lib", "bot", githubsim.Pull{Title: "Odd", Head: odd})
	if err != nil {
		t.Fatal(err)
	}

	all, err = c.PullsFrom(t.Context(), "acme/lib", odd)
	if err != nil || len(all) != 1 || all[0].ID.Number != number {
		t.Errorf("of %s: %+v, %v, want #%d", odd, all, err, number)
	}

	for _, change := range [][2]string{
		{`"ref":"feature"`, `"ref":"feature-2"`},
		{`"full_name":"acme/lib"`, `"full_name":"eve/lib"`},
	} {
		transport := altered(server.Transport(), func(body []byte) []byte { // in the head, which comes after the base
			at := max(bytes.LastIndex(body, []byte(change[0])), 0)
			return append(body[:at:at], bytes.Replace(body[at:], []byte(change[0]), []byte(change[1]), 1)...)
		})

		all, err := connect(t, transport).PullsFrom(t.Context(), "acme/lib", "feature")
		if err != nil || len(all) != 0 {
			t.Errorf("%s: %+v, %v, want none", change[1], all, err)
		}
	}
}

// TestOpenPullAnswer: an answer that is no pull request says that one may be open all the same.
func TestOpenPullAnswer(t *testing.T) {
	for _, change := range [][2]string{{`"number":`, `"n":`}, {`"ref":"main"`, `"ref":""`}} {
		c := connect(t, spoiled(simulated(t).Transport(), change[0], change[1]))
		_, err := c.OpenPull(t.Context(), "acme/app", prchain.Proposal{Title: "Part", Branch: "part", Base: "main"})
		var odd *AnswerError
		if !errors.As(err, &odd) || lease.Rejected(err) {
			t.Errorf("%s: %v, want an answer that leaves it open", change[1], err)
		}
	}
}
