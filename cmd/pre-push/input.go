package main

import (
	"io"
	"os"
	"time"
)

// readTimed reads a file until it ends, and fails if it has not ended by that time; the read goes on then.
func readTimed(in *os.File, until time.Time) ([]byte, error) {
	type result struct {
		input []byte
		err   error
	}
	read := make(chan result, 1)
	go func() {
		input, err := io.ReadAll(in)
		read <- result{input, err}
	}()
	select {
	case r := <-read:
		return r.input, r.err
	case <-time.After(time.Until(until)):
		return nil, os.ErrDeadlineExceeded
	}
}
