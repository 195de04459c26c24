package ledger

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Clock tells elapsed time and waits. Its Now is compared only with its own earlier Now;
// what is old on GitHub is judged by server time.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// Settings are the ledger's parameters (spec.md#parameters).
type Settings struct {
	Rules       lifecycle.Rules
	Settle      time.Duration // wait between the claim's post and the read that decides
	Margin      time.Duration // a holder stops this long before its lease ends
	Patience    int           // reads to wait for an own record to become visible
	PushTimeout time.Duration // a fence with less lease left than this refuses
	Reconciles  int           // rounds before labels are reported as late
	Assign      Assign        // whose claims assign their login
	Quiet       bool          // a claim that is given up before it was confirmed is ended by an edit, which notifies nobody
	Minimize    bool          // sweeps minimize the comments of ended holds
	Run         string        // what made-up firing ids begin with; empty is the time
	Lease       time.Duration // of this caller's claims that name none; 0 is the repository's default, or the stage's
	// PausedHere returns this host's own pause of a repository, nil when there is none. Without it there is none.
	PausedHere func(Repo) (*lifecycle.Pause, error)
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
	by    decider
	token func() string // a fresh random word, 8 hexadecimal digits or more
	set   Settings
}

// New returns a ledger. token must return a different random word at each call; it ends up in
// nonces and firing ids.
func New(f Forge, c Clock, token func() string, s Settings) *Ledger {
	return &Ledger{forge: f, clock: c, by: comments{}, token: token, set: s}
}

// Rules returns the rules the ledger decides by.
func (l *Ledger) Rules() lifecycle.Rules { return l.set.Rules }

// Look reads the issue, for who has no question about taking it. Errors are *UnknownError.
func (l *Ledger) Look(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	return l.facts(ctx, i)
}

// Check reads the issue and answers whether the seeker may take it. An error is the answer
// "could not find out", as an *UnknownError.
func (l *Ledger) Check(ctx context.Context, i claim.Issue, who lifecycle.Seeker) (lifecycle.Facts, lifecycle.Verdict, error) {
	return l.check(ctx, i, func(f lifecycle.Facts) lifecycle.Verdict { return l.set.Rules.Verdict(f, who) })
}

func (l *Ledger) check(ctx context.Context, i claim.Issue, ask func(lifecycle.Facts) lifecycle.Verdict) (lifecycle.Facts, lifecycle.Verdict, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return f, lifecycle.Verdict{}, err
	}
	return l.judge(f, ask)
}

// judge asks for the verdict of a snapshot. Its error is an *UnknownError, "could not find out".
func (l *Ledger) judge(f lifecycle.Facts, ask func(lifecycle.Facts) lifecycle.Verdict) (lifecycle.Facts, lifecycle.Verdict, error) {
	f = l.Here(f)
	v := ask(f)
	switch {
	case f.PauseErr != nil:
		return f, v, &UnknownError{Issue: f.Issue, Err: f.PauseErr}
	case v.Answer == lifecycle.Unknown:
		return f, v, &UnknownError{Issue: f.Issue, Err: undecided(f, v)}
	}
	return f, v, nil
}

// Here adds to a snapshot what only this host knows: its own pause of the repository. Whoever asks a
// verdict of snapshots of its own adds it first. The shared pause comes before the host's.
func (l *Ledger) Here(f lifecycle.Facts) lifecycle.Facts {
	if l.set.PausedHere == nil || f.Pause != nil {
		return f
	}
	f.Pause, f.PauseErr = l.set.PausedHere(Repo{Owner: f.Issue.Owner, Name: f.Issue.Repo})
	return f
}

func (l *Ledger) facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	f, err := l.logged(ctx, i)
	if err != nil {
		return f, err
	}
	return l.Ruled(ctx, f)
}

// logged is the snapshot as the log has it, whatever a store says.
func (l *Ledger) logged(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	f, err := l.forge.Facts(ctx, i)
	return l.whole(i, f, err)
}

// whole refuses a snapshot that something is missing from.
func (l *Ledger) whole(i claim.Issue, f lifecycle.Facts, err error) (lifecycle.Facts, error) {
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
// one hundredth of the lease (spec.md#what-a-worker-does), but never more than a quarter of it.
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
