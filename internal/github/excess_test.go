package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestExcessivePulls: an open pull request that names more issues than it may move is for none of
// them; three by anybody, twenty by those whose records count. Roles are asked only where they
// matter: of those whom GitHub calls no collaborators, and of those who name more than three.
func TestExcessivePulls(t *testing.T) {
	for _, c := range []struct {
		author        string
		issues, asked int
		moves         bool
	}{
		{"mal", 3, 1, true},
		{"mal", 4, 1, false},
		{"tia", 4, 1, true},
		{"tia", 20, 1, true},
		{"tia", 21, 0, false},
		{"wes", 21, 0, false},
		{"renovate[bot]", 3, 0, true},
		{"renovate[bot]", 4, 0, false}, // an App is not a stranger, and its records do not count
	} {
		seed := githubsim.Seed{
			Users: []githubsim.SeedUser{
				{Login: "wes", Token: "tok-wes", Permissions: map[string]string{"acme/app": "write"}},
				{Login: "tia", Token: "tok-tia", Permissions: map[string]string{"acme/app": "triage"}},
			},
			Repos: []githubsim.SeedRepo{{Name: "acme/app", DefaultBranch: "main"}},
		}
		var closes []string
		for n := range c.issues {
			seed.Repos[0].Issues = append(seed.Repos[0].Issues, githubsim.SeedIssue{
				Number: n + 1,
				Title:  "Work",
				Author: "wes",
				Labels: []string{"agent:implement"},
			})
			closes = append(closes, fmt.Sprintf("closes #%d, closes #%d", n+1, n+1))
		}

		seed.Repos[0].Pulls = []githubsim.SeedPull{{SeedIssue: githubsim.SeedIssue{
			Number: 100,
			Title:  "All of it",
			Author: c.author,
			Body:   strings.Join(closes, "\n"),
		}, Head: "x", Base: "main"}}
		server, err := githubsim.New(seed, githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}

		sent := watched(server.Transport())
		f, err := connect(t, sent, as("tok-wes")).Facts(t.Context(), issue("app", 1))
		if err != nil {
			t.Fatal(err)
		}

		if moves := len(f.PRs) == 1; moves != c.moves || len(f.Excessive) != 1-len(f.PRs) {
			t.Errorf("%d issues by %s: moves %t, %v", c.issues, c.author, moves, f.Excessive)
		}

		if n := asked(sent); n != c.asked {
			t.Errorf("%d issues by %s: %d roles asked, want %d", c.issues, c.author, n, c.asked)
		}

		// named by a release that counts it stays, also for who only asks who holds the issue
		for _, text := range []string{
			"<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=1800 state=held hb=0 -->",
			"<!-- agent-release:codename=lucius firing_id=f1 outcome=success pr=https://github.com/acme/app/pull/100 -->",
		} {
			if _, err := server.AddComment("acme/app", 1, "tia", text); err != nil {
				t.Fatal(err)
			}
		}

		client := connect(t, server.Transport(), as("tok-wes"))
		got := client.HoldersOf(t.Context(), []claim.Issue{issue("app", 1)})[0]
		f, err = client.Facts(t.Context(), issue("app", 1))
		if err != nil || got.Err != nil || len(f.PRs) != 1 || len(got.Facts.PRs) != 1 {
			t.Errorf("%d issues by %s, named by a release: %v, %v; who holds it: %v, %v", c.issues, c.author,
				f.PRs, err, got.Facts.PRs, got.Err)
		}
	}
}

