package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// UntilSignal returns a copy of ctx that ends when this program is told to stop: by an interrupt,
// by TERM, and when its terminal is closed, unless it was started to outlive that, as nohup does.
func UntilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}

	return signal.NotifyContext(ctx, signals...)
}
