package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/operate"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/setup"
)

// deskOf is the desk of the board over acme/app on the server, for a person with that token.
func deskOf(t *testing.T, server *githubsim.Server, token string) *operate.BoardDesk {
	t.Helper()
	quick := filepath.Join(t.TempDir(), "quick.yml")
	if err := os.WriteFile(quick, []byte("version: 1\nclaim: {settle: 0s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	vars := map[string]string{"GH_TOKEN": token, "HOME": t.TempDir(), "LABEL_STATE_CONFIG": quick}
	env := setup.OS()
	env.Getenv, env.Dir, env.HTTP, env.Stderr = func(name string) string { return vars[name] }, t.TempDir(), server.Transport(), io.Discard
	term := cli.Terminal{
		Verbs: Verbs(),
		In:    strings.NewReader(""),
		Out:   io.Discard,
		Err:   io.Discard,
		Env:   env,
	}
	call := &cli.Call{Terminal: term, Session: &setup.Session{}}
	call.Repos = cli.Repos{"acme/app"}
	d, err := operate.OpenBoardDesk(t.Context(), call, false, false)
	if err != nil {
		t.Fatal(err)
	}

	return d
}

// sceneServer is a GitHub with the scenario on it, and so many issues that were done long ago.
func sceneServer(t *testing.T, done int) *githubsim.Server {
	t.Helper()
	seed, err := scenario(time.Now())
	if err != nil {
		t.Fatal(err)
	}

	long := time.Now().Add(-1000 * time.Hour)
	for n := range done {
		seed.Repos[0].Issues = append(seed.Repos[0].Issues, githubsim.SeedIssue{
			Number:      1000 + n,
			Title:       "Old",
			Author:      "olga",
			Labels:      []string{"agent:done"},
			State:       "closed",
			StateReason: "completed",
			CreatedAt:   &long,
			UpdatedAt:   &long,
			ClosedAt:    &long,
		})
	}

	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

// TestBoardRequests: a look costs two requests, however much was done long ago, and shows a pull
// request that is held; the first also asks for roles, and who edited the records.
func TestBoardRequests(t *testing.T) {
	for _, done := range []int{0, 300} {
		server := sceneServer(t, done)
		if _, err := server.AddComment("acme/app", 20, "agents",
			"<!-- agent-claim:codename=rex firing_id=r20 nonce=n ttl=3600 state=held -->"); err != nil {
			t.Fatal(err)
		}

		if err := server.AddLabels("acme/app", 20, "agents", "agent:in-flight"); err != nil {
			t.Fatal(err)
		}
		d := deskOf(t, server, "tok-olga")
		for look := range 2 {
			before := len(server.Requests())
			r, err := d.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}

			want := 4 - 2*look
			if n := len(server.Requests()) - before; n > want || len(r.Cards) != 13 ||
				!slices.ContainsFunc(r.Cards, func(c board.Card) bool { return c.Request && c.Issue.Number == 20 }) {
				t.Errorf("%d done, look %d: %d requests and %d cards, want %d and 13, one of them #20", done, look+1, n,
					len(r.Cards), want)
			}
		}
	}
}

// TestBoardDesk: what an order does, by the command it names, and what it does when the issue is
// not any more what the person saw.
func TestBoardDesk(t *testing.T) {
	for _, c := range []struct {
		number int
		act    board.Act
		change func(*githubsim.Server) error
		want   string // the labels afterwards, or the error
		warns  string
	}{
		{number: 4, act: board.Claim, want: "agent:implement do-not-pickup"},
		{
			number: 1,
			act:    board.TakeOver,
			want:   "agent:implement do-not-pickup",
			warns:  "lucius:l1 lost acme/app#1 by force; it may still act until its next heartbeat or push",
		},
		{number: 3, act: board.Claim, want: "agent:implement do-not-pickup"},
		{number: 8, act: board.TakeOver, want: "agent:implement do-not-pickup"},
		{number: 8, act: board.Release, want: "agent:implement"},
		{number: 1, act: board.Release, want: "release acme/app#1: you do not hold it"},
		{
			number: 1,
			act:    board.End,
			want:   "agent:implement",
			warns:  "lucius:l1 lost acme/app#1 by force",
		},
		{number: 6, act: board.Approve, want: "agent:in-flight"},
		{number: 6, act: board.Reject, want: "agent:implement"},
		{number: 1, act: board.Claim, want: "claim acme/app#1: held by lucius"},
		{number: 7, act: board.Claim, want: "claim acme/app#7: pull request acme/app#20 is open for it"},
		{number: 10, act: board.Claim, want: "claim acme/app#10: the issue is closed"},
		{
			number: 4,
			act:    board.Claim,
			change: func(s *githubsim.Server) error { return s.Close("acme/app", 4, "olga") },
			want:   "claim acme/app#4: the issue is closed",
		},
		{
			number: 1,
			act:    board.End,
			change: func(s *githubsim.Server) error {
				_, err := s.AddComment("acme/app", 1, "agents",
					"<!-- agent-release: codename=lucius firing_id=l1 outcome=cancelled -->")
				return err
			},
			want: "board acme/app#1: it changed in the meantime; nothing was done",
		},
		{number: 6, act: board.Approve, change: func(s *githubsim.Server) error {
			text, err := claim.Encode(claim.Record{
				Kind:   claim.KindApprove,
				Worker: claim.Worker{Codename: "lucius", FiringID: "l6"}, By: "olga",
			})
			if err == nil {
				_, err = s.AddComment("acme/app", 6, "olga", text)
			}
			return err
		}, want: "board acme/app#6: it changed in the meantime; nothing was done"},
		{number: 4, act: board.Claim, change: func(s *githubsim.Server) error {
			_, err := s.AddComment("acme/app", 4, "agents",
				"<!-- agent-claim: codename=vera firing_id=v4 nonce=n ttl=1h state=held -->")
			return err
		}, want: "claim acme/app#4: held by vera"},
	} {
		name := fmt.Sprintf("#%d act %d", c.number, c.act)
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

		if !slices.Equal(r.Repos, []string{"acme/app"}) {
			t.Errorf("%s: of %q", name, r.Repos)
		}

		card := r.Cards[slices.IndexFunc(r.Cards, func(one board.Card) bool { return one.Issue.Number == c.number })]
		got := ""
		warnings, err := d.Do(t.Context(), board.Order{Act: c.act, Card: card, Reason: "it is mine"})
		if err != nil {
			if got = err.Error(); strings.Contains(got, "held by") && !strings.Contains(d.Hint(err), "label-state status acme/app#") {
				t.Errorf("%s: hint %q", name, d.Hint(err))
			}
		} else if labels, err := server.Labels("acme/app", c.number); err == nil {
			slices.Sort(labels)
			got = strings.Join(labels, " ")
		}

		if got != c.want && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}

		if warned := strings.Join(warnings, "; "); !strings.HasPrefix(warned, c.warns) {
			t.Errorf("%s: warned %q, want %q", name, warned, c.warns)
		}
	}
}

// TestBoardIsTheCommands: the board does nothing that the command that it shows would not do, and
// in the name of the person even where the environment names a worker.
func TestBoardIsTheCommands(t *testing.T) {
	server := sceneServer(t, 0)
	d := deskOf(t, server, "tok-olga")
	getenv := d.Call.Env.Getenv
	d.Call.Env.Getenv = func(name string) string {
		if name == "LABEL_STATE_CODENAME" {
			return "lucius"
		}
		return getenv(name)
	}

	r, err := d.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	card := r.Cards[slices.IndexFunc(r.Cards, func(one board.Card) bool { return one.Issue.Number == 4 })]
	if _, err := d.Do(t.Context(), board.Order{Act: board.Claim, Card: card}); err != nil {
		t.Fatal(err)
	}

	if _, err := d.Do(t.Context(),
		board.Order{Act: board.PauseRepo, Repo: "acme/app", Reason: "release week"}); err != nil {
		t.Fatal(err)
	}

	if r, err = d.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	card = r.Cards[slices.IndexFunc(r.Cards, func(one board.Card) bool { return one.Issue.Number == 4 })]
	if card.Holder != "olga" || !card.Person || len(r.Pauses) != 1 ||
		!strings.Contains(r.Pauses[0].Text, "by olga: release week") {
		t.Errorf("holder %q, person %t, pauses %v", card.Holder, card.Person, r.Pauses)
	}

	text := strings.Join(r.Details(card.Issue, r.Now, 60), "\n")
	for _, want := range []string{"olga has held it since", "history, oldest first", " UTC  olga claimed it"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}

	if _, err := d.Do(t.Context(), board.Order{Act: board.Resume, Repo: "acme/app"}); err != nil {
		t.Fatal(err)
	}

	if r, err = d.Read(t.Context()); err != nil || len(r.Pauses) > 0 {
		t.Errorf("%v, %v", r.Pauses, err)
	}

	d.Call.Config = "gone.yml"
	if _, err := d.Do(t.Context(), board.Order{Act: board.Release, Card: card}); err == nil || !strings.Contains(err.Error(), "gone.yml") {
		t.Errorf("%v, want that the board's configuration cannot be read", err)
	}

	d.Call.Config, d.Call.Timeout = "", time.Nanosecond
	_, err = d.Do(t.Context(), board.Order{Act: board.Claim, Card: card})
	if got := d.Hint(err); err == nil || !strings.Contains(got, "then: label-state claim acme/app#4") {
		t.Errorf("%v: hint %q, want the order again", err, got)
	}
}

// TestBoardDetails: of what somebody wrote nothing looks like a part of the page, and history is in
// words; and of what is in a dependency cycle they say so.
func TestBoardDetails(t *testing.T) {
	server := sceneServer(t, 0)
	blocked := errors.Join(server.Block("acme/app", 4, 5, "olga"), server.Block("acme/app", 5, 4, "olga"))
	r, err := deskOf(t, server, "tok-olga").Read(t.Context())
	if err = errors.Join(blocked, err); err != nil {
		t.Fatal(err)
	}

	issue := claim.Issue{Owner: "acme", Repo: "app", Number: 1}
	text := strings.Join(r.Details(issue, r.Now, 100), "\n")
	want := regexp.MustCompile(`\n│ history, oldest first\n│ \[2JTry again three times\.\n\nhistory, oldest first\n` +
		`\d{4}-\d\d-\d\d [\d:]{8} UTC  drake claimed it\n.* UTC  drake released it after 1h: failure, because tests do not build\n` +
		`.*lucius claimed it, renewed once\n.*\n.* drake lost the race to lucius$`)
	if !want.MatchString(text) {
		t.Errorf("no %s in\n%s", want, text)
	}

	const round = "acme/app#4 waits for acme/app#5 waits for acme/app#4"
	for number, in := range map[int]bool{1: false, 4: true} {
		issue.Number = number
		if text := strings.Join(r.Details(issue, r.Now, 100), "\n"); strings.Contains(text, round) != in ||
			strings.Contains(text, "decided by") {
			t.Errorf("#%d is in the cycle: want %t\n%s", number, in, text)
		}
	}
}

// TestBoardOrder: the ready column is in the order in which next hands issues out, before those
// that it passes over.
func TestBoardOrder(t *testing.T) {
	at := func(hours int) *time.Time {
		when := time.Now().Add(-time.Duration(hours) * time.Hour)
		return &when
	}

	ready := func(n, hours int, labels ...string) githubsim.SeedIssue {
		return githubsim.SeedIssue{
			Number: n, Title: "x", Author: "olga", CreatedAt: at(hours),
			Labels: append(labels, "agent:implement"),
		}
	}

	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login: "olga", Token: "tok-olga",
			Permissions: map[string]string{"acme/app": "admin"},
		}},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{
			ready(1, 10, "wip", "priority:critical"), ready(2, 9), ready(3, 12), ready(4, 1, "P0"), ready(5, 20, "low"),
			ready(6, 8, "high"), ready(7, 9, "priority: high"),
		}}},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := deskOf(t, server, "tok-olga")
	r, err := d.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	var column, queue []int
	for _, card := range r.Cards {
		column = append(column, card.Issue.Number)
	}

	for range 6 {
		var out bytes.Buffer
		term := d.Call.Terminal
		term.Out = &out
		if err := cli.Execute(t.Context(),
			[]string{"label-state", "next", "--repo", "acme/app", "--codename", "lucius", "--json"}, term); err != nil {
			t.Fatal(err)
		}

		var got struct{ Item struct{ ID string } }
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}

		n, err := strconv.Atoi(strings.TrimPrefix(got.Item.ID, "github-"))
		if err != nil {
			t.Fatal(err)
		}

		queue = append(queue, n)
	}

	if want := []int{4, 7, 6, 3, 2, 5, 1}; !slices.Equal(column, want) || !slices.Equal(queue, want[:6]) {
		t.Errorf("column %v, next %v, want %v", column, queue, want)
	}
}

