package lifecycle

import (
	"hash/fnv"
	"math/bits"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// DefaultRules are the defaults of spec.md#parameters with the agent preset.
func DefaultRules() Rules {
	return Rules{
		Scheme:         labels.Agent(),
		Terms:          claim.DefaultTerms(),
		Exclude:        []string{"blocked", "wip"},
		MaxAttempts:    3,
		Rest:           []time.Duration{2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour},
		Stray:          10 * time.Minute,
		OutsiderIssues: 3,
		Nudge:          14 * 24 * time.Hour,
		AssignedBotTTL: 2 * time.Hour,
	}
}

// escalated reports whether the issue failed too often (spec.md#attempts).
func (r Rules) escalated(s claim.State) bool {
	return r.MaxAttempts > 0 && len(s.Attempts) >= r.MaxAttempts
}

// RestUntil returns until when the issue rests between attempts, or the zero time: the larger of
// what releases since the last reset asked for and the resting time of that many failures, spread
// over 75 % to 125 % by the key of the last failed worker, so that every reader gets the same
// answer (spec.md#back-off).
func (r Rules) RestUntil(s claim.State) time.Time {
	until := s.NotBefore
	n := len(s.Attempts)
	if n == 0 || len(r.Rest) == 0 {
		return until
	}

	last := s.Attempts[n-1]
	// d·3/4 + d/2·h/2³² in whole milliseconds, h being FNV-1a (32 bits) of codename:firing_id. No
	// fractions, so that implementations in other languages agree to the millisecond.
	h := fnv.New32a()
	h.Write([]byte(last.Worker.String()))
	ms := uint64(max(r.Rest[min(n, len(r.Rest))-1], 0).Milliseconds())
	hi, lo := bits.Mul64(ms/2, uint64(h.Sum32()))
	rest := time.Duration(ms*3/4+hi<<32+lo>>32) * time.Millisecond
	return claim.Latest(until, last.Release.At.Add(rest))
}