// crowdedQueue is a repository with so many issues in the queue and pull requests of these authors,
// each naming three issues of its own; the last has "in" before it where it is of acme/lib.
func crowdedQueue(t *testing.T, authors ...string) *githubsim.Server {
	t.Helper()
	seed := githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "wes", Token: "tok-wes", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "tia", Token: "tok-tia", Permissions: map[string]string{"acme/app": "triage"}},
		},
		Repos: []githubsim.SeedRepo{
			{Name: "acme/app", DefaultBranch: "main"},
			{Name: "acme/lib", DefaultBranch: "main"},
		},
	}
	app := &seed.Repos[0]
	for n, author := range authors {
		var closes []string
		for k := range 3 {
			number := 3*n + k + 1
			app.Issues = append(app.Issues, githubsim.SeedIssue{
				Number: number,
				Title:  "Work",
				Author: "wes",
				Labels: []string{"agent:implement"},
			})
			closes = append(closes, fmt.Sprintf("closes acme/app#%d", number))
		}

		author, elsewhere := strings.CutSuffix(author, " in acme/lib")
		repo := app
		if elsewhere {
			repo = &seed.Repos[1]
		}

		repo.Pulls = append(repo.Pulls, githubsim.SeedPull{
			SeedIssue: githubsim.SeedIssue{
				Number: 1000 + n,
				Title:  "Fix",
				Author: author,
				Body:   strings.Join(closes, "\n"),
			}, Head: fmt.Sprint("x", n), Base: "main",
		})
	}

	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

// TestStrangersTogether: all open pull requests of a stranger together move no more issues than one
// may, the oldest first; those of others and of Apps are not counted together, and a stranger's in
// another repository moves none here.
func TestStrangersTogether(t *testing.T) {
	mals := slices.Repeat([]string{"mal"}, 30)
	many := make([]string, 120)
	for n := range many {
		many[n] = fmt.Sprint("account-", n)
	}

	for _, c := range []struct {
		name    string
		authors []string
		moves   []bool // by pull request, as far as given; the rest as the last
		asked   int    // requests for roles and for what else the authors have open
	}{
		{"one stranger", mals, []bool{true, false}, 2},
		{"two strangers", []string{"mal", "rob", "mal", "rob"}, []bool{true, true, false, false}, 1},
		{"many strangers", many[:30], []bool{true}, 1},
		{"more than on a page", append([]string{"mal", "mal"}, many...), []bool{true, false, true}, 2},
		{"many strangers beside one", append([]string{"mal", "mal"}, many[:9]...), []bool{true, false, true}, 1},
		{"a triager", []string{"tia", "tia", "tia"}, []bool{true}, 0},
		{"oneself", []string{"wes", "wes", "wes"}, []bool{true}, 0},
		{"an App", []string{"bot[bot]", "bot[bot]", "bot[bot]"}, []bool{true}, 0},
		{"elsewhere", []string{"mal in acme/lib", "mal"}, []bool{false, true}, 2},
		{"elsewhere, a triager", []string{"tia in acme/lib", "tia in acme/lib"}, []bool{true}, 1},
	} {
		sent := watched(crowdedQueue(t, c.authors...).Transport())
		var issues []claim.Issue
		for n := range c.authors {
			issues = append(issues, issue("app", 3*n+2))
		}

		client := connect(t, sent, as("tok-wes"))
		client.FactsOf(t.Context(), issues) // whose answers are remembered for a while
		for n, r := range client.FactsOf(t.Context(), issues) {
			want := c.moves[min(n, len(c.moves)-1)]
			if r.Err != nil || (len(r.Facts.PRs) == 1) != want || len(r.Facts.PRs)+len(r.Facts.Excessive) != 1 {
				t.Errorf("%s: pull request %d: %v, %v, %v; want that it moves them: %t", c.name, n, r.Facts.PRs,
					r.Facts.Excessive, r.Err, want)
			}

			for _, p := range r.Facts.PRs {
				if p.Stranger != (p.Author == "mal" || p.Author == "rob" || strings.HasPrefix(p.Author, "account-")) {
					t.Errorf("%s: %s of %s: stranger %t", c.name, p, p.Author, p.Stranger)
				}
			}

			for _, e := range r.Facts.Excessive {
				if want := "names 3 issues; with the 3 of the older open pull requests of " + e.PR.Author +
					" that is more than the 3 they may move together"; e.Most > 0 &&
					!strings.Contains(e.String(), want) {
					t.Error(e)
				}
			}
		}

		n := asked(sent)
		for _, one := range sent.sent {
			if one == "GET /repos/acme/app/issues" || one == "GET /repos/acme/app/pulls" {
				n++
			}
		}

		if n > c.asked {
			t.Errorf("%s: %d requests for roles and pull requests, want %d: %q", c.name, n, c.asked, sent.sent)
		}
	}
}

