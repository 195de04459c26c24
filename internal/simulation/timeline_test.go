package simulation

import (
	"context"
	"sync"
	"time"
)

// A timeline hands out instants, each once: whoever waits wakes alone.
type timeline struct {
	mu    sync.Mutex
	taken map[int64]bool
}

func newTimeline() *timeline { return &timeline{taken: map[int64]bool{}} }

// sleep waits for about d, or returns the context's error as soon as it is done.
func (l *timeline) sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(time.Until(l.take(time.Now().Add(max(d, 1)))))
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// take returns the first free instant at or after the one that is wanted.
func (l *timeline) take(at time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.taken[at.UnixNano()] {
		at = at.Add(1)
	}

	l.taken[at.UnixNano()] = true
	return at
}

// A clock is what one machine believes the time to be. Its waits are true.
type clock struct {
	*timeline
	skew time.Duration
}

func (c clock) Now() time.Time { return time.Now().Add(c.skew) }

func (c clock) Sleep(ctx context.Context, d time.Duration) error { return c.sleep(ctx, d) }
