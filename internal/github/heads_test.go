package github

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// forked has acme/app with its fork rob/app, and pull requests from branches of both.
func forked() githubsim.Seed {
	hold := []githubsim.SeedComment{{
		Author: "bot", CreatedAt: day("10:00:00"),
		Body: "<!-- agent-claim:codename=drake firing_id=d1 nonce=n ttl=none state=held -->",
	}}
	pull := func(number int, head, base string) githubsim.SeedPull {
		return githubsim.SeedPull{SeedIssue: githubsim.SeedIssue{
			Number:   number,
			Title:    head,
			Author:   "bot",
			Comments: hold,
		}, Head: head, Base: base}
	}

	closed := pull(14, "fix", "v4")
	closed.State = "closed"
	crowd := []githubsim.SeedPull{
		pull(11, "fix", "main"), pull(12, "rob:fix", "main"),
		pull(13, "rob:theirs", "main"), closed,
	}
	for n := range pullsPerHead + 1 {
		crowd = append(crowd, pull(20+n, "crowded", fmt.Sprintf("v%d", n)))
	}

	return githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login:       "bot",
			Token:       "tok-bot",
			Permissions: map[string]string{"acme/app": "write", "rob/app": "write"},
			Scopes:      []string{"repo"},
		}},
		Repos: []githubsim.SeedRepo{
			{Name: "acme/app", Pulls: crowd},
			{Name: "rob/app", ForkOf: "acme/app", Pulls: []githubsim.SeedPull{pull(5, "fix", "main")}},
		},
	}
}

// TestHoldersOfHeads: only the open pull requests from the branch of that very repository count, in
// one request.
func TestHoldersOfHeads(t *testing.T) {
	app, fork := repoOf("app"), claim.Repo{Owner: "rob", Name: "app"}
	everyone := []string{}
	for n := range pullsPerHead + 1 {
		everyone = append(everyone, fmt.Sprintf("crowded acme/app#%d held", 20+n))
	}

	for _, c := range []struct {
		name       string
		home, head claim.Repo
		branches   []string
		want       []string
		requests   int
	}{
		{"own branch", app, app, []string{"fix", "none"}, []string{"fix acme/app#11 held"}, 1},
		{"no pull request", app, app, []string{"none"}, nil, 1},
		{"other spelling", app, claim.Repo{Owner: "Rob", Name: "APP"}, []string{"fix"}, []string{"fix acme/app#12 held"}, 1},
		{
			"fork, asked of its upstream", app, fork,
			[]string{"fix", "theirs"},
			[]string{"fix acme/app#12 held", "theirs acme/app#13 held"},
			1,
		},
		{
			"fork", fork, fork,
			[]string{"fix", "theirs"},
			[]string{"fix acme/app#12 elsewhere", "fix rob/app#5 held", "theirs acme/app#13 elsewhere"},
			1,
		},
		{
			"more than one query shows", app, app,
			[]string{"fix", "crowded"},
			append(slices.Clone(everyone), "fix acme/app#11 held"), 0,
		},
		{
			"many branches", app, app, append(slices.Repeat([]string{"none"}, headsPerQuery), "fix"),
			[]string{"fix acme/app#11 held"},
			2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, err := githubsim.New(forked(), githubsim.Options{})
			if err != nil {
				t.Fatal(err)
			}

			w := watched(server.Transport())
			found, err := connect(t, w).HoldersOfHeads(t.Context(), c.home, c.head, c.branches)
			if err != nil {
				t.Fatal(err)
			}

			var got []string
			for _, h := range found {
				what := "free"
				switch {
				case h.Err != nil:
					what = h.Err.Error()
				case h.Elsewhere:
					what = "elsewhere"
				case len(h.Facts.Log.Live()) == 1 && h.Facts.PullRequest && h.Facts.Open:
					what = "held"
				}

				got = append(got, fmt.Sprintf("%s %s %s", h.Branch, h.Pull, what))
			}

			slices.Sort(got)
			if slices.Sort(c.want); !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}

			if c.requests > 0 && len(w.sent) != c.requests {
				t.Errorf("asked %q, want %d requests", w.sent, c.requests)
			}
		})
	}
}

