package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/setup"
)

// deskOf is the desk of the board over acme/app on the server, for a person with that token.
func deskOf(t *testing.T, server *githubsim.Server, token string) *boardDesk {
	t.Helper()
	vars := map[string]string{"GH_TOKEN": token, "HOME": t.TempDir()}
	env := setup.OS()
	env.Getenv, env.Dir, env.HTTP, env.Stderr = func(name string) string { return vars[name] }, t.TempDir(), server.Transport(), io.Discard
	term := terminal{in: strings.NewReader(""), out: io.Discard, err: io.Discard, env: env}
	var d *boardDesk
	app := newApp(term)
	find(app.Commands, "board").Action = func(cc *cli.Context) (err error) {
		d, err = term.boardDesk(t.Context(), cc)
		return err
	}
	if err := app.RunContext(t.Context(), []string{"label-state", "board", "--repo", "acme/app"}); err != nil {
		t.Fatal(err)
	}
	return d
}

// sceneServer is a GitHub with the scene on it, and so many issues that were done long ago.
func sceneServer(t *testing.T, done int) *githubsim.Server {
	t.Helper()
	seed, err := scene(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-1000 * time.Hour)
	for n := range done {
		seed.Repos[0].Issues = append(seed.Repos[0].Issues, githubsim.SeedIssue{
			Number: 1000 + n, Title: "Old", Author: "olga", Labels: []string{"agent:done"}, State: "closed", StateReason: "completed",
			CreatedAt: &long, UpdatedAt: &long, ClosedAt: &long,
		})
	}
	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// TestBoardRequests: a look costs two requests, however much was done long ago; the first asks for roles as well.
func TestBoardRequests(t *testing.T) {
	for _, done := range []int{0, 300} {
		server := sceneServer(t, done)
		d := deskOf(t, server, "tok-olga")
		for look := range 2 {
			before := len(server.Requests())
			r, err := d.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n := len(server.Requests()) - before; n > 3-look || len(r.Cards) != 12 {
				t.Errorf("%d done, look %d: %d requests and %d cards, want %d and 12", done, look+1, n, len(r.Cards), 3-look)
			}
		}
	}
}

// TestBoardDesk: what a yes does, and what it does when the issue is not any more what the person saw.
func TestBoardDesk(t *testing.T) {
	for _, c := range []struct {
		number  int
		release bool
		change  func(*githubsim.Server) error
		want    string // the labels afterwards, or the error
	}{
		{number: 4, want: "agent:implement do-not-pickup"},
		{number: 1, want: "agent:implement do-not-pickup"},
		{number: 3, want: "agent:in-flight do-not-pickup"}, // the sweep ends what has lapsed
		{number: 8, want: "agent:implement do-not-pickup"},
		{number: 8, release: true, want: "agent:implement"},
		{number: 1, release: true, want: "agent:implement"},
		{number: 7, want: "board acme/app#7: pull request acme/app#20 is open for it"},
		{number: 10, want: "board acme/app#10: the issue is closed"},
		{number: 4, change: func(s *githubsim.Server) error { return s.Close("acme/app", 4, "olga") }, want: "board acme/app#4: the issue is closed"},
		{number: 1, change: func(s *githubsim.Server) error {
			_, err := s.AddComment("acme/app", 1, "agents", "<!-- agent-release: codename=lucius firing_id=l1 outcome=cancelled -->")
			return err
		}, want: "board acme/app#1: it changed while you looked; nothing was done"},
		{number: 4, change: func(s *githubsim.Server) error {
			_, err := s.AddComment("acme/app", 4, "agents", "<!-- agent-claim: codename=vera firing_id=v4 nonce=n ttl=1h state=held -->")
			return err
		}, want: "board acme/app#4: it changed while you looked; nothing was done"},
	} {
		name := fmt.Sprintf("#%d release %t", c.number, c.release)
		server := sceneServer(t, 0)
		d := deskOf(t, server, "tok-olga")
		r, err := d.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			if err := c.change(server); err != nil {
				t.Fatal(err)
			}
		}
		card := r.Cards[slices.IndexFunc(r.Cards, func(one board.Card) bool { return one.Issue.Number == c.number })]
		do := d.Claim
		if c.release {
			do = d.Release
		}
		got := ""
		if err := do(t.Context(), card); err != nil {
			got = err.Error()
		} else if labels, err := server.Labels("acme/app", c.number); err == nil {
			slices.Sort(labels)
			got = strings.Join(labels, " ")
		}
		if got != c.want && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
