package gitref

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// A tip is where a chain is, or was when it was read.
type tip struct {
	state
	oid    string
	since  time.Time // the last date of the lease that the server wrote
	now    time.Time // by the server's clock, when it was read
	repoID string
}

// free reports whether anybody may claim on this tip: nobody has the lease, or whoever had it let
// it run out by the server's own dates.
func (t tip) free(grace time.Duration) bool {
	return !t.owned() || t.now.Sub(t.since) >= t.ttl+grace
}

// lease is the tip's lease as callers know it.
func (t tip) lease(i claim.Issue) lease.Lease {
	return lease.Lease{
		Issue:   i,
		Worker:  t.worker,
		Nonce:   t.nonce,
		TTL:     t.ttl,
		Token:   t.token,
		Expires: t.since.Add(t.ttl),
		Tip:     fmt.Sprintf("%s/%d/%d/%s", t.oid, t.pos, t.epoch, t.repoID),
	}
}

// standing is the tip that a lease was last known to be at, without asking anybody. It reports
// false for a lease that does not say.
func standing(l lease.Lease) (tip, bool) {
	part := strings.SplitN(l.Tip, "/", 4)
	if len(part) != 4 || l.Token < 1 || l.TTL <= 0 {
		return tip{}, false
	}

	pos, err1 := strconv.ParseInt(part[1], 10, 64)
	epoch, err2 := strconv.ParseInt(part[2], 10, 64)
	s := state{
		kind:   kindClaim,
		worker: l.Worker,
		nonce:  l.Nonce,
		epoch:  epoch,
		pos:    pos,
		token:  l.Token,
		ttl:    l.TTL,
	}

	return tip{state: s, oid: part[0], repoID: part[3]}, err1 == nil && err2 == nil
}

// shown is read, or what is known without asking. It is for a first look: a swap from it can only
// lose.
func (s *Store) shown(ctx context.Context, i claim.Issue) (tip, error) {
	if got, known := s.refs.ShownRef(i, RefName(i)); known {
		return tipOf(i, got)
	}
	return s.read(ctx, i)
}

// read asks where the chain is.
func (s *Store) read(ctx context.Context, i claim.Issue) (tip, error) {
	got, err := s.refs.GetRef(ctx, i, RefName(i))
	if err != nil {
		return tip{}, fmt.Errorf("read %s: %w", RefName(i), err)
	}
	return tipOf(i, got)
}

// tipOf reads the commit of a reference; without one it is a tip without a chain. Something else
// than a lease is notLease.
func tipOf(i claim.Issue, got Tip) (t tip, err error) {
	t = tip{
		oid:    got.OID,
		since:  got.Date,
		now:    got.Now,
		repoID: got.RepoID,
	}

	if got.OID == "" {
		return t, nil
	}
	if t.state, err = decode(got.Message); err != nil {
		return tip{}, notLease(RefName(i), err)
	}

	if t.kind == kindPush {
		t.since = t.dated
	}

	return t, nil
}

const (
	rereads = 4 // of a reference that is known to have moved further than the snapshot shows
	repeats = 4 // of a swap whose answer was lost
	races   = 4 // of a step that others were faster at
)

// backoff is how long to wait before the (n+1)-th time.
func backoff(n int) time.Duration { return 250 * time.Millisecond << min(n, 5) }

// errBehind is a chain that is known to be further than anybody lets us see. It may also have been
// deleted.
var errBehind = errors.New("the snapshots are older than what is known")

// readPast reads until the chain is seen beyond pos, where it is known to be.
func (s *Store) readPast(ctx context.Context, i claim.Issue, pos int64) (t tip, err error) {
	for n := range rereads {
		if n > 0 {
			if err := s.sleep(ctx, backoff(n-1)); err != nil {
				return tip{}, err
			}
		}

		if t, err = s.read(ctx, i); t.pos > pos { // an error has no place
			return t, nil
		}
	}

	if err == nil {
		err = errBehind
	}

	return t, err
}

// advance puts one commit on the chain. ErrMoved says that the chain is no longer at t and the
// commit is not on it; an openError that nobody knows.
func (s *Store) advance(ctx context.Context, i claim.Issue, t tip, next state) (tip, error) {
	after, err := s.commit(ctx, i, t, next)
	if err != nil {
		return tip{}, err
	}

	return after, s.swap(ctx, []move{{i, t, after}})
}

// commit makes the commit that is to follow on a tip. The chain is where it was.
func (s *Store) commit(ctx context.Context, i claim.Issue, t tip, next state) (tip, error) {
	message := next.encode()
	if _, err := decode(message); err != nil {
		return tip{}, fmt.Errorf("write lease: it would not be read back: %w", err)
	}

	made, err := s.refs.CreateCommit(ctx, i, t.oid, message)
	if err != nil {
		return tip{}, fmt.Errorf("write lease: %w", err)
	}

	return tip{
		state:  next,
		oid:    made.OID,
		since:  made.Date,
		repoID: t.repoID,
	}, nil
}

// An openError is a swap of which nobody knows whether it was, or still will be, carried out.
type openError struct{ error }

func (e openError) Unwrap() error { return e.error }

// A move is one reference on its way from one tip to the next.
type move struct {
	issue    claim.Issue
	from, to tip
}

// swap moves references, all or none, and finds out whether it did. GitHub answers a reference that
// is not where it was as it answers its own faults, so the chains are looked at before it is asked
// again. To ask again is safe: the same commit can be on a chain only once.
func (s *Store) swap(ctx context.Context, moves []move) error {
	all := make([]Swap, len(moves))
	for n, m := range moves {
		all[n] = Swap{
			Name:   RefName(m.issue),
			Before: m.from.oid,
			After:  m.to.oid,
			RepoID: m.from.repoID,
		}
	}

	err := s.refs.SwapRefs(ctx, moves[0].issue, all...)
	if errors.Is(err, ErrRefused) {
		if moved, known := s.landed(ctx, moves); known {
			return moved
		}
		return err
	}
	if err == nil || errors.Is(err, ErrMoved) || lease.Rejected(err) {
		return err
	}

	for n := range repeats {
		if cancelled := s.sleep(ctx, backoff(n)); cancelled != nil {
			break
		}
		if landed, known := s.landed(ctx, moves); known {
			return landed
		}
		if s.refs.SwapRefs(ctx, moves[0].issue, all...) == nil {
			return nil
		}
	}

	if landed, known := s.landed(ctx, moves); known {
		return landed
	}

	what := all[0].Name
	if len(all) > 1 {
		what = fmt.Sprint(len(all), " references")
	}

	return openError{fmt.Errorf("move %s: %w", what, err)}
}

// landed looks at the chains of moves that are made together: nil when they were made, ErrMoved
// when a chain is further and they were not. known is false while the chains are seen where they
// were.
func (s *Store) landed(ctx context.Context, moves []move) (err error, known bool) {
	for _, m := range moves {
		now, _ := s.read(ctx, m.issue) // an error has no place
		switch {
		case now.pos <= m.from.pos:
		case now.oid == m.to.oid:
			return nil, true
		default: // a commit that is there and not the tip is somebody else's past already
			return ErrMoved, true
		}
	}

	return nil, false
}

// notLease is a reference that holds something else than a lease. Nothing is read into it and
// nothing is built on it: a person has to delete it.
func notLease(ref string, why error) error {
	return &answer.Problem{
		Code: answer.Unread,
		Why:  ref + " is not a lease: " + why.Error(),
		Next: []answer.Command{answer.Advice("nothing is claimed while it is there; see what it is: git fetch origin " +
			ref + " && git show FETCH_HEAD")},
	}
}