// TestHoldersOfHeadsUnread: what cannot be read is an error, never no pull request.
func TestHoldersOfHeadsUnread(t *testing.T) {
	server, err := githubsim.New(forked(), githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for what, home := range map[string]claim.Repo{
		"absent repository": {Owner: "acme", Name: "gone"},
		"no name":           {Owner: "acme", Name: ".."},
	} {
		if found, err := connect(t, server.Transport()).HoldersOfHeads(t.Context(), home, home,
			[]string{"fix"}); err == nil {
			t.Errorf("%s: %v", what, found)
		}
	}

	server.Fault = func(r *http.Request) *githubsim.Fault {
		if r.URL.Path == "/repos/acme/app/pulls" {
			return &githubsim.Fault{Status: http.StatusNotFound}
		}
		return nil
	}
	fork := claim.Repo{Owner: "rob", Name: "app"}
	_, err = connect(t, server.Transport()).HoldersOfHeads(t.Context(), fork, fork, []string{"crowded"})
	if gone, is := errors.AsType[*NotFoundError](err); !is || gone.What != repository(repoOf("app")) {
		t.Errorf("hidden parent: %v, want it named", err)
	}

	server.Fault = func(r *http.Request) *githubsim.Fault { return &githubsim.Fault{Status: http.StatusForbidden} }
	if found, err := connect(t, server.Transport()).HoldersOfHeads(t.Context(), repoOf("app"), repoOf("app"),
		[]string{"fix"}); err == nil {
		t.Errorf("forbidden: %v", found)
	}
}

// TestHeadsOfRenamed: a clone that pushes to a repository's old name finds the pull requests of its
// branches.
func TestHeadsOfRenamed(t *testing.T) {
	server, err := githubsim.New(forked(), githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if err := server.RenameRepo("acme/app", "application"); err != nil {
		t.Fatal(err)
	}
	app := repoOf("app")
	for branch, pulls := range map[string]int{"fix": 1, "crowded": pullsPerHead + 1} {
		found, err := connect(t, server.Transport()).HoldersOfHeads(t.Context(), app, app, []string{branch})
		if err != nil || len(found) != pulls {
			t.Errorf("%s: %v %v, want %d pull requests", branch, found, err, pulls)
		}
	}
}

// TestHeadsOnce: a pull request into the parent is found once, also where the fork has more from
// branches of that name than a query shows.
func TestHeadsOnce(t *testing.T) {
	seed := forked()
	fork := &seed.Repos[1]
	for n := range pullsPerHead + 1 {
		p := fork.Pulls[0]
		p.Number, p.Head, p.Base = 100+n, "theirs", "w"+string(rune('a'+n))
		fork.Pulls = append(fork.Pulls, p)
	}

	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	rob := repoOf("app")
	rob.Owner = "rob"
	found, err := connect(t, server.Transport(), func(*Options) {}).HoldersOfHeads(t.Context(), rob, rob,
		[]string{"theirs"})
	if err != nil {
		t.Fatal(err)
	}

	seen := map[string]int{}
	for _, h := range found {
		seen[h.Pull.String()]++
		if elsewhere := h.Pull.In() != rob; h.Elsewhere != elsewhere || (h.Facts.Title == "") != elsewhere {
			t.Errorf("%s: elsewhere %t, title %q", h.Pull, h.Elsewhere, h.Facts.Title)
		}
	}

	if seen["acme/app#13"] != 1 {
		t.Errorf("acme/app#13 is there %d times", seen["acme/app#13"])
	}
}

// TestHeadsAskedAgain: what was found before a list was too much is found once, though all of it is
// asked for again in halves.
func TestHeadsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := githubsim.New(forked(), githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}

		queries := 0
		c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/graphql" {
				queries++
			} else if r.URL.Path == "/repos/acme/app/pulls" && queries == 1 {
				return reply(http.StatusBadGateway, "json"), nil
			}
			return server.Transport().RoundTrip(r)
		}))
		found, err := c.HoldersOfHeads(t.Context(), repoOf("app"), repoOf("app"), []string{"fix", "crowded"})
		if err != nil || len(found) != 1+pullsPerHead+1 || queries < 3 {
			t.Errorf("found %d pull requests by %d queries, %v; want each once", len(found), queries, err)
		}
	})
}
