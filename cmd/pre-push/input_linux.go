package main

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// readInput reads standard input to its end, and fails if that has not come by then. It waits without a timer of Go's, which
// would start threads: that took a twentieth of an everyday push.
func readInput(end time.Time) ([]byte, error) { return io.ReadAll(timely(end)) }

// A timely is standard input until a time.
type timely time.Time

func (t timely) Read(p []byte) (int, error) {
	for {
		left := time.Until(time.Time(t))
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		limit, input := syscall.NsecToTimeval(left.Nanoseconds()), syscall.FdSet{}
		input.Bits[0] = 1 // descriptor 0
		n, err := syscall.Select(1, &input, nil, nil, &limit)
		switch {
		case n > 0:
			return os.Stdin.Read(p)
		case err != nil && !errors.Is(err, syscall.EINTR):
			return 0, err
		}
	}
}
