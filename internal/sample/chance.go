package sample

import (
	"math/rand/v2"
	"sync"
)

// Chance is randomness that goroutines may draw from side by side, the same for the same seed and
// stream.
func Chance(seed, stream uint64) *rand.Rand {
	return rand.New(&lockedSource{source: rand.NewPCG(seed, stream)})
}

type lockedSource struct {
	mu     sync.Mutex
	source rand.Source
}

func (l *lockedSource) Uint64() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.Uint64()
}
