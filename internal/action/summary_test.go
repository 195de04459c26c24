package action_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
)

// story is a repository in which a sweep finds some of everything.
func story(t *testing.T) *world {
	w := planted(t, githubsim.SeedRepo{Name: app, DefaultBranch: "main"},
		githubsim.SeedRepo{Name: "acme/legacy", Archived: true})
	for _, title := range []string{
		"Retry the upload when the link drops", "Cache the index between runs",
		"Name the port in the error | and the host",
		"Parse dates without a zone", "Escape <b>HTML</b> in titles", "Drop the old importer",
	} {
		w.issue(title)
	}

	for _, labels := range [][]string{
		{"agent:pr-open"},
		{"agent:implement", "agent:pr-open"},
		{"agent:implement", "do-not-pickup"},
		{"agent:plan-pending-approval"},
		{
			"agent:implement",
			"needs:human-scope",
		},
	} {
		w.issue("Wait for review", labels...)
	}

	w.claim(1, "agents", "lucius", "retry")
	w.claim(2, "agents", "drake", "cache")
	w.claim(3, "agents", "vera", "port")
	w.claim(5, "agents", "erin", "escape")

	for _, one := range []struct {
		issue       int
		login, body string
	}{
		{9, "olga", "<!-- agent-claim:codename=olga firing_id=p1 nonce=01234567 ttl=none person=olga state=held -->"},
		{10, "agents", "<!-- agent-claim:codename=rex firing_id=r1 nonce=01234567 ttl=20h state=held -->"},
		{10, "agents", "<!-- agent-plan:codename=rex firing_id=r1 -->"},
	} {
		_, err := w.server.AddComment(app, one.issue, one.login, one.body)
		w.must(err)
	}

	merged, err := w.server.OpenPull(app, "agents",
		githubsim.Pull{Title: "Name the port", Body: "Closes #3", Head: "port"})
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
			body, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			posts := strings.HasSuffix(r.URL.Path, "/issues/5/comments") || bytes.Contains(body, []byte("addComment"))
			if w.must(err); r.Method == http.MethodPost && posts && bytes.Contains(body, []byte("codename=erin")) {
				return &githubsim.Fault{Status: http.StatusBadGateway}
			}

			return nil
		}

		s := w.sweep("repos=acme/app acme/legacy acme/gone")
		w.said(s, 1)
		golden.Check(t, "testdata/summary.md", s.summary)
	})
}

// TestSummaryUnwritten: a summary or an output that cannot be written is a warning.
func TestSummaryUnwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := story(t)
		reader, full := io.Pipe()
		w.must(reader.Close())
		for _, breaks := range []func(*action.Step){
			func(s *action.Step) { s.Summary = full },
			func(s *action.Step) { s.Summary, s.Output = io.Discard, full },
		} {
			w.said(w.run(w.Context(), run{
				token:  tokActions,
				name:   "schedule",
				event:  []byte("{}"),
				change: breaks,
			}), 0, "::warning::io: read/write on closed pipe")
		}
	})
}
