package githubsim

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"time"
)

// A Fault is what goes wrong with one request. The zero Fault does no harm. Faults of one value
// combine.
type Fault struct {
	// Delay passes before the request is looked at; DelayAnswer after it was applied.
	Delay, DelayAnswer time.Duration
	// Status, Header and Body are the answer, instead of serving the request. With ApplyThenFail,
	// ApplyLate or ApplyHeld they are what the client gets in place of a reset.
	Status int
	Header http.Header
	Body   string
	// ApplyThenFail applies the request and loses the answer: the connection is reset.
	ApplyThenFail bool
	// ApplyLate applies the request so much later, and resets the connection now. What is due is
	// applied before the next request, with the time at which it was due. Requests of git itself
	// cannot wait: they are applied at once.
	ApplyLate time.Duration
	// ApplyHeld applies the request when ReleaseLate is called, and resets the connection now.
	ApplyHeld bool
	// StaleBefore answers a read from the past: only changes made before that moment are seen.
	// Writes know the present.
	StaleBefore time.Time
	// StaleFor answers a read from the past: as it was so long ago.
	StaleFor time.Duration
	// StalePrefix answers a read from the past: the newest so many changes are not seen. What one
	// request does is one change; each field of a GraphQL mutation is one of its own.
	StalePrefix int
	// Unseen answers as if what the request names had not been stored yet: a tree for a commit, a
	// commit for a reference. It is what happens right after it was stored.
	Unseen bool
	// StaleGap are ids of comments that are not seen, though younger ones are.
	StaleGap []int64
	// QueryNodes and QueryConnections are GitHub's resource limits: how many nodes, and how many
	// connections, a GraphQL query may read. A connection past that is refused as
	// RESOURCE_LIMITS_EXCEEDED, and so is every one after it; the answer is partial. 0 is no limit.
	// What a mutation reads is not limited.
	QueryNodes, QueryConnections int
	// QueryTimeout is how many nodes a GraphQL query may read before GitHub gives it up: it answers
	// Status then, or 502, and nothing of what was read. 0 is no limit.
	QueryTimeout int
	// Truncate lets only so many bytes of the answer's body through, then resets the connection.
	Truncate int
	// Reset drops the connection without applying anything.
	Reset bool
}

// stale reports whether the fault asks for an answer from the past.
func (f *Fault) stale() bool {
	return !f.StaleBefore.IsZero() || f.StaleFor > 0 || f.StalePrefix > 0 || len(f.StaleGap) > 0
}

// view is what a read under this fault sees.
func (f *Fault) view(j *journal) view {
	v := present()
	if !f.stale() {
		return v
	}

	if f.StaleFor > 0 {
		v.upTo = j.before(j.at.Add(-f.StaleFor))
	}

	if !f.StaleBefore.IsZero() {
		v.upTo = min(v.upTo, j.before(f.StaleBefore))
	}

	if f.StalePrefix > 0 {
		v.upTo = min(v.upTo, j.without(f.StalePrefix))
	}
	v.gap = map[int64]bool{}

	for _, id := range f.StaleGap {
		v.gap[id] = true
	}

	return v
}

// errReset is what a client sees when the other side hangs up.
func errReset() error { return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET} }

// pause waits, or returns the context's error if that is over first.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
