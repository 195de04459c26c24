package setup

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/label-state/label-state/internal/ledger"
)

// Clock is the machine's clock.
func Clock() ledger.Clock { return clock{} }

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

// Sleep waits, or returns the context's error as soon as it is done.
func (clock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// word is a random word of eight hexadecimal digits, new at every call.
func word() string {
	var b [4]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}
