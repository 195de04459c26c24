package prchain_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/state"
)

var (
	parent = claim.Issue{Owner: "acme", Repo: "app", Number: 1}
	repos  = []string{"acme/lib", "acme/app", "acme/web"}
)

const text = "Why: uploads fail.\r\n\r\nSee `Closes #99`.\n"

func plan() prchain.Plan {
	return prchain.Plan{
		Feature: "retry",
		Parent:  parent,
		Closes:  3,
		Parts: []prchain.Part{
			{
				Repo:   "acme/lib",
				Branch: "lucius/retry-lib",
				Title:  "Retry in the library",
				Body:   text,
			},
			{Repo: "acme/app", Branch: "lucius/retry-app", Base: "main"},
			{Repo: "acme/web", Branch: "lucius/retry-web"},
		},
	}
}

// A world is three repositories on the embedded GitHub and one machine.
type world struct {
	*testing.T
	server *githubsim.Server
	dir    string
}

func newWorld(t *testing.T) world {
	t.Helper()
	write := map[string]string{}
	seed := githubsim.Seed{}
	for _, name := range repos {
		write[name] = "write"
		seed.Repos = append(seed.Repos, githubsim.SeedRepo{Name: name, DefaultBranch: "main"})
	}

	seed.Users = []githubsim.SeedUser{
		{Login: "agents", Token: "tok-agents", Permissions: write},
		{Login: "olga", Token: "tok-olga", Permissions: write},
	}
	server, err := githubsim.New(seed, githubsim.Options{})
	if err == nil {
		_, err = server.AddIssue("acme/app", "olga", "Retry the upload", "")
	}

	if err != nil {
		t.Fatal(err)
	}

	return world{t, server, t.TempDir()}
}

func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

type still struct{}

func (still) Now() time.Time { return time.Now() }

func (still) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func (w world) client(through http.RoundTripper) *github.Client {
	w.Helper()
	c, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Token:   github.NewSecret("tok-agents"),
		HTTP:    through,
		Clock:   still{},
	})
	w.must(err)

	return c
}

func (w world) book() prchain.Book {
	return state.OpenJournal[prchain.State](filepath.Join(w.dir, "pr-chains"))
}

func (w world) executor() prchain.Executor {
	return prchain.Executor{Forge: w.client(w.server.Transport()), Book: w.book(), Label: "agent:authored"}
}

// all is everything that a run leaves behind, as text: every pull request, and the state file.
func (w world) all() string {
	w.Helper()
	var b strings.Builder
	for _, repo := range repos {
		for n := 1; ; n++ {
			i, err := w.server.Issue(repo, n)
			if err != nil {
				break
			}
			slices.Sort(i.Labels)
			fmt.Fprintf(&b, "%s#%d %v %s %s %q\n%s\n\n", repo, n, i.Pull, i.State, i.Title, i.Labels, i.Body)
		}
	}

	data, err := os.ReadFile(w.book().File("retry"))
	fmt.Fprintf(&b, "%s\n%v\n", data, err)
	return b.String()
}

var errKilled = errors.New("killed")

// A fuse ends a process at its n-th point: from there on nothing that it asks for happens.
type fuse struct {
	mu    sync.Mutex
	left  int
	blown bool
}

func (f *fuse) burn() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blown || f.left == 0 {
		f.blown = true
		return errKilled
	}

	f.left--
	return nil
}

// A fusedBook may die before and after each write.
type fusedBook struct {
	prchain.Book
	*fuse
}

func (b fusedBook) Open(name string) (state.JournalPage[prchain.State], error) {
	page, err := b.Book.Open(name)
	return fusedPage{page, b.fuse}, err
}

type fusedPage struct {
	state.JournalPage[prchain.State]
	*fuse
}

func (p fusedPage) Save(s prchain.State) error {
	if err := p.burn(); err != nil {
		return err
	}
	return errors.Join(p.JournalPage.Save(s), p.burn())
}

// A fusedNet may die before each request is sent, and after it was applied.
type fusedNet struct {
	next http.RoundTripper
	*fuse
}

func (n fusedNet) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := n.burn(); err != nil {
		return nil, err
	}
	resp, err := n.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := n.burn(); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}

	return resp, nil
}

// fused is the executor of a process that dies at its n-th point.
func (w world) fused(f *fuse) prchain.Executor {
	x := w.executor()
	x.Forge = w.client(fusedNet{w.server.Transport(), f})
	x.Book = fusedBook{x.Book, f}
	return x
}
