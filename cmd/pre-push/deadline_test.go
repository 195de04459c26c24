package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadline: a deadline ends at its time, for who asks and for who waits, and with the context
// that it is made from.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := &deadline{Context: parent, at: time.Now().Add(time.Second)}
		waited := &deadline{Context: parent, at: time.Now().Add(time.Second)}
		if at, ok := asked.Deadline(); !ok || !at.Equal(time.Now().Add(time.Second)) || asked.Err() != nil {
			t.Errorf("ends at %s, %t, now with %v", at, ok, asked.Err())
		}

		start := time.Now()
		<-waited.Done()
		if took := time.Since(start); took != time.Second || !errors.Is(waited.Err(), context.DeadlineExceeded) ||
			!errors.Is(asked.Err(), context.DeadlineExceeded) {
			t.Errorf("after %s: %v, %v", took, waited.Err(), asked.Err())
		}

		early := &deadline{Context: parent, at: time.Now().Add(time.Second)}
		cancel()
		<-early.Done()
		if !errors.Is(early.Err(), context.Canceled) {
			t.Errorf("cancelled: %v", early.Err())
		}
	})
}
