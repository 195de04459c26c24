package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/clock"
)

// TestSleep: it waits as long as was asked, no longer than the caller does, and not at all when
// that is over.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		over, cancel := context.WithCancel(t.Context())
		cancel()

		for _, c := range []struct {
			ctx   context.Context
			d     time.Duration
			takes time.Duration
			want  error
		}{
			{t.Context(), time.Minute, time.Minute, nil},
			{t.Context(), 0, 0, nil},
			{soon, time.Minute, 0, context.DeadlineExceeded}, // a minute has passed
			{over, time.Minute, 0, context.Canceled},
			{over, 0, 0, context.Canceled},
		} {
			start := clock.Machine{}.Now()
			err := clock.Machine{}.Sleep(c.ctx, c.d)
			if took := (clock.Machine{}).Now().Sub(start); !errors.Is(err, c.want) || took != c.takes {
				t.Errorf("Sleep(%s) = %v after %s, want %v after %s", c.d, err, took, c.want, c.takes)
			}
		}

		half, done := context.WithTimeout(t.Context(), 30*time.Second)
		defer done()
		start := time.Now()
		if err := (clock.Machine{}).Sleep(half, time.Minute); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != 30*time.Second {
			t.Errorf("Sleep = %v after %s, want the caller's deadline", err, time.Since(start))
		}
	})
}

// TestPassed: time that only the wall clock has seen counts.
func TestPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		time.Sleep(time.Minute)
		for name, c := range map[string]struct {
			start, now time.Time
			want       time.Duration
		}{
			"both":      {start, time.Now(), time.Minute},
			"suspended": {start, time.Now().Round(0).Add(time.Hour), time.Hour + time.Minute},
		} {
			if got := clock.Passed(c.start, c.now); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	})
}