// TestBoardOpens: an address is opened by $BROWSER, else by a desktop's own program where there is
// a desktop, and only if that can be started.
func TestBoardOpens(t *testing.T) {
	const address, own = "https://github.com/acme/app", "xdg-open"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, own), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	t.Setenv("PATH", dir)
	d := deskOf(t, sceneServer(t, 0), "tok-olga")
	for _, c := range []struct {
		variable, value, url string
		want                 bool
	}{
		{"BROWSER", own, address, true},
		{"BROWSER", own, "file:///etc/passwd", false},
		{"BROWSER", "no-such-program", address, false},
		{"DISPLAY", ":0", address, true},
		{"WAYLAND_DISPLAY", "wayland-0", address, true},
		{"TERM", "xterm", address, false},
	} {
		if runtime.GOOS != "linux" && c.variable != "BROWSER" {
			continue
		}

		d.Call.Env.Getenv = func(name string) string { return map[string]string{c.variable: c.value}[name] }
		if got := d.Open(c.url); got != c.want {
			t.Errorf("%s=%s: %s opened: %t, want %t", c.variable, c.value, c.url, got, c.want)
		}
	}
}

// TestBoardNext: where nothing can be taken, the board says what to do about it.
func TestBoardNext(t *testing.T) {
	seed := func(edit func(*githubsim.SeedRepo)) *githubsim.Server {
		repo := githubsim.SeedRepo{Name: "acme/app"}
		edit(&repo)
		server, err := githubsim.New(githubsim.Seed{
			Users: []githubsim.SeedUser{{
				Login: "olga", Token: "tok-olga",
				Permissions: map[string]string{"acme/app": "admin"},
			}}, Repos: []githubsim.SeedRepo{repo},
		}, githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}

		return server
	}

	labelled := githubsim.SeedIssue{Number: 1, Title: "x", Author: "olga", Labels: []string{"agent:implement"}}
	for _, c := range []struct {
		name, want string
		edit       func(*githubsim.SeedRepo)
	}{
		{"nothing at all", "make the labels: label-state labels sync acme/app; then label an issue: gh issue edit NUMBER --repo acme/app --add-label agent:implement", func(*githubsim.SeedRepo) {}},
		{"something that is somebody's already", "", func(r *githubsim.SeedRepo) {
			assigned := labelled
			assigned.Assignees = []string{"olga"}
			r.Issues = append(r.Issues, assigned)
		}},
		{"something that a label keeps out", "", func(r *githubsim.SeedRepo) {
			kept := labelled
			kept.Labels = []string{"agent:implement", "wip"}
			r.Issues = append(r.Issues, kept)
		}},
		{"something for a person alone", "label an issue: gh issue edit NUMBER --repo acme/app --add-label agent:implement", func(r *githubsim.SeedRepo) {
			vague := labelled
			vague.Labels = []string{"agent:implement", "needs:human-scope"}
			r.Issues = append(r.Issues, vague)
		}},
		{"something to take", "", func(r *githubsim.SeedRepo) { r.Issues = append(r.Issues, labelled) }},
	} {
		r, err := deskOf(t, seed(c.edit), "tok-olga").Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		if got := strings.Join(r.Next, "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}

	server := seed(func(*githubsim.SeedRepo) {})
	server.Fault = func(r *http.Request) *githubsim.Fault {
		if !strings.HasSuffix(r.URL.Path, "/labels") {
			return nil
		}
		return &githubsim.Fault{Status: http.StatusForbidden}
	}
	if r, err := deskOf(t, server, "tok-olga").Read(t.Context()); err == nil {
		t.Errorf("without the labels: %+v", r)
	}
}
