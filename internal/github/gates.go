package github

import (
	"sync"
	"time"
)

// A closure is until when a resource, or everything, is closed. A used-up budget closes its own
// resource, going too fast closes everything.
type closure struct {
	until time.Time
	cause *RateLimitError
}

const everything = ""

// Limits are what GitHub has told the clients of one program about its limits, and what they have
// posted: it counts by login, whatever the repository. The zero value is ready, for any goroutine.
type Limits struct {
	mu sync.Mutex
	by map[login]*limits
}

// A login is a token at one GitHub.
type login struct{ api, token string }

// limits are those of one login.
type limits struct {
	posts *pacer

	mu     sync.Mutex
	closed map[string]closure // until when GitHub wants no requests, by the local clock
}

func newLimits() *limits { return &limits{posts: newPacer(), closed: map[string]closure{}} }

// of returns the login's; nil Limits remember nothing for anybody else.
func (l *Limits) of(api string, token Secret) *limits {
	if l == nil || token.empty() {
		return newLimits()
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	who := login{api, token.reveal()}
	if l.by[who] == nil {
		if l.by == nil {
			l.by = map[login]*limits{}
		}
		l.by[who] = newLimits()
	}

	return l.by[who]
}

// open returns how long the resource is closed yet, and why; zero where it is open.
func (l *limits) open(resource string, now time.Time) (wait time.Duration, cause *RateLimitError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	closed := l.closed[resource]
	if all := l.closed[everything]; all.until.After(closed.until) {
		closed = all
	}

	return max(0, closed.until.Sub(now)), closed.cause
}

// close closes a resource until then, unless it is closed longer.
func (l *limits) close(resource string, until time.Time, cause *RateLimitError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until.After(l.closed[resource].until) {
		l.closed[resource] = closure{until, cause}
	}
}

// A pacer spreads what creates content over time. The first ones go at once; no minute sees 80
// and no hour 500 (GitHub docs, secondary rate limits).
type pacer struct {
	mu      sync.Mutex
	buckets [2]bucket
}

// A bucket lets burst through at once and then one in every period. It remembers when it will
// be full again.
type bucket struct {
	every time.Duration
	burst int
	full  time.Time
}

func newPacer() *pacer {
	return &pacer{buckets: [2]bucket{
		{every: time.Second, burst: 15},     // at most 75 in any minute
		{every: time.Hour / 440, burst: 50}, // at most 490 in any hour
	}}
}

// take returns how long to wait before asking again, or zero: then one may go, and is counted.
func (p *pacer) take(now time.Time) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.buckets {
		wait = max(wait, max(b.full.Sub(now), 0)-time.Duration(b.burst-1)*b.every)
	}

	if wait > 0 {
		return wait
	}

	for n := range p.buckets {
		b := &p.buckets[n]
		if b.full.Before(now) {
			b.full = now
		}
		b.full = b.full.Add(b.every)
	}

	return 0
}
