package ledger

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Clock tells elapsed time and waits. Its Now is compared only with its own earlier Now;
// what is old on GitHub is judged by server time.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// Settings are the ledger's parameters (PROTOCOL section 9).
type Settings struct {
	Rules       lifecycle.Rules
	Settle      time.Duration // wait between the claim's post and the read that decides
	Margin      time.Duration // a holder stops this long before its lease ends
	Patience    int           // reads to wait for an own record to become visible
	PushTimeout time.Duration // a fence with less lease left than this refuses
	Reconciles  int           // rounds before labels are reported as late
	Trusted     []string      // logins whose records count although they may not label
}

// DefaultSettings are the protocol's numbers.
func DefaultSettings() Settings {
	return Settings{
		Rules: lifecycle.DefaultRules(), Settle: 2 * time.Second, Margin: 10 * time.Second,
		Patience: 30, PushTimeout: time.Minute, Reconciles: 12,
	}
}

// A Ledger runs the protocol against one GitHub.
type Ledger struct {
	forge Forge
	clock Clock
	store lease.Store // nil: the comments decide
	kind  string      // of the store, as records name it; empty without one
	agree func(context.Context) error
	token func() string // a fresh random word, 8 hexadecimal digits or more
	set   Settings
}

// New returns a ledger. token must return a different random word at each call; it ends up in
// nonces and firing ids.
func New(f Forge, c Clock, token func() string, s Settings) *Ledger {
	return &Ledger{forge: f, clock: c, token: token, set: s}
}

// Rules returns the rules the ledger decides by.
func (l *Ledger) Rules() lifecycle.Rules { return l.set.Rules }

// Check reads the issue and answers whether the seeker may take it. An error is the answer
// "could not find out", as an *UnknownError.
func (l *Ledger) Check(ctx context.Context, i claim.Issue, who lifecycle.Seeker) (lifecycle.Facts, lifecycle.Verdict, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return f, lifecycle.Verdict{}, err
	}
	v := l.set.Rules.Verdict(f, who)
	if v.Answer == lifecycle.Unknown {
		return f, v, &UnknownError{Issue: i, Err: verdictError{v}}
	}
	return f, v, nil
}

func (l *Ledger) facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	f, err := l.logged(ctx, i)
	if err != nil {
		return f, err
	}
	return l.ruled(ctx, f)
}

// logged is the reading as the log has it, whatever a store says.
func (l *Ledger) logged(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	f, err := l.forge.Facts(ctx, i)
	if err == nil && len(f.Missing) > 0 {
		err = verdictError{l.set.Rules.Verdict(f, lifecycle.Seeker{})}
	}
	if err != nil {
		return f, &UnknownError{Issue: i, Err: err}
	}
	return f, nil
}

// elapsed is how much time has passed since start.
func (l *Ledger) elapsed(start time.Time) time.Duration { return clock.Passed(start, l.clock.Now()) }

// margin is how long before its end a lease counts as over for its holder: at least Margin, or
// one hundredth of the lease (PROTOCOL section 9), but never more than a quarter of it.
func (l *Ledger) margin(lease time.Duration) time.Duration {
	return min(max(l.set.Margin, lease/100), lease/4)
}

// backoff is how long to wait before read n (from 0): 250 ms doubling to 4 s.
func backoff(n int) time.Duration {
	return min(250*time.Millisecond<<min(max(n, 0), 10), 4*time.Second)
}

// pause waits for d before a repetition; n counts the tries from 0, and the first waits for nothing.
func (l *Ledger) pause(ctx context.Context, n int, d time.Duration) error {
	if n == 0 {
		return nil
	}
	return l.clock.Sleep(ctx, d)
}

// jitter is a random wait of up to twice backoff(n), so that two reconcilers do not keep step.
func (l *Ledger) jitter(n int) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(l.token()))
	return time.Duration(float64(2*backoff(n)) * float64(h.Sum32()) / float64(1<<32))
}
