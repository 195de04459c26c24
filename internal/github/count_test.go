package github

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/sample"
)

// crowd is three repositories with so many issues in flight each, claimed by the bot itself.
func crowd(t *testing.T, each int) *githubsim.Server {
	t.Helper()
	seed := githubsim.Seed{Users: []githubsim.SeedUser{{Login: "bot", Token: "tok-bot"}}}
	permissions := map[string]string{}
	for _, name := range []string{"acme/app", "acme/lib", "acme/tools"} {
		permissions[name] = "admin"
		repo := githubsim.SeedRepo{Name: name}
		for n := 1; n <= each; n++ {
			at := day("08:00:00").Add(time.Duration(n*7919%each) * time.Second)
			repo.Issues = append(repo.Issues, githubsim.SeedIssue{
				Number:    n,
				Title:     fmt.Sprint("Issue ", n),
				Author:    "bot",
				Labels:    []string{"agent:in-flight"},
				CreatedAt: &at,
				UpdatedAt: &at,
				Comments: []githubsim.SeedComment{{
					Author: "bot", CreatedAt: &at,
					Body: fmt.Sprintf("<!-- agent-claim:codename=c firing_id=f%d nonce=n ttl=1800 state=held -->", n),
				}},
			})
		}

		seed.Repos = append(seed.Repos, repo)
	}

	seed.Users[0].Permissions = permissions
	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

// TestFiftyIssuesOneRequest is the hook's target: a push waits for it.
func TestFiftyIssuesOneRequest(t *testing.T) {
	sent := watched(crowd(t, 20).Transport())
	c := connect(t, sent)
	var issues []claim.Issue
	for n := range 50 {
		issues = append(issues, issue([]string{"app", "lib", "tools"}[n%3], n/3+1))
	}

	for k, r := range c.FactsOf(t.Context(), issues) {
		if r.Err != nil || r.Facts.Issue != issues[k] || len(r.Facts.Log.Live()) != 1 || r.Facts.Viewer != "bot" {
			t.Fatalf("%s: %v, %+v", issues[k], r.Err, r.Facts)
		}
	}

	if len(sent.sent) != 1 || sent.like("POST /graphql") != 1 {
		t.Errorf("sent %q, want one query", sent.sent)
	}
	c.FactsOf(t.Context(), append(issues, issues[0]))
	if n := len(sent.sent); n != 3 {
		t.Errorf("51 issues more took %d requests, want 2", n-1)
	}
}

// TestClaimRequests: what a claim does costs what the table of targets says.
func TestClaimRequests(t *testing.T) {
	sent := watched(simulated(t).Transport())
	c := connect(t, sent)
	ctx, i := t.Context(), issue("app", 1)
	read := func() {
		if _, err := c.Facts(ctx, i); err != nil {
			t.Fatal(err)
		}
	}

	read()
	m, err := c.Comment(ctx, i, "<!-- agent-claim:codename=c firing_id=f nonce=n ttl=1800 -->")
	if err != nil || m.ID <= 1<<31 || m.Author != "bot" || !m.Trusted || m.Created.IsZero() || m.URL == "" {
		t.Fatalf("comment = %+v, %v", m, err)
	}

	read()
	if _, err := c.EditComment(ctx, i, m.ID,
		"<!-- agent-claim:codename=c firing_id=f nonce=n ttl=1800 state=held hb=0 -->"); err != nil {
		t.Fatal(err)
	}

	read()
	if err := c.AddLabel(ctx, i, "agent:in-flight"); err != nil {
		t.Fatal(err)
	}

	if err := c.RemoveLabel(ctx, i, "agent:implement"); err != nil {
		t.Fatal(err)
	}

	if n := len(sent.sent); n > 8 {
		t.Errorf("%d requests, want at most 8: %q", n, sent.sent)
	}
}

func scan(t *testing.T, c *Client, r claim.Repo, since time.Time) []lifecycle.Facts {
	t.Helper()
	var out []lifecycle.Facts
	for f, err := range c.Scan(t.Context(), r, since) {
		if err != nil {
			t.Fatalf("%s: %v", f.Issue, err)
		}
		out = append(out, f)
	}

	return out
}

// TestScanRequests is the sweep's target: a thousand issues in flight, at most twelve requests.
func TestScanRequests(t *testing.T) {
	for _, each := range []int{0, 1, 101, sample.Size(100, 1000)} {
		sent := watched(crowd(t, each).Transport())
		c := connect(t, sent, patient)
		found := scan(t, c, repoOf("lib"), time.Time{})
		if len(found) != each {
			t.Errorf("found %d issues, want %d", len(found), each)
		}

		seen := map[int]bool{}
		for _, f := range found {
			if seen[f.Issue.Number] || len(f.Log.Live()) != 1 {
				t.Fatalf("%s: seen before or without its claim", f.Issue)
			}
			seen[f.Issue.Number] = true
		}

		if n := len(sent.sent); n != max(1, (each+99)/100) {
			t.Errorf("%d issues took %d requests: %q", each, n, sent.sent)
		}
	}
}

// TestScanOrder: oldest change first, each issue once, strangers left out, and pull requests that
// no label says are held; of those that have ended, the ones that changed.
func TestScanOrder(t *testing.T) {
	one := func(n int, updated string, names ...string) githubsim.SeedIssue {
		return githubsim.SeedIssue{
			Number:    n,
			Title:     "x",
			Author:    "bot",
			Labels:    names,
			CreatedAt: day("01:00:00"),
			UpdatedAt: day(updated),
		}
	}

	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login: "bot", Token: "tok-bot",
			Permissions: map[string]string{"acme/app": "admin"},
		}},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{
			one(1, "05:00:00", "agent:implement"), one(2, "03:00:00", "agent:in-flight", "agent:implement"),
			one(3, "04:00:00", "agent:done"),
			one(4, "06:00:00"), one(5, "02:00:00"), one(6, "06:30:00", "AGENT:PR-OPEN"),
		}, Pulls: []githubsim.SeedPull{
			{SeedIssue: one(7, "06:10:00", "agent:in-flight"), Head: "x"},
			{SeedIssue: one(8, "06:20:00", "agent:implement"), Head: "y"},
			{SeedIssue: one(9, "06:15:00", "do-not-pickup"), Head: "z", Merged: true, MergedAt: day("06:15:00")},
		}}},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, server.Transport())
	for since, want := range map[time.Time][]int{{}: {2, 3, 1, 7, 6}, *day("05:30:00"): {2, 3, 1, 4, 7, 9, 6}} {
		var numbers []int
		for _, f := range scan(t, c, repoOf("app"), since) {
			numbers = append(numbers, f.Issue.Number)
		}

		if !slices.Equal(numbers, want) {
			t.Errorf("since %s: scanned %v, want %v", since, numbers, want)
		}
	}
}

