package action_test

import (
	"testing"
	"testing/synctest"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
)

// TestProposedByAnOldBranch: a branch that is only behind has what was corrected since. It does not
// change the file, and is not asked to answer for it.
func TestProposedByAnOldBranch(t *testing.T) {
	for name, c := range map[string]struct {
		changes bool
		code    int
	}{"changes it": {true, 1}, "is behind": {false, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				_, err := w.server.OpenPull(app, "olga", githubsim.Pull{
					Title:  "Work",
					Head:   "mine",
					Files:  map[string]string{config.Path: "guard: fial\n"},
					Behind: !c.changes,
				})
				w.must(err)

				s := w.deliver(tokActions, w.last("pull_request", "opened", ""))

				w.said(s, c.code)
				if s.writes > 0 {
					t.Errorf("wrote %d times", s.writes)
				}
			})
		})
	}
}
