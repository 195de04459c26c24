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
