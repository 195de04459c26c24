package githubwork_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
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
				var waits []time.Duration
				o.Wait = func(ctx context.Context, d time.Duration) error {
					waits = append(waits, d)
					return clock{}.Sleep(ctx, d)
				}
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

				if said != 1 || times != 0 || !slices.Equal(waits, []time.Duration{2 * time.Second}) {
					t.Errorf("said %d times, %d faults left, waited %v", said, times, waits)
				}
			})
		})
	}
}

// TestCompleteStopped: who stops waiting for an answer that got lost has completed nothing.
func TestCompleteStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []githubsim.SeedIssue{{Number: 1, Title: "Work", Author: "bot", Labels: []string{queued}}})
		o := agent("lucius")
		o.Wait = func(context.Context, time.Duration) error { return context.Canceled }
		s := w.source(o)
		id := mustClaim(t, s, "github-1")
		w.Fault = func(r *http.Request) *githubsim.Fault {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/comments") {
				return nil
			}
			return &githubsim.Fault{Reset: true}
		}

		err := s.Complete(t.Context(), id, work.Result{Outcome: work.Success})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("complete: %v", err)
		}
		w.shows(1, "open", "agent:in-flight")
	})
}
