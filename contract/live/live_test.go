package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// scratch is the embedded GitHub with a scratch repository.
func scratch(t *testing.T) *githubsim.Server {
	t.Helper()
	seed := githubsim.Seed{
		Users: []githubsim.SeedUser{{Login: "me", Token: "tok-me", Permissions: map[string]string{"me/scratch": "admin"}}},
		Repos: []githubsim.SeedRepo{{Name: "me/scratch"}},
	}
	s, err := githubsim.New(seed, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func look(ctx context.Context, s *githubsim.Server, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	getenv := func(name string) string { return map[string]string{"GH_TOKEN": "tok-me"}[name] }
	code = run(ctx, args, getenv, s.Client(), &o, &e)
	return code, o.String(), e.String()
}

// clean wants nothing left of a look but a closed issue without comments.
func clean(t *testing.T, s *githubsim.Server) {
	t.Helper()
	i, err := s.Issue("me/scratch", 1)
	if err != nil || i.State != "closed" || i.Comments != 0 {
		t.Errorf("left: %+v, %v", i, err)
	}
	if labels, err := s.RepoLabels("me/scratch"); err != nil || len(labels) != 0 {
		t.Errorf("left: labels %v, %v", labels, err)
	}
	dir, err := s.GitDir("me/scratch")
	if err != nil {
		t.Fatal(err)
	}
	if refs, err := exec.Command("git", "-C", dir, "for-each-ref", "refs/label-state").Output(); err != nil || len(refs) != 0 {
		t.Errorf("left: %s, %v", refs, err)
	}
}

// TestLive: the embedded GitHub is as the product assumes GitHub to be, and is left as it was.
func TestLive(t *testing.T) {
	s := scratch(t)
	synctest.Test(t, func(t *testing.T) {
		code, out, errs := look(t.Context(), s, "-repo", "me/scratch")
		if code != exitYes || errs != "" || strings.Count(out, "| as expected |") != len(assumptions()) {
			t.Errorf("exit %d\n%s\n%s", code, out, errs)
		}
		for _, want := range []string{"| node-limit | nothing | ", "| scopes | nothing | 200", "\n| 0s | 15 | 15 |\n", "| 30s | 15 | 15 |\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	})
	clean(t, s)
}

// TestLiveDiffers: what is not as expected is said, and so is what could not be found out; it is cleaned up all the same.
func TestLiveDiffers(t *testing.T) {
	s := scratch(t)
	s.Fault = func(r *http.Request) *githubsim.Fault {
		switch {
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/comments"):
			return &githubsim.Fault{StaleFor: 2500 * time.Millisecond}
		case strings.HasSuffix(r.URL.Path, "/reactions"):
			return &githubsim.Fault{Status: http.StatusInternalServerError}
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		code, out, errs := look(t.Context(), s, "-repo", "me/scratch")
		for _, want := range []string{
			"| comment-late | within 2 s | 2.6s | **differs** |", "| comment-late-graphql | within 2 s | within 2 s (the longest of 15: 0s) | as expected |",
			"| edited-by-reaction | lastEditedAt stayed | could not be found out: POST /issues/comments/", "\n| 2s | 0 | 15 |\n| 5s | 15 | 15 |\n",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if code != exitNo || errs != "" {
			t.Errorf("exit %d, %s", code, errs)
		}
	})
	clean(t, s)
}

// TestLiveInterrupted: an interrupt in the middle leaves nothing behind.
func TestLiveInterrupted(t *testing.T) {
	s := scratch(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s.Fault = func(r *http.Request) *githubsim.Fault {
			if strings.HasSuffix(r.URL.Path, "/reactions") {
				cancel()
			}
			return nil
		}
		if code, out, _ := look(ctx, s, "-repo", "me/scratch"); code == exitYes {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	clean(t, s)
}

func TestLiveCalledWrongly(t *testing.T) {
	s := scratch(t)
	for _, args := range [][]string{nil, {"-repo", "scratch"}, {"-repo", "a/b/c"}, {"-nonsense"}} {
		if code, _, errs := look(t.Context(), s, args...); code != exitCalled || errs == "" {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	if code, _, errs := look(t.Context(), s, "-repo", "me/gone"); code != exitUnknown || !strings.Contains(errs, "HTTP 404") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestPage: docs/github.md has the table of what is looked at, as the program has it.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/github.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| name | assumption | expected |\n|---|---|---|\n"
	for _, a := range assumptions() {
		want += fmt.Sprintf("| `%s` | %s | %s |\n", a.name, a.text, a.expected)
	}
	for _, q := range questions() {
		want += fmt.Sprintf("| `%s` | %s | nothing |\n", q.name, q.text)
	}
	_, rest, found := strings.Cut(string(page), "<!-- live -->\n")
	if !found || !strings.HasPrefix(rest, want) {
		t.Errorf("docs/github.md lacks the program's table below <!-- live -->:\n%s", want)
	}
	if m := regexp.MustCompile("make live REPO=").FindString(string(page)); m == "" {
		t.Error("docs/github.md does not say how to look")
	}
}