// TestScanGoesOn: one issue that cannot be read is reported with its name; a repository that
// cannot be read ends the scan.
func TestScanGoesOn(t *testing.T) {
	server := crowd(t, 3)
	c := connect(t, spoiled(server.Transport(), `"data":{`,
		`"errors":[{"type":"FORBIDDEN","message":"x","path":["r0","s1","nodes",1,"labels"]}],"data":{`))
	good, bad := 0, 0
	for f, err := range c.Scan(t.Context(), repoOf("app"), time.Time{}) {
		switch {
		case err == nil:
			good++
		case f.Issue == issue("app", 2):
			bad++
		default:
			t.Errorf("error without an issue: %v", err)
		}
	}

	if good != 2 || bad != 1 {
		t.Errorf("%d read and %d reported, want 2 and 1", good, bad)
	}

	for f, err := range c.Scan(t.Context(), repoOf("nowhere"), time.Time{}) {
		if err == nil || f.Issue.Number != 0 {
			t.Errorf("nowhere: %+v, %v; want an error for all", f, err)
		}
	}

	for _, part := range []string{`"s1","nodes",1`, `"pulls0"`} { // an issue, and a list, of which nothing was shown
		c := connect(t, spoiled(server.Transport(), `"data":{`,
			`"errors":[{"type":"NOT_FOUND","message":"x","path":["r0",`+part+`]}],"data":{`))
		for f, err := range c.Scan(t.Context(), repoOf("app"), time.Time{}) {
			if err == nil {
				t.Errorf("%s: read %s, want an error for all", part, f.Issue)
			}
		}
	}
}

// TestSpoken: fifty pull requests are one request, and one more for the texts of what we have said
// under them. What somebody else has said with the mark, what we have said without, and what is not
// there are not found.
func TestSpoken(t *testing.T) {
	server := simulated(t)
	const mark = "<!-- label-state:guard -->"
	for _, said := range []struct {
		login, text string
		number      int
	}{{"tia", mark + " no", 1}, {"bot", "no " + mark, 1}, {"bot", mark + " no", 2}, {"bot", mark + " twice", 2}} {
		if _, err := server.AddComment("acme/app", said.number, said.login, said.text); err != nil {
			t.Fatal(err)
		}
	}

	sent := watched(server.Transport())
	c := connect(t, sent, as("tok-bot"))
	got, err := c.Spoken(t.Context(), claim.Repo{Owner: "acme", Name: "app"}, []int{1, 2, 3, 9999}, mark)
	if err != nil || !slices.Equal(got, []int{2}) {
		t.Errorf("%v, %v; want 2", got, err)
	}

	if len(sent.sent) != 2 {
		t.Errorf("%d requests, want 2: %v", len(sent.sent), sent.sent)
	}
}
