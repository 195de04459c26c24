package github

import (
	"context"
	"time"
)

// A Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep waits for d and returns nil, or returns the context's error as soon as it is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// machine is the clock of the machine.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }

func (machine) Sleep(ctx context.Context, d time.Duration) error {
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
