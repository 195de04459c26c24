//go:build !linux

package main

import (
	"os"
	"time"
)

// readInput reads standard input until it ends, and fails if it has not ended by that time.
func readInput(until time.Time) ([]byte, error) { return readTimed(os.Stdin, until) }
