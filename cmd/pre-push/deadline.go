package main

import (
	"context"
	"sync"
	"time"
)

// A deadline is a context that ends at a time. It starts a timer, and with it threads of Go's, only
// when somebody waits for its end: most pushes are looked through before anybody does.
type deadline struct {
	context.Context // ends it as well
	at              time.Time
	once            sync.Once
	timed           context.Context
	stop            context.CancelFunc
}

func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

func (d *deadline) Done() <-chan struct{} {
	d.once.Do(func() { d.timed, d.stop = context.WithDeadline(d.Context, d.at) })
	return d.timed.Done()
}

func (d *deadline) Err() error {
	if err := d.Context.Err(); err != nil || time.Now().Before(d.at) {
		return err
	}
	return context.DeadlineExceeded
}

// end stops the timer if there is one. Nobody is waiting.
func (d *deadline) end() {
	if d.stop != nil {
		d.stop()
	}
}
