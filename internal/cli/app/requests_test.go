package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/setup"
)

// A priced command is one of the table of requests. Labels exist, nobody else is at work.
type priced struct {
	name   string
	before []string // command lines that are not counted
	line   string
	hook   int // or so many issues that a push names
	issues int // that there are at least
	most   map[string]int
}

const quietRepos = 10

// pricedCommands are the rows of the table. A limit is what we set out to keep; a column without
// one is only shown.
func pricedCommands() []priced {
	const claimed = "claim acme/app#1 --codename lucius --firing-id run-7"
	quiet := make([]string, quietRepos)
	for n := range quiet {
		quiet[n] = fmt.Sprintf("acme/quiet-%d", n)
	}

	return []priced{
		{name: "claim", line: claimed, most: map[string]int{"comments": 5, "refs": 4}},
		{
			name:   "renew",
			before: []string{claimed},
			line:   "renew acme/app#1 --codename lucius --firing-id run-7",
			most:   map[string]int{"comments": 2, "refs": 4},
		},
		{
			name:   "release",
			before: []string{claimed},
			line:   "release acme/app#1 --codename lucius --firing-id run-7",
			most:   map[string]int{"comments": 3, "refs": 4},
		},
		{
			name: "next", line: "next --repo acme/app --codename lucius --firing-id run-7",
			most: map[string]int{"comments": 6, "refs": 5},
		},
		{
			name:   "bundle claim, 5 issues",
			line:   "bundle claim five acme/app#1 acme/app#2 acme/app#3 acme/app#4 acme/app#5 --codename lucius --firing-id run-7",
			issues: 5,
			most:   map[string]int{"comments": 32, "refs": 28},
		},
		{
			name:   "status",
			before: []string{claimed},
			line:   "status acme/app#1",
			most:   map[string]int{"comments": 1, "refs": 1},
		},
		{name: "dedup-check", line: "dedup-check acme/app#1", most: map[string]int{"comments": 1, "refs": 1}},
		{
			name:   "board",
			before: []string{claimed},
			line:   "board --repo acme/app",
			most:   map[string]int{"comments": 2},
		},
		{
			name: "plan", before: []string{claimed},
			line: "plan acme/app#1 --codename lucius --firing-id run-7 --body-file plan.md",
		},
		{name: "approve", before: []string{
			claimed,
			"plan acme/app#1 --codename lucius --firing-id run-7 --body-file plan.md",
		}, line: "approve acme/app#1"},
		{name: "pre-push hook, 1 issue", hook: 1, most: map[string]int{"comments": 1, "refs": 1}},
		{name: "pre-push hook, 5 issues", hook: 5, most: map[string]int{"comments": 1, "refs": 1}},
		{name: "pre-push hook, 50 issues", hook: 50, most: map[string]int{"comments": 1, "refs": 1}},
		{
			name: "sweep-claims, 10 quiet repositories", line: "sweep-claims " + strings.Join(quiet, " "),
			most: map[string]int{"comments": 11},
		},
	}
}

// quiet is how many repositories are there besides, for the command that names them.
func (c priced) quiet() int {
	if strings.Contains(c.line, "acme/quiet-") {
		return quietRepos
	}
	return 0
}

// A pricing is a column of the table.
type pricing struct {
	name   string
	config string // on the default branch
}

func pricings() []pricing {
	return []pricing{{name: "comments"}, {name: "refs", config: "version: 1\nclaim: {lease: refs}\n"}}
}

const speedPage = "../../../docs/speed.md"

// TestRequests counts the requests that a command sends on the embedded GitHub, and holds them
// against the table of the page.
func TestRequests(t *testing.T) {
	columns := pricings()
	table := "| command |"
	for _, p := range columns {
		table += " " + p.name + " |"
	}

	table += "\n|---|" + strings.Repeat("---|", len(columns)) + "\n"
	for _, c := range pricedCommands() {
		table += "| " + c.name + " |"
		for _, p := range columns {
			t.Run(c.name+"/"+p.name, func(t *testing.T) {
				sent := c.count(t, p)
				if most, limited := c.most[p.name]; limited && len(sent) > most {
					t.Errorf("%d requests, want at most %d:\n%s", len(sent), most, strings.Join(sent, "\n"))
				}

				writes := 0
				for _, one := range sent {
					if strings.HasPrefix(one, "* ") {
						writes++
					}
				}

				table += fmt.Sprintf(" %d (%d) |", len(sent), writes)
			})
		}

		table += "\n"
	}

	checkTable(t, speedPage, "requests", table)
}

// checkTable compares a table with what stands on the page between the comments of a name. One that
// could not be counted is not written.
func checkTable(t *testing.T, page, name, table string) {
	t.Helper()
	if t.Failed() && !golden.Updating() {
		return
	}
	golden.Section(t, page, name, table)
}

