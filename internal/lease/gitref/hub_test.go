package gitref

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease/leasetest"
)

// A hub is the least GitHub that has references: commits, and names that move by compare-and-swap.
// It remembers where each reference was, so that a snapshot can be late.
type hub struct {
	wire leasetest.Wire
	// before, if set, is called before each request, outside the lock: the world moves on
	// meanwhile.
	before func(request string)
	// late, if set, says how many moves a snapshot does not see yet.
	late func() int
	// plain has a stale swap answered by ErrMoved, as an older server does, and not as a fault.
	plain bool

	mu      sync.Mutex
	now     time.Time
	commits map[string]made
	moves   map[string][]string // where a reference has been, oldest first; empty is deleted
	calls   []string
	slept   []time.Duration
}

type made struct {
	parent, message string
	date            time.Time
}

func newHub() *hub {
	return &hub{
		now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), commits: map[string]made{},
		moves: map[string][]string{},
	}
}

func (h *hub) store() *Store {
	return New(h, Options{Sleep: func(ctx context.Context, d time.Duration) error {
		h.slept = append(h.slept, d)
		return ctx.Err()
	}})
}

func (h *hub) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func (h *hub) time() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// request is one round trip: it may be spoiled, and others may come first.
func (h *hub) request(ctx context.Context, name string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	if h.before != nil {
		h.before(name)
	}

	return h.wire.Carry(func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.calls = append(h.calls, name)
		return do()
	})
}

func (h *hub) at(name string, late int) string {
	moves := h.moves[name]
	if n := len(moves) - late; n > 0 {
		return moves[n-1]
	}
	return ""
}

func (h *hub) GetRef(ctx context.Context, _ claim.Issue, name string) (t Tip, err error) {
	late := 0
	if h.late != nil {
		late = h.late()
	}

	err = h.request(ctx, "get", func() error {
		t = Tip{OID: h.at(name, late), Now: h.now.Truncate(time.Second), RepoID: "R_1"}
		if c, ok := h.commits[t.OID]; ok {
			t.Message, t.Date = c.message, c.date
		}
		return nil
	})

	return t, err
}

func (h *hub) CreateCommit(ctx context.Context, _ claim.Issue, parent, message string) (c Commit, err error) {
	err = h.request(ctx, "commit", func() error {
		date := h.now.Truncate(time.Second)
		c = Commit{
			OID:  fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "%s\n%d\n%s", parent, date.Unix(), message))),
			Date: date,
		}
		h.commits[c.OID] = made{parent, message, date}
		return nil
	})

	return c, err
}

// SwapRefs is one request, named by whether it moves one reference.
func (h *hub) SwapRefs(ctx context.Context, _ claim.Issue, all ...Swap) error {
	name := "swap"
	if len(all) > 1 {
		name = "swap all"
	}

	return h.request(ctx, name, func() error {
		for _, s := range all {
			if h.at(s.Name, 0) != s.Before || h.commits[s.After].parent != s.Before {
				return h.stale()
			}
		}

		for _, s := range all {
			h.moves[s.Name] = append(h.moves[s.Name], s.After)
		}

		return nil
	})
}

func (*hub) CanSwapRefs(context.Context) error { return nil }

func (*hub) ShownRef(claim.Issue, string) (Tip, bool) { return Tip{}, false }

// RefNames is not a request of a protocol step.
func (h *hub) RefNames(_ context.Context, _ claim.Issue, prefix string) (names []string, err error) {
	for name := range h.moves {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// stale is the answer to a swap of a reference that is elsewhere.
func (h *hub) stale() error {
	if h.plain {
		return ErrMoved
	}
	return errors.New("something went wrong while executing the query")
}

// plant points a reference at a commit that somebody made with git.
func (h *hub) plant(name, message string) {
	oid := fmt.Sprintf("%x", sha1.Sum([]byte(message)))
	h.commits[oid] = made{h.at(name, 0), message, h.now}
	h.moves[name] = append(h.moves[name], oid)
}

// refusing is a hub whose swaps and commits are refused for good, with a reason.
type refusing struct {
	*hub
	reason error
}

func (r refusing) CreateCommit(context.Context, claim.Issue, string, string) (Commit, error) {
	return Commit{}, r.reason
}

// silent is a hub that refuses swaps without a word of why: of references that are elsewhere, and,
// with rule, all.
type silent struct {
	*hub
	rule bool
}

func (s silent) SwapRefs(ctx context.Context, i claim.Issue, all ...Swap) error {
	if s.rule || s.hub.SwapRefs(ctx, i, all...) != nil {
		return ErrRefused
	}
	return nil
}

// certain is an error that says that nothing was done.
type certain struct{ error }

func (certain) Rejected() bool { return true }

var errRefused = certain{errors.New("refused")}
