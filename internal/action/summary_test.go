package action_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
)

// story is a repository in which a sweep finds some of everything.
func story(t *testing.T) *world {
	w := planted(t, githubsim.SeedRepo{Name: app, DefaultBranch: "main"}, githubsim.SeedRepo{Name: "acme/legacy", Archived: true})
	for _, title := range []string{
		"Retry the upload when the link drops", "Cache the index between runs", "Name the port in the error | and the host",
		"Parse dates without a zone", "Escape <b>HTML</b> in titles", "Drop the old importer",
	} {
		w.issue(title)
	}
	for _, labels := range [][]string{{"agent:pr-open"}, {"agent:implement", "agent:pr-open"}, {"agent:implement", "do-not-pickup"}, {"agent:implement"}, {"agent:implement"}} {
		w.issue("Wait for review", labels...)
	}
	w.claim(1, "agents", "lucius", "retry")
	w.claim(2, "agents", "drake", "cache")
	w.claim(3, "agents", "vera", "port")
	w.claim(5, "agents", "erin", "escape")
	merged, err := w.server.OpenPull(app, "agents", githubsim.Pull{Title: "Name the port", Body: "Closes #3", Head: "port"})
	w.must(err)
	_, err = w.server.OpenPull(app, "agents", githubsim.Pull{Title: "Cache", Body: "Closes #2", Head: "cache"})
	w.must(err)
	w.must(w.server.MergePull(app, merged, "olga"))
	time.Sleep(2 * time.Hour)
	w.claim(4, "agents", "lucius", "dates")
	time.Sleep(3 * time.Hour)
	w.claim(6, "agents", "drake", "importer")
	return w
}

// TestSummary keeps the job summary of such a sweep in testdata/summary.md, from which
// tools/summary-picture makes docs/summary.png.
func TestSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := story(t)
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/issues/5/comments") {
				return &githubsim.Fault{Status: http.StatusBadGateway}
			}
			return nil
		}
		s := w.sweep("repos=acme/app acme/legacy acme/gone")
		w.said(s, 1)
		golden.Check(t, "testdata/summary.md", s.summary)
	})
}