// TestStrangersAgain: what else a stranger has open is remembered for a minute, and no longer.
func TestStrangersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := crowdedQueue(t, "mal", "mal")
		client := connect(t, server.Transport(), as("tok-wes"))
		for _, moves := range []int{0, 1} {
			f, err := client.Facts(t.Context(), issue("app", 4))
			if err != nil || len(f.PRs) != moves {
				t.Errorf("moved by %v, %v; want %d", f.PRs, err, moves)
			}

			if moves == 0 {
				if err := server.Close("acme/app", 1000, "mal"); err != nil {
					t.Fatal(err)
				}
			}

			time.Sleep(crowdLasts)
		}
	})
}

// TestStrangersOneByOne: what one stranger has open, however much that is, takes one request, also
// beside another of whom it is known.
func TestStrangersOneByOne(t *testing.T) {
	sent := watched(crowdedQueue(t, "mal", "mal", "rob").Transport())
	client := connect(t, sent, as("tok-wes"))
	for n, numbers := range [][]int{{2, 5}, {2, 8}} {
		client.FactsOf(t.Context(), []claim.Issue{issue("app", numbers[0]), issue("app", numbers[1])})
		own, all := sent.like("GET /repos/acme/app/issues"), sent.like("GET /repos/acme/app/pulls")
		if own != n+1 || all > 0 {
			t.Errorf("%d requests for what one has open and %d for all, want %d and none: %q", own, all, n+1, sent.sent)
		}
	}
}

// TestStrangersUnknown: where GitHub does not say what else a stranger has open, or what role
// somebody has, a pull request stands.
func TestStrangersUnknown(t *testing.T) {
	for _, what := range []string{"/issues", "/permission"} {
		server := crowdedQueue(t, "mal", "mal")
		server.Fault = func(r *http.Request) *githubsim.Fault {
			if strings.HasSuffix(r.URL.Path, what) {
				return &githubsim.Fault{
					Status: 403, Header: http.Header{"Content-Type": {"application/json"}},
					Body: `{"message":"Resource not accessible"}`,
				}
			}
			return nil
		}

		f, err := connect(t, server.Transport(), as("tok-wes")).Facts(t.Context(), issue("app", 4))
		if err != nil || len(f.PRs) != 1 || len(f.Excessive) != 0 {
			t.Errorf("%s refused: %v, %v, %v; want that it stands", what, f.PRs, f.Excessive, err)
		}
	}
}

// TestNamedFarBehind: an issue that stands behind more than a thousand others in a description is
// closed by it all the same.
func TestNamedFarBehind(t *testing.T) {
	var far strings.Builder
	for n := range closing.Limit + 500 {
		fmt.Fprintf(&far, "closes #%d\n", 10_000+n)
	}

	w := world()
	lib := &w.Repos[1].Pulls[0]
	lib.Body = far.String() + "closes acme/app#4"
	server, err := githubsim.New(w, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	c := connect(t, server.Transport())
	f, err := c.Facts(t.Context(), issue("app", 4))
	if err != nil {
		t.Fatal(err)
	}

	at := slices.IndexFunc(f.PRs, func(p lifecycle.PR) bool { return p.Repo == "acme/lib" && p.Number == 2 })
	if at < 0 || f.PRs[at].Bare {
		t.Errorf("%+v; want that its description closes the issue", f.PRs)
	} else if p, err := c.PullAt(t.Context(), f.PRs[at].URL, issue("app", 4)); err != nil || p.Bare {
		t.Errorf("asked for by its address: %+v, %v; want that its description closes the issue", p, err)
	}

	// as of one that a release names, while GitHub's own list of what it closes is late
	if !closes(issue("lib", 2), lib.Body, issue("app", 4), "https://github.com") {
		t.Error("its description does not close the issue")
	}
}
