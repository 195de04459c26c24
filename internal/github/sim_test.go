package github

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

const (
	testREST    = "https://api.github.com/"
	testGraphQL = "https://api.github.com/graphql"
)

// day is a moment of the first of May 2026.
func day(clock string) *time.Time {
	t, err := time.Parse(time.RFC3339, "2026-05-01T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return &t
}

// world is two repositories with an issue for everything that facts can say.
func world() githubsim.Seed {
	claimBy := func(name, more string) string {
		return "<!-- agent-claim:codename=" + name + " firing_id=f-" + name +
			" ts=2026-05-01T10:00:00Z nonce=n1 ttl=1800 " + more + "-->\nclaimed"
	}

	release := func(name, more string) string {
		return "<!-- agent-release:codename=" + name + " firing_id=f-" + name + " " + more +
			" ts=2026-05-01T11:00:00Z -->"
	}

	talk := func(n int) []githubsim.SeedComment {
		var out []githubsim.SeedComment
		for range n {
			out = append(out, githubsim.SeedComment{Author: "mal", Body: "any news?", CreatedAt: day("09:00:00")})
		}
		return out
	}

	return githubsim.Seed{
		Users: []githubsim.SeedUser{
			{
				Login:       "bot",
				Token:       "tok-bot",
				Permissions: map[string]string{"acme/app": "admin", "acme/lib": "admin", "acme/tools": "write"},
				Scopes:      []string{"repo"},
			},
			{Login: "tia", Token: "tok-tia", Permissions: map[string]string{"acme/app": "triage"}},
			{Login: "rob", Token: "tok-rob", Permissions: map[string]string{"acme/app": "read"}},
			{Login: "mal", Token: "tok-mal"},
			{Login: "github-actions[bot]", Token: "tok-ci", Permissions: map[string]string{"acme/app": "write"}},
		},
		Repos: []githubsim.SeedRepo{
			{
				Name:          "acme/app",
				DefaultBranch: "main",
				Labels:        []githubsim.SeedLabel{{Name: "bug", Color: "ff0000"}},
				Issues: []githubsim.SeedIssue{
					{
						Number: 1,
						Title:  "Nobody's yet",
						Author: "bot",
						Labels: []string{"agent:implement", "bug"},
					},
					{
						Number: 2,
						Title:  "Held by a triager",
						Author: "bot",
						Labels: []string{"agent:in-flight"},
						Comments: []githubsim.SeedComment{
							{Author: "mal", Body: claimBy("mallory", ""), CreatedAt: day("09:59:00")},
							{
								Author:    "tia",
								Body:      claimBy("lucius", "state=held hb=3 token=1 "),
								CreatedAt: day("10:00:00"),
								UpdatedAt: day("10:20:00"),
							},
							{Author: "rob", Body: "<!-- agent-claim:codename=x", CreatedAt: day("10:01:00")},
						},
					},
					{
						Number: 3,
						Title:  "A pull request is open",
						Author: "bot",
						Labels: []string{"agent:pr-open"},
					},
					{
						Number: 4, Title: "Released with a pull request elsewhere", Author: "bot",
						Labels: []string{"agent:pr-open"}, Comments: []githubsim.SeedComment{
							{
								Author: "github-actions[bot]", Body: claimBy("drake", "state=held "),
								CreatedAt: day("10:00:00"),
							},
							{
								Author:    "github-actions[bot]",
								Body:      release("drake", "outcome=success pr=https://github.com/acme/lib/pull/2"),
								CreatedAt: day("11:00:00"),
							},
							{Author: "bot", Body: claimBy("erin", "state=held "), CreatedAt: day("11:30:00")},
							{Author: "bot", Body: release("erin",
								"outcome=success pr=https://github.com/acme/lib/pull/404"), CreatedAt: day("11:40:00")},
						},
					},
					{
						Number: 5, Title: "Done", Author: "bot", Labels: []string{"agent:done"}, State: "closed",
						StateReason: "completed",
					},
					{
						Number: 6, Title: "Much discussed", Author: "bot", Labels: []string{"agent:in-flight"},
						Comments: append(append(
							[]githubsim.SeedComment{{
								Author: "bot", Body: claimBy("first", "state=held "),
								CreatedAt: day("08:00:00"),
							}}, talk(250)...),
							githubsim.SeedComment{
								Author: "bot", Body: release("first", "outcome=failure attempt=1"),
								CreatedAt: day("12:00:00"),
							}),
					},
				},
				Pulls: []githubsim.SeedPull{
					{
						SeedIssue: githubsim.SeedIssue{Number: 7, Title: "Fix it", Body: "Closes #3", Author: "tia"},
						Head:      "fix", Base: "main",
					},
					{SeedIssue: githubsim.SeedIssue{
						Number: 8, Title: "Draft", Body: "fixes: #3 and `closes #1`",
						Author: "bot",
					}, Head: "draft", Base: "main", Draft: true},
				},
			},
			{Name: "acme/lib", DefaultBranch: "trunk", Issues: []githubsim.SeedIssue{
				{Number: 1, Title: "In the library", Author: "bot"},
			}, Pulls: []githubsim.SeedPull{
				{
					SeedIssue: githubsim.SeedIssue{Number: 2, Title: "For the app", Author: "bot"}, Head: "feature",
					Base: "trunk", Merged: true, MergedAt: day("11:20:00"),
				},
			}},
			{Name: "acme/tools", DefaultBranch: "main", Labels: []githubsim.SeedLabel{
				{
					Name: "agent:paused", Color: "b60205",
					Description: ptr("paused since 2026-05-01T12:00:00Z by bot: release week"),
				},
			}, Issues: []githubsim.SeedIssue{{
				Number: 1, Title: "Paused", Author: "bot",
				Labels: []string{"agent:implement"},
			}}},
		},
	}
}

func ptr[T any](v T) *T { return &v }

// simulated returns a server with the world in it.
func simulated(t *testing.T) *githubsim.Server {
	t.Helper()
	s, err := githubsim.New(world(), githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// connect returns a client of a server. Changes adjust the options first.
func connect(t *testing.T, next http.RoundTripper, changes ...func(*Options)) *Client {
	t.Helper()
	o := Options{
		REST: testREST, GraphQL: testGraphQL, Token: NewSecret("tok-bot"), HTTP: next,
		Rand: func() float64 { return 0 },
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

// patient is for tests that count requests: a page that took too long is asked for in halves, and
// here it is the machine that is slow.
func patient(o *Options) { o.ReadTime = time.Hour }

func as(token string) func(*Options) { return func(o *Options) { o.Token = NewSecret(token) } }

// counting passes requests on and remembers them, as METHOD PATH.
type counting struct {
	next http.RoundTripper
	mu   sync.Mutex
	sent []string
}

func watched(next http.RoundTripper) *counting { return &counting{next: next} }

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.sent = append(c.sent, r.Method+" "+r.URL.Path)
	c.mu.Unlock()
	return c.next.RoundTrip(r)
}

// like counts the requests that begin so.
func (c *counting) like(prefix string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.sent {
		if strings.HasPrefix(one, prefix) {
			n++
		}
	}

	return n
}
