package setup

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/ledger"
)

// Clock is the machine's clock.
func Clock() ledger.Clock { return clock.Machine{} }

// Word is a random word of eight hexadecimal digits, new at every call.
func Word() string {
	var b [4]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}
