//go:build unix

package app

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestUntilSignal: a terminal that is closed ends a command, unless the program was started to
// outlive it.
func TestUntilSignal(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}

	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // whatever these tests were started under
	t.Cleanup(func() { signal.Stop(heard) })
	ctx, stop := UntilSignal(t.Context())
	defer stop()
	if err := self.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}

	<-ctx.Done()
	<-heard

	signal.Ignore(syscall.SIGHUP)
	t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	_, stop = UntilSignal(t.Context())
	defer stop()
	if !signal.Ignored(syscall.SIGHUP) {
		t.Error("a program that was started under nohup ends with its terminal")
	}
}
