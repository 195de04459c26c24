package app

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/sample"
)

// TestPeopleRace has people and workers claim one issue at once, each a process of its own.
// Nobody's claim lands before as many have asked as can: all have seen the issue free. Exactly one
// holds it, and everybody else is told who does or did.
func TestPeopleRace(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	many := sample.Size(8, 50)
	for _, c := range []struct {
		name    string
		people  []string
		workers int
	}{
		{"two people", []string{"olga", "drake"}, 0},
		{"a person and a worker", []string{"olga"}, 1},
		{"many, with two people among them", []string{"olga", "drake"}, many - 2},
	} {
		t.Run(c.name, func(t *testing.T) { peopleRace(t, a, c.people, c.workers) })
	}
}

func peopleRace(t *testing.T, a *arena, people []string, workers int) {
	w, err := newWorld("")
	if err != nil {
		t.Fatal(err)
	}

	w.fault.Store(gate(min(len(people)+workers, 8)))
	base, stop, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	type contender struct {
		name string
		code int
		said bytes.Buffer
	}
	all := make([]*contender, 0, len(people)+workers)
	start := make(chan struct{})
	var running sync.WaitGroup
	race := func(name, token string, more ...string) {
		one := &contender{name: name}
		all = append(all, one)
		cmd := a.command(t.Context(), append([]string{"claim", contested}, more...)...)
		cmd.Env = append(cmd.Env, "LABEL_STATE_API_URL="+base, "LABEL_STATE_TOKEN="+token)
		cmd.Stdout, cmd.Stderr = &one.said, &one.said
		running.Go(func() {
			<-start
			one.code = exitOf(cmd.Run())
		})
	}

	for _, login := range people {
		race(login, "tok-"+login)
	}

	for n := range workers {
		race(codename(n), "tok-agents", "--codename", codename(n))
	}
	close(start)
	running.Wait()
	told := regexp.MustCompile(`(has held it since|claiming it since|held by|being claimed by|lost the race to) ?\S+`)
	winner := ""
	for _, one := range all {
		t.Logf("%s: exit code %d\n%s", one.name, one.code, &one.said)
		switch {
		case one.code == answer.ExitYes && winner != "":
			t.Errorf("%s and %s won", winner, one.name)
		case one.code == answer.ExitYes:
			winner = one.name
		case one.code != answer.ExitNo || !told.Match(one.said.Bytes()):
			t.Errorf("%s: exit code %d\n%s", one.name, one.code, &one.said)
		}
	}

	checkPeople(t, w, winner, people)
	transcribe(t, w, 1)
}

// transcribe prints what stands in an issue's or a pull request's log after a race, for who plays
// it with -v.
func transcribe(t *testing.T, w *world, number int) {
	t.Helper()
	all, err := w.Comments("acme/app", number)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range all {
		first, _, _ := strings.Cut(c.Body, "\n")
		t.Logf("acme/app#%d, %s by %s: %s", number, c.CreatedAt.Format("15:04:05"), c.Author, first)
	}
}

// gate lets the first claims through together.
func gate(n int) *func(*http.Request) *githubsim.Fault {
	var asked sync.WaitGroup
	asked.Add(n)
	var posts atomic.Int64
	together := func(r *http.Request) *githubsim.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/comments") && posts.Add(1) <= int64(n) {
			asked.Done()
			asked.Wait()
		}
		return nil
	}

	return &together
}

// checkPeople looks at what shows the winner.
func checkPeople(t *testing.T, w *world, winner string, people []string) {
	i, err := w.Issue("acme/app", 1)
	if err != nil || winner == "" {
		t.Fatalf("%q won, %v", winner, err)
	}

	labels, assignees := "[agent:in-flight]", "[]"
	for _, login := range people {
		if login == winner {
			labels, assignees = "[agent:implement do-not-pickup]", "["+winner+"]"
		}
	}

	if fmt.Sprint(i.Labels) != labels || fmt.Sprint(i.Assignees) != assignees {
		t.Errorf("%s won: labels %v, assignees %v", winner, i.Labels, i.Assignees)
	}
}

// TestPullRequestRace has ten sessions claim one pull request at once, each a process of its own.
// Exactly one holds it, everybody else is told who, and nobody holds the issue that it closes.
func TestPullRequestRace(t *testing.T) {
	t.Parallel()
	const sessions = 10
	a := newArena(t)
	w, err := newWorld("")
	if err != nil {
		t.Fatal(err)
	}

	if _, err := w.OpenPull("acme/app", "drake",
		githubsim.Pull{Title: "Work", Head: "work", Body: "Closes #1"}); err != nil {
		t.Fatal(err)
	}

	w.fault.Store(gate(8))
	base, stop, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	codes, said := make([]int, sessions), make([]bytes.Buffer, sessions)
	start := make(chan struct{})
	var running sync.WaitGroup
	for n := range sessions {
		cmd := a.command(t.Context(), "claim", "acme/app#4", "--codename", codename(n))
		cmd.Env = append(cmd.Env, "LABEL_STATE_API_URL="+base)
		cmd.Stdout, cmd.Stderr = &said[n], &said[n]
		running.Go(func() {
			<-start
			codes[n] = exitOf(cmd.Run())
		})
	}

	close(start)
	running.Wait()
	told := regexp.MustCompile(`(held by|being claimed by|lost the race to) ?\S+`)
	winner := ""
	for n, code := range codes {
		t.Logf("%s: exit code %d\n%s", codename(n), code, &said[n])
		switch {
		case code == answer.ExitYes && winner != "":
			t.Errorf("%s and %s won", winner, codename(n))
		case code == answer.ExitYes:
			winner = codename(n)
		case code != answer.ExitNo || !told.Match(said[n].Bytes()):
			t.Errorf("%s: exit code %d\n%s", codename(n), code, &said[n])
		}
	}

	transcribe(t, w, 4)
	pull, err := w.Issue("acme/app", 4)
	if err != nil || winner == "" || fmt.Sprint(pull.Labels) != "[agent:in-flight]" {
		t.Errorf("%q won, labels %v, %v", winner, pull.Labels, err)
	}

	issue, err := w.Issue("acme/app", 1)
	if err != nil || fmt.Sprint(issue.Labels) != "[agent:implement]" {
		t.Errorf("labels of the issue: %v, %v", issue.Labels, err)
	}

	if all, err := w.Comments("acme/app", 1); err != nil || len(all) > 0 {
		t.Errorf("%d records on the issue, %v", len(all), err)
	}
}
