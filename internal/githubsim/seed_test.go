package githubsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestBadSeeds: what LoadSeed or New refuses, and a word of why.
func TestBadSeeds(t *testing.T) {
	repo := func(inside string) string { return `{"repos":[{"name":"a/b",` + inside + `}]}` }
	for text, want := range map[string]string{
		``:                            "EOF",
		`{} {}`:                       "more than one",
		`{"user":[]}`:                 `unknown field "user"`,
		`{"users":[{"name":""}]}`:     `unknown field "name"`,
		`{"users":[{"login":"-x"}]}`:  "not a login",
		`{"users":[{"login":"a b"}]}`: "not a login",

		`{"users":[{"login":"x","token":"t"},{"login":"y","token":"t"}]}`:                "somebody else",
		`{"users":[{"login":"x","permissions":{"a/b":"read"}}]}`:                         `no repository "a/b"`,
		`{"users":[{"login":"x","permissions":{"a/b":"god"}}],"repos":[{"name":"a/b"}]}`: `permission "god"`,

		`{"repos":[{"name":"b"}]}`:                                                          "not owner/repo",
		`{"repos":[{"name":"a/.."}]}`:                                                       "not owner/repo",
		`{"repos":[{"name":"a/b"},{"name":"A/B"}]}`:                                         "there twice",
		repo(`"fork_of":"x/y"`):                                                             "no such repository",
		repo(`"labels":[{"name":"x","color":"red"}]`):                                       "color: invalid",
		repo(`"labels":[{"name":"x"},{"name":"X"}]`):                                        "name: already_exists",
		repo(`"issues":[{"number":1}]`):                                                     "title: missing_field",
		repo(`"issues":[{"number":1,"title":"t"},{"number":1,"title":"t"}]`):                "taken",
		repo(`"issues":[{"number":-1,"title":"t"}]`):                                        "negative",
		repo(`"issues":[{"title":"t","state":"merged"}]`):                                   "expected open or closed",
		repo(`"issues":[{"title":"t","assignee":"x"}]`):                                     "unknown field",
		repo(`"issues":[{"title":"t","comments":[{"body":""}]}]`):                           "comment",
		repo(`"issues":[{"title":"t","comments":[{"body":"x","created_at":"yesterday"}]}]`): "read seed",
		repo(`"pulls":[{"title":"t","head":"x:y"}]`):                                        "head: invalid",
		repo(`"pulls":[{"title":"t"}]`):                                                     "no head",
	} {
		seed, err := githubsim.LoadSeed(strings.NewReader(text))
		if err == nil {
			_, err = githubsim.New(seed, githubsim.Options{})
		}

		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// TestSeedDefaults: numbers, branches and times are filled in; a log of any age keeps its own.
func TestSeedDefaults(t *testing.T) {
	seed, err := githubsim.LoadSeed(strings.NewReader(`{"repos":[{"name":"a/b","issues":[
		{"title":"numberless"}, {"number":7,"title":"old","labels":["fresh"],
		 "comments":[{"author":"x","body":"c","created_at":"2026-05-01T19:42:33Z","updated_at":"2026-05-01T20:00:00Z"}]}],
		"pulls":[{"title":"merged","head":"h","merged":true,"merged_at":"2026-06-01T00:00:00Z"}]}]}`))
	must(t, err)
	s, err := githubsim.New(seed, githubsim.Options{})
	must(t, err)
	old, err := s.Issue("a/b", 7)
	must(t, err)
	if !old.CreatedAt.Equal(time.Date(2026, 5, 1, 19, 42, 33, 0, time.UTC)) ||
		!old.UpdatedAt.Equal(time.Date(2026, 5, 1, 20, 0, 0, 0, time.UTC)) ||
		strings.Join(old.Labels, " ") != "fresh" || old.Author != "a" {
		t.Errorf("old issue: %+v", old)
	}

	list, err := s.Comments("a/b", 7)
	must(t, err)
	if len(list) != 1 || list[0].Editor != "x" || list[0].ID != 2_200_000_001 {
		t.Errorf("comments: %+v", list)
	}

	pull, err := s.Issue("a/b", 8)
	must(t, err)
	if !pull.Merged || pull.State != "closed" {
		t.Errorf("pull request: %+v", pull)
	}

	if last, err := s.Issue("a/b", 9); err != nil || last.Title != "numberless" {
		t.Errorf("the one without a number: %+v %v", last, err)
	}
	repo := send(t, s, "", "GET /repos/a/b", "").json(t)
	if repo["default_branch"] != "main" || field(repo, "owner.type") != "Organization" {
		t.Errorf("repository: %v %v", repo["default_branch"], field(repo, "owner.type"))
	}
}
