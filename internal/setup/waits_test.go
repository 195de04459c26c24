package setup_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/setup"
)

// TestWaits: requests that wait side by side for one thing are one line, and the next wait is
// another.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		tell := setup.Waits(func(text string) { said = append(said, text) })
		end := time.Now().Add(time.Minute)
		tell("GitHub's rate limit", end)
		tell("GitHub's rate limit", end.Add(time.Second))
		tell("an answer", end)
		tell("the checks", time.Time{})
		time.Sleep(2 * time.Minute)
		tell("GitHub's rate limit", time.Now().Add(time.Minute))
		time.Sleep(time.Minute)
		tell("GitHub's rate limit", time.Now().Add(time.Minute))
		time.Sleep(2 * time.Minute)
		tell("GitHub's rate limit", time.Now().Add(time.Minute))

		want := []string{
			"waiting for GitHub's rate limit, until 00:01:00 UTC",
			"waiting for an answer, until 00:01:00 UTC",
			"waiting for the checks",
			"waiting for GitHub's rate limit, until 00:03:00 UTC",
			"still waiting, until 00:04:00 UTC",
			"waiting for GitHub's rate limit, until 00:06:00 UTC",
		}

		if !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	})
}
