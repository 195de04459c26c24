package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/label-state/label-state/internal/outgoing"
)

// readTimed reads a file until it ends, and fails if it has not ended by that time; the read goes
// on then.
func readTimed(in *os.File, until time.Time) ([]byte, error) {
	ctx, cancel := context.WithDeadlineCause(context.Background(), until, os.ErrDeadlineExceeded)
	defer cancel()
	return outgoing.InTime(ctx, func() ([]byte, error) { return io.ReadAll(in) })
}
