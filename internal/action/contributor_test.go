package action_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/config"
)

// commented delivers a comment of somebody's as an event.
func (w *world) commented(n int, login, text string) step {
	w.Helper()
	id, err := w.server.AddComment(app, n, login, text)
	w.must(err)
	time.Sleep(2 * time.Second)
	return w.deliver(tokActions, w.last("issue_comment", "created", fmt.Sprintf(`"id":%d,`, id)))
}

// TestContributorRequests: a contributor's claim costs at most two requests more than a person's.
func TestContributorRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.contributors = config.Default().Contributors
		w.contributors.Claim = config.ContributorsAll
		mine, theirs := w.issue("Work"), w.issue("Work")

		member := w.commented(mine, "tia", "/claim")
		stranger := w.commented(theirs, "stranger", "/claim")

		w.said(member, 0, "/claim by tia")
		w.said(stranger, 0, "/claim by stranger")
		if stranger.requests > member.requests+2 {
			t.Errorf("a contributor's claim made %d requests, a member's %d", stranger.requests, member.requests)
		}
	})
}

// TestCrowd: of a hundred commands in an hour so many are carried out as the repository allows;
// each of the others costs four requests at most and writes nothing.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.contributors = config.Default().Contributors
		w.contributors.Claim = config.ContributorsAll
		n := w.issue("Work")

		answered := 0
		for range 40 {
			s := w.commented(n, "stranger", "/release nothing @everyone")
			switch {
			case s.writes > 0:
				answered++
			case s.requests > 4:
				t.Errorf("a command that waits made %d requests", s.requests)
			}
		}

		if answered != w.contributors.Hourly {
			t.Errorf("%d commands were answered, want %d", answered, w.contributors.Hourly)
		}

		thread, err := w.server.Comments(app, n)
		w.must(err)
		for _, c := range thread {
			if c.Author != "stranger" {
				t.Errorf("%s wrote %s", c.Author, c.Body)
			}
		}

		time.Sleep(2 * time.Hour)
		w.said(w.sweep(), 0)
	})
}
