package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

const ruleFile = ".github/rules.yml"

func alongside(o *Options) { o.Along = ruleFile }

// withFile is the world with a file on the default branch of acme/app.
func withFile(t *testing.T, text string) *githubsim.Server {
	t.Helper()
	seed := world()
	seed.Repos[0].Files = map[string]string{ruleFile: text}
	s, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// TestAlong: the file comes with the first query about its repository, once; where that cannot
// tell, nothing is known, never "absent".
func TestAlong(t *testing.T) {
	spoil := func(old, text string) func(*Options) {
		return func(o *Options) { o.HTTP = spoiled(o.HTTP, old, text) }
	}

	for name, c := range map[string]struct {
		file    string
		repo    string
		change  func(*Options)
		want    string
		known   bool
		present bool
	}{
		"there":             {"version: 1\n", "app", nil, "version: 1\n", true, true},
		"empty":             {"", "app", nil, "", true, true},
		"absent":            {"x", "lib", nil, "", true, false},
		"no text":           {"a\x00b", "app", nil, "", false, false},
		"too long":          {strings.Repeat("#", 600_000), "app", nil, "", false, false},
		"not all of it":     {"x: 1\n", "app", spoil(`"text":"x: 1\n"`, `"text":"x"`), "", false, false},
		"no default branch": {"x", "lib", spoil(`"branch":{"name":"trunk"}`, `"branch":null`), "", false, false},
		"not permitted": {
			"x", "lib",
			spoil(`"data":{`, `"errors":[{"type":"FORBIDDEN","message":"no","path":["r0","file"]}],"data":{`), "",
			false, false,
		},
		"a file not asked for": {"x", "app", func(o *Options) { o.Along = "other" }, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			changes := []func(*Options){alongside}
			if c.change != nil {
				changes = append(changes, c.change)
			}

			client := connect(t, withFile(t, c.file).Transport(), changes...)
			if _, err := client.Facts(t.Context(), issue(c.repo, 1)); err != nil {
				t.Fatal(err)
			}

			data, known := client.Along(repoOf(c.repo), ruleFile)
			if string(data) != c.want || known != c.known || known && (data != nil) != c.present {
				t.Errorf("%q, %t; want %q, %t", data, known, c.want, c.known)
			}

			if _, again := client.Along(repoOf(c.repo), ruleFile); again {
				t.Error("it is known twice")
			}
		})
	}

	sent := watched(withFile(t, "x").Transport())
	client := connect(t, sent, alongside)
	if _, err := client.OpenIssues(t.Context(), repoOf("app"), "agent:implement"); err != nil {
		t.Fatal(err)
	}
	if why, err := client.Sweepable(t.Context(), repoOf("app")); err != nil || why != "" || len(sent.sent) != 1 {
		t.Errorf("%q, %v, sent %q, want that one query tells all of it", why, err, sent.sent)
	}
	if data, known := client.Along(repoOf("app"), ruleFile); string(data) != "x" || !known {
		t.Errorf("with a work list: %q, %t", data, known)
	}
}

// TestBegin: what the first query has read answers the next question about just that, once, unless
// something was written meanwhile or time has passed.
func TestBegin(t *testing.T) {
	i := issue("app", 1)
	for name, c := range map[string]struct {
		between func(t *testing.T, c *Client)
		more    int
	}{
		"at once":            {func(*testing.T, *Client) {}, 0},
		"another":            {func(t *testing.T, c *Client) { _, _ = c.Facts(t.Context(), issue("lib", 1)) }, 1},
		"a second on":        {func(*testing.T, *Client) { time.Sleep(time.Second) }, 0},
		"at the last moment": {func(*testing.T, *Client) { time.Sleep(fresh) }, 0},
		"much later":         {func(*testing.T, *Client) { time.Sleep(fresh + time.Second) }, 1},
		"after a write": {func(t *testing.T, c *Client) {
			if _, err := c.Comment(t.Context(), i, "hello"); err != nil {
				t.Fatal(err)
			}
		}, 2},
		"used up": {func(t *testing.T, c *Client) { _, _ = c.Facts(t.Context(), i) }, 1},
	} {
		play := func(t *testing.T) {
			sent := watched(withFile(t, "x").Transport())
			client := connect(t, sent, alongside)
			if err := client.Begin(t.Context(), i); err != nil {
				t.Fatal(err)
			}

			c.between(t, client)
			f, err := client.Facts(t.Context(), i)
			if err != nil || f.Title != "Nobody's yet" || f.Viewer != "bot" {
				t.Fatalf("%+v, %v", f, err)
			}

			if n := len(sent.sent) - 1; n != c.more {
				t.Errorf("%d requests more, want %d: %q", n, c.more, sent.sent)
			}
		}

		t.Run(name, func(t *testing.T) { synctest.Test(t, play) })
	}
}

// TestBeginWithoutConnection: what keeps every request from being answered is an error at once.
func TestBeginWithoutConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }))
		err := c.Begin(t.Context(), issue("app", 1))
		if err == nil || !strings.Contains(err.Error(), "no route") {
			t.Errorf("begin: %v", err)
		}
	})
}

// TestBeginScan: the first page of a scan is read along; the scan goes on behind it.
func TestBeginScan(t *testing.T) {
	for _, each := range []int{0, 1, 101} {
		sent := watched(crowd(t, each).Transport())
		c := connect(t, sent, alongside)
		if err := c.BeginScan(t.Context(), repoOf("lib"), time.Time{}, false); err != nil {
			t.Fatal(err)
		}

		if found := scan(t, c, repoOf("lib"), time.Time{}); len(found) != each {
			t.Errorf("found %d issues, want %d", len(found), each)
		}

		if n := len(sent.sent); n != max(1, (each+99)/100) {
			t.Errorf("%d issues took %d requests: %q", each, n, sent.sent)
		}

		if _, known := c.Along(repoOf("lib"), ruleFile); !known {
			t.Error("the file did not come along")
		}
		why, err := c.Sweepable(t.Context(), repoOf("lib"))
		if why != "" || err != nil || len(sent.sent) != max(1, (each+99)/100) {
			t.Errorf("%q, %v", why, err)
		}
	}

	for since, requests := range map[string]int{"12:00:00": 1, "12:00:05": 1, "12:00:06": 2} {
		sent := watched(crowd(t, 1).Transport())
		c := connect(t, sent)
		if err := c.BeginScan(t.Context(), repoOf("lib"), *day("12:00:00"), false); err != nil {
			t.Fatal(err)
		}
		if scan(t, c, repoOf("lib"), *day(since)); len(sent.sent) != requests {
			t.Errorf("what has changed since %s: sent %q, want %d requests", since, sent.sent, requests)
		}
	}

	sent := watched(crowd(t, 1).Transport())
	c := connect(t, sent)
	if err := c.BeginScan(t.Context(), repoOf("lib"), *day("12:00:00"), false); err != nil {
		t.Fatal(err)
	}
	if scan(t, c, repoOf("lib"), *day("11:00:00")); len(sent.sent) != 2 {
		t.Errorf("a look further back: sent %q, want another query", sent.sent)
	}
	for f, err := range c.Scan(t.Context(), repoOf("app"), time.Time{}) {
		if f.Issue != issue("app", 1) || err != nil {
			t.Errorf("another repository: %s, %v", f.Issue, err)
		}
	}
}
