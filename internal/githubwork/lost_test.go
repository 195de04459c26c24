package githubwork_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/work"
)

// TestCompleteWhenAnswersGetLost: whether the comment arrived or not, a late one included, it is
// there once and the issue is done.
func TestCompleteWhenAnswersGetLost(t *testing.T) {
	for name, fault := range map[string]githubsim.Fault{
		"applied":     {ApplyThenFail: true},
		"not applied": {Reset: true},
		"later":       {ApplyLate: time.Second},
		"refused":     {Status: http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []githubsim.SeedIssue{{
					Number: 1,
					Title:  "Work",
					Author: "bot",
					Labels: []string{queued},
				}})
				o := agent("lucius")
				o.Wait = clock{}.Sleep
				s := w.source(o)
				if _, err := s.Claim(t.Context(), "github-1"); err != nil {
					t.Fatal(err)
				}

				times := 1
				w.Fault = func(r *http.Request) *githubsim.Fault {
					if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/comments") || times == 0 {
						return nil
					}
					times--
					return &fault
				}

				if err := s.Complete(t.Context(), "github-1",
					work.Result{Outcome: work.Success, Summary: "retries"}); err != nil {
					t.Fatal(err)
				}

				w.shows(1, "closed", "agent:done")
				said := 0
				for _, body := range w.bodies(1) {
					if strings.Contains(body, "label-state-result") {
						said++
					}
				}

				if said != 1 || times != 0 {
					t.Errorf("said %d times, %d faults left", said, times)
				}
			})
		})
	}
}
