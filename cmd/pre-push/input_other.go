//go:build !linux

package main

import (
	"io"
	"os"
	"time"
)

// readInput reads standard input to its end, and fails if that has not come by then.
func readInput(end time.Time) ([]byte, error) {
	type result struct {
		input []byte
		err   error
	}
	read := make(chan result, 1)
	go func() {
		input, err := io.ReadAll(os.Stdin)
		read <- result{input, err}
	}()
	select {
	case r := <-read:
		return r.input, r.err
	case <-time.After(time.Until(end)):
		return nil, os.ErrDeadlineExceeded
	}
}
