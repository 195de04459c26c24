// Package clock is the machine's clock, for those who are given one (ledger.Clock).
package clock

import (
	"context"
	"time"
)

// Machine tells the machine's time and waits by it.
type Machine struct{}

// Now returns the time with its monotonic reading.
func (Machine) Now() time.Time { return time.Now() }

// Sleep waits for d and returns nil, or returns the context's error as soon as it is done.
func (Machine) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Passed is how much time has passed from start to now, both of one clock: the larger of what the
// monotonic and the wall clock say. Go's monotonic clock stands still while a Linux machine is
// suspended, and a wall clock may be set back.
func Passed(start, now time.Time) time.Duration {
	return max(now.Sub(start), now.Round(0).Sub(start.Round(0)))
}
