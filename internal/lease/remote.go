package lease

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
)

// The kinds of store that a repository's configuration can name (claim.lease).
const (
	Comments = "comments" // no store: the log decides
	Refs     = "refs"     // git references of the repository itself
	Redis    = "redis"
)

// An Opener opens a store that is a server of its own, at its URL. It connects when the store is
// first asked something. With TLS, secure is how the two recognize each other; nil is by what the
// system trusts. Errors never show a password.
type Opener func(secure *tls.Config, url string) (Remote, error)

// A Remote is a store with connections to close. Leases stay.
type Remote interface {
	Store
	io.Closer
}

// A Prober is a store that can find out whether it could be used.
type Prober interface {
	// Probe does, for the issue's repository, what taking a lease needs and leaves none behind.
	Probe(ctx context.Context, i claim.Issue) error
}

// A Lister is a store that can say which issues of a repository it may know a lease of.
type Lister interface {
	// Known lists the numbers of issues in i's repository; some may no longer have a lease.
	Known(ctx context.Context, i claim.Issue) ([]int, error)
}

// An Error is what a store failed with: nobody knows whether anything was changed.
type Error struct {
	Kind string
	Err  error
}

func (e *Error) Error() string { return "lease store " + e.Kind + ": " + e.Err.Error() }

// Unwrap returns what the store said.
func (e *Error) Unwrap() error { return e.Err }

// A DeniedError is a store that does not let this login do that, or one that does not accept this
// machine's certificate, or whose own this machine does not accept: nothing was changed, and asking
// again changes nothing.
type DeniedError struct {
	Remedy string // what a person can do, as an imperative
	Err    error
}

func (e *DeniedError) Error() string { return e.Err.Error() }

// Unwrap returns what the store said.
func (e *DeniedError) Unwrap() error { return e.Err }

// Rejected reports true: nothing was changed.
func (e *DeniedError) Rejected() bool { return true }

// Rejected reports whether an error says, with a method Rejected, that what was asked for was
// certainly not done. After any other it may have been, and whoever asked looks before asking
// again.
func Rejected(err error) bool {
	var r interface{ Rejected() bool }
	return errors.As(err, &r) && r.Rejected()
}

// ErrAddress is an address that an Opener cannot read. It does not show the address, which may have
// a password in it.
var ErrAddress = errors.New("the address is malformed")

// ErrNotLinked is a store that a repository names and this program was built without.
var ErrNotLinked = errors.New("this program was built without that lease store")

// errDryRun is what a store that only looks says to everything else (cli.md).
var errDryRun = errors.New("dry run: nothing is written to the lease store")

// ReadOnly is a store that can only be looked at.
type ReadOnly struct{ Store }

// Acquire refuses.
func (ReadOnly) Acquire(context.Context, Ask) (Lease, error) { return Lease{}, errDryRun }

// Renew refuses.
func (ReadOnly) Renew(context.Context, Lease) (Lease, error) { return Lease{}, errDryRun }

// Release refuses.
func (ReadOnly) Release(context.Context, Lease) error { return errDryRun }

// Known implements Lister, for a store that does.
func (s ReadOnly) Known(ctx context.Context, i claim.Issue) ([]int, error) {
	if l, ok := s.Store.(Lister); ok {
		return l.Known(ctx, i)
	}
	return nil, nil
}

// A Late is a store that is opened when it is first asked something, and opened again after it
// could not be. It may be used from any goroutine.
type Late struct {
	open    func() (Remote, error)
	waiting clock.Teller

	mu     sync.Mutex
	opened Remote
}

// AnswerTime is how long a store that is a server of its own is waited for, for one answer.
const AnswerTime = 10 * time.Second

// NewLate returns a store that open will open. Who is given is told when it is waited for longer
// than clock.Silence.
func NewLate(open func() (Remote, error), waiting clock.Teller) *Late {
	return &Late{open: open, waiting: waiting}
}

// watch tells of a question that takes long, until its answer is there.
func (s *Late) watch(ctx context.Context) *clock.Vigil {
	until := time.Now().Add(AnswerTime)
	if deadline, limited := ctx.Deadline(); limited && deadline.Before(until) {
		until = deadline
	}

	v := clock.Watch(s.waiting)
	v.For("an answer of the lease store", until)
	return v
}

// store returns the store, and opens it when it is not open.
func (s *Late) store() (Remote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		return s.opened, nil
	}

	opened, err := s.open()
	if err != nil {
		return nil, err
	}

	s.opened = opened
	return opened, nil
}

// Close closes the store if it was opened.
func (s *Late) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return nil
	}

	err := s.opened.Close()
	s.opened = nil
	return err
}

// Acquire implements Store.
func (s *Late) Acquire(ctx context.Context, a Ask) (Lease, error) {
	defer s.watch(ctx).End()

	to, err := s.store()
	if err != nil {
		return Lease{}, err
	}

	return to.Acquire(ctx, a)
}

// Renew implements Store.
func (s *Late) Renew(ctx context.Context, l Lease) (Lease, error) {
	defer s.watch(ctx).End()

	to, err := s.store()
	if err != nil {
		return Lease{}, err
	}

	return to.Renew(ctx, l)
}

// Release implements Store.
func (s *Late) Release(ctx context.Context, l Lease) error {
	defer s.watch(ctx).End()

	to, err := s.store()
	if err != nil {
		return err
	}

	return to.Release(ctx, l)
}

// Look implements Store.
func (s *Late) Look(ctx context.Context, i claim.Issue) (Lease, bool, error) {
	defer s.watch(ctx).End()

	to, err := s.store()
	if err != nil {
		return Lease{}, false, err
	}

	return to.Look(ctx, i)
}

// Probe implements Prober, for a store that does.
func (s *Late) Probe(ctx context.Context, i claim.Issue) error {
	defer s.watch(ctx).End()

	to, err := s.store()
	if err != nil {
		return err
	}
	if p, ok := to.(Prober); ok {
		return p.Probe(ctx, i)
	}

	_, _, err = to.Look(ctx, i)
	return err
}

// Known implements Lister, for a store that does.
func (s *Late) Known(ctx context.Context, i claim.Issue) ([]int, error) {
	defer s.watch(ctx).End()

	to, err := s.store()
	if err != nil {
		return nil, err
	}
	if l, ok := to.(Lister); ok {
		return l.Known(ctx, i)
	}

	return nil, nil
}
