//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// A bill counts what runs of the image ask of GitHub, one row of a table for each.
type bill struct{ strings.Builder }

// run runs the image and adds a row.
func (b *bill) run(t *testing.T, w world, what string, s step) {
	t.Helper()
	before := len(w.Requests())
	w.run(t, s)
	writes := len(w.writes(before))
	reads := len(w.Requests()) - before - writes
	if reads == 0 {
		t.Errorf("%s: asked nothing", what)
	}

	fmt.Fprintf(b, "| %s | %d | %d |\n", what, reads, writes)
}

// TestCostIsAsDocumented counts the requests of ordinary runs and compares them with the page.
func TestCostIsAsDocumented(t *testing.T) {
	var b bill
	b.WriteString("| run | reads | writes |\n|---|---|---|\n")

	var alive []githubsim.SeedIssue
	for n := range 300 {
		alive = append(alive, held(fmt.Sprint("Task ", n), time.Hour))
	}

	b.run(t, newWorld(t, alive...), "sweep of 300 issues in flight, all alive", sweep())
	b.run(t, newWorld(t, held("Retry the upload", 6*time.Hour), held("Cache the index", time.Hour)),
		"sweep that releases one claim", sweep())

	w := newWorld(t, free("Retry the upload"))
	opened := w.opened(t, tokDev)
	b.run(t, w, "pull request opened that closes one issue", opened)
	b.run(t, w, "the same event again, or one that changes nothing", opened)
	b.run(t, w, "pull request merged", w.after(t, "pull_request", "closed", func() {
		w.send(t, tokDev, http.MethodPut, "/pulls/2/merge", map[string]string{})
	}))

	w = newWorld(t, held("Retry the upload", time.Hour))
	b.run(t, w, "pull request that the guard refuses", w.opened(t, tokEve))

	w = newWorld(t, held("Retry the upload", time.Hour))
	b.run(t, w, "issue closed while somebody holds it", w.after(t, "issues", "closed", func() {
		w.send(t, tokDev, http.MethodPatch, "/issues/1",
			map[string]string{"state": "closed", "state_reason": "completed"})
	}))

	w = newWorld(t, held("Retry the upload", time.Hour))
	b.run(t, w, "`/release`", w.commented(t, tokEve, "/release"))

	if got, want := section(t, actionPage, "cost"), b.String(); got != want {
		t.Errorf("docs/action.md, section cost; the image asks for:\n%s", want)
	}
}