// A bill is what a command sent; what writes begins with a star.
type bill struct {
	sent     []string
	comments int // that it posted on the first issue
}

// count plays the command and returns what it sent.
func (c priced) count(t *testing.T, p pricing) []string { return c.bill(t, p).sent }

func (c priced) bill(t *testing.T, p pricing) (b bill) {
	home := t.TempDir()
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	if err := os.WriteFile(filepath.Join(home, "plan.md"), []byte("First this, then that.\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	store := "" // references need git; a file does not
	if p.config != "" {
		store = filepath.Join(home, ".github-server")
	}

	synctest.Test(t, func(t *testing.T) {
		w, err := newWorldWith(store, func(seed *githubsim.Seed) {
			seed.Repos[0].Files = map[string]string{"README": "text\n"}
			for n := len(seed.Repos[0].Issues) + 1; n <= max(c.hook, c.issues); n++ {
				seed.Repos[0].Issues = append(seed.Repos[0].Issues, githubsim.SeedIssue{
					Number: n,
					Title:  "Work",
					Author: "olga",
					Labels: []string{"agent:implement"},
				})
			}

			if p.config != "" {
				seed.Repos[0].Files[config.Path] = p.config
			}

			for n := range c.quiet() {
				name := fmt.Sprintf("acme/quiet-%d", n)
				seed.Repos = append(seed.Repos,
					githubsim.SeedRepo{
						Name: name, DefaultBranch: "main",
						Files: map[string]string{"README": "quiet\n"},
					})

				for u := range seed.Users {
					if seed.Users[u].Permissions != nil {
						seed.Users[u].Permissions[name] = "write"
					}
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}

		play := func(token, line string) {
			var said bytes.Buffer
			env := setup.OS()
			vars := map[string]string{"GH_TOKEN": token, "HOME": home}
			env.Getenv = func(name string) string { return vars[name] }
			env.Dir, env.Stderr, env.HTTP = home, &said, w.Transport()
			args := append([]string{"label-state"},
				words(strings.ReplaceAll(line, "plan.md", filepath.Join(home, "plan.md")))...)
			if code := cli.Run(context.Background(), args, cli.Terminal{
				Verbs: Verbs(),
				In:    strings.NewReader(""),
				Out:   io.Discard,
				Err:   &said,
				Env:   env,
			}); code != answer.ExitYes {
				t.Fatalf("%s: exit code %d: %s", line, code, said.String())
			}

			time.Sleep(time.Minute)
		}

		for _, line := range c.before {
			play("tok-agents", line)
		}

		talk := func() int {
			all, err := w.Comments("acme/app", 1)
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}

		first, said := len(w.Requests()), talk()
		token := "tok-agents"
		if c.name == "approve" {
			token = "tok-olga"
		}

		if c.hook > 0 {
			c.look(t, w)
		} else {
			play(token, c.line)
		}

		b.comments = talk() - said
		for _, r := range w.Requests()[first:] {
			mark := "  "
			if r.Writes() {
				mark = "* "
			}
			b.sent = append(b.sent, mark+r.Method+" "+r.Path+" "+r.GraphQL)
		}
	})

	return b
}

// look reads issues and the configuration as the hook does.
func (c priced) look(t *testing.T, w *world) {
	var named []claim.Issue
	for n := range c.hook {
		named = append(named, claim.Issue{Owner: "acme", Repo: "app", Number: n + 1})
	}

	env, guess := setup.OS(), config.Default()
	env.Getenv = func(name string) string { return map[string]string{"GH_TOKEN": "tok-agents"}[name] }
	env.Dir, env.Stderr, env.HTTP = t.TempDir(), io.Discard, w.Transport()
	s, err := setup.Open(t.Context(), env, setup.Options{Repo: "acme/app", Guess: &guess})
	if err != nil {
		t.Fatal(err)
	}

	for _, r := range s.Client.HoldersOf(t.Context(), named) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}

	if _, err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestGuess: a session guesses the configuration, and the default branch's comes with its first
// query. What makes no difference to that query costs nothing; what does, whose records count or
// what labels are called, costs one request more.
func TestGuess(t *testing.T) {
	for text, want := range map[string]int{
		"":                                    1,
		"claim: {ttl: 2h}\n":                  1,
		"trust: {permission: write}\n":        2,
		"labels: {claimed: \"work:taken\"}\n": 2,
	} {
		c := priced{name: "status", line: "status acme/app#1"}
		if sent := c.count(t, pricing{config: "version: 1\n" + text}); len(sent) != want {
			t.Errorf("%q: %d requests, want %d:\n%s", text, len(sent), want, strings.Join(sent, "\n"))
		}
	}
}
