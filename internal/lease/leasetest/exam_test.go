package leasetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// memory is a store as simple as can be, with a flaw on request. It shows that the exam can be
// passed, and that it can be failed.
type memory struct {
	mu    sync.Mutex
	now   time.Time
	wire  Wire
	flaw  string
	last  int64
	holds map[string]lease.Lease
	ended map[string]bool // workers that gave up, by issue
}

// A session is one client of it.
type session struct {
	*memory
	skew time.Duration
}

func newMemory(flaw string) *memory {
	return &memory{
		flaw:  flaw,
		now:   time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC),
		holds: map[string]lease.Lease{},
		ended: map[string]bool{},
	}
}

func (m *memory) bench() Bench {
	return Bench{
		Client: func(skew time.Duration) lease.Store { return &session{m, skew} },
		Advance: func(d time.Duration) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.now = m.now.Add(d)
		},
		Wire:    &m.wire,
		Restart: m.restart,
		TTL:     30 * time.Minute,
		Grace:   time.Minute,
	}
}

func (m *memory) restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.flaw {
	case "forgets leases in a restart":
		m.holds = map[string]lease.Lease{}
	case "forgets tokens in a restart":
		m.last = 0
	}
}

func (m *memory) key(i claim.Issue) string {
	if m.flaw == "tells upper from lower case" {
		return i.String()
	}
	return strings.ToLower(i.String())
}

// call carries one request, in which the store is one's own.
func (s *session) call(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil && s.flaw != "goes on for callers that left" {
		return err
	}
	var err error
	cut := s.wire.Carry(func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = do()
		return nil
	})

	if cut != nil {
		return cut
	}

	return err
}

func (s *session) clock() time.Time {
	if s.flaw == "asks the client's clock" {
		return s.now.Add(s.skew)
	}
	return s.now
}

// standing is the lease that nobody else may take yet.
func (s *session) standing(i claim.Issue) (lease.Lease, bool) {
	l, ok := s.holds[s.key(i)]
	end := l.Expires.Add(time.Minute)
	switch s.flaw {
	case "never lets go":
		end = end.Add(24 * time.Hour)
	case "lets go too early":
		end = end.Add(-2 * time.Minute)
	}

	return l, ok && s.clock().Before(end)
}

func (s *session) Acquire(ctx context.Context, a lease.Ask) (got lease.Lease, err error) {
	err = s.call(ctx, func() error {
		l, held := s.standing(a.Issue)
		switch {
		case held && s.askedAgain(l, a) && s.flaw != "refuses who asks twice":
		case held && l.Worker == a.Worker && a.Takes != 0 &&
			(a.Takes == l.Token || s.flaw == "lets old tokens take over"):
			if s.flaw != "takes over with the same token" {
				l.Token = s.token(a)
			}
			l.Nonce, l.Expires = a.Nonce, time.Time{}
		case held && s.flaw != "gives it to everybody":
			return &lease.HeldError{Lease: l}
		case s.ended[s.key(a.Issue)+a.Worker.String()], s.ended[s.key(a.Issue)+a.Worker.String()+" "+a.Nonce]:
			return lease.ErrLost
		default:
			l = lease.Lease{
				Issue:  a.Issue,
				Worker: a.Worker,
				Nonce:  a.Nonce,
				Token:  s.token(a),
			}
		}

		if l.Expires.IsZero() || s.flaw != "counts from the first asking" {
			l.Expires = s.clock().Add(a.TTL)
		}
		l.TTL = a.TTL
		s.holds[s.key(a.Issue)] = l
		got = l

		return nil
	})

	return got, err
}

// askedAgain reports whether the process that asks has the lease already.
func (s *session) askedAgain(l lease.Lease, a lease.Ask) bool {
	switch s.flaw {
	case "gives one key to every process":
		return l.Worker == a.Worker
	case "gives one codename to every run":
		return l.Worker.Codename == a.Worker.Codename && l.Nonce == a.Nonce
	}

	return a.Of(l)
}

func (s *session) token(a lease.Ask) int64 {
	if s.flaw != "knows no other tokens" {
		s.last = max(s.last, a.Floor())
	}
	if s.flaw != "repeats tokens" || s.last == 0 {
		s.last++
	}
	return s.last
}

func (s *session) own(l lease.Lease) bool {
	now, held := s.standing(l.Issue)
	if l.Token == 0 {
		process := now.Nonce == l.Nonce || s.flaw == "gives up for every process"
		return held && now.Worker == l.Worker && process && s.flaw != "needs a token to release"
	}
	return held && now.Worker == l.Worker && now.Token == l.Token
}

func (s *session) Renew(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	err := s.call(ctx, func() error {
		if !s.own(l) && s.flaw != "lets anybody renew" {
			return lease.ErrLost
		}

		if s.flaw != "does not extend" {
			l.Expires = s.clock().Add(l.TTL)
		}

		if s.flaw == "renews with a new token" {
			l.Token = s.token(lease.Ask{})
		}
		s.holds[s.key(l.Issue)] = l

		return nil
	})

	return l, err
}

func (s *session) Release(ctx context.Context, l lease.Lease) error {
	return s.call(ctx, func() error {
		who := l.Worker.String()
		if l.Token == 0 {
			who += " " + l.Nonce
		}

		s.ended[s.key(l.Issue)+who] = s.flaw != "leaves given-up leases"
		if s.flaw != "does not release" && (s.own(l) || s.flaw == "lets anybody release") {
			delete(s.holds, s.key(l.Issue))
		}

		if s.flaw == "complains about a second release" && !s.own(l) {
			return lease.ErrLost
		}

		return nil
	})
}

func (s *session) Look(ctx context.Context, i claim.Issue) (l lease.Lease, held bool, err error) {
	err = s.call(ctx, func() error {
		l, held = s.standing(i)
		if s.flaw == "shows leases that are over" {
			l, held = s.holds[s.key(i)]
		}
		return nil
	})

	return l, held, err
}

// flaws are what a store can get wrong, each with the first part of the exam that says so.
var flaws = map[string]string{
	"gives it to everybody":            "held",
	"does not release":                 "released",
	"lets anybody release":             "released",
	"complains about a second release": "released",
	"repeats tokens":                   "released",
	"needs a token to release":         "given up",
	"does not extend":                  "renewed",
	"renews with a new token":          "renewed",
	"never lets go":                    "renewed",
	"lets go too early":                "runs out",
	"shows leases that are over":       "runs out",
	"lets anybody renew":               "released",
	"refuses who asks twice":           "asked twice",
	"counts from the first asking":     "asked twice",
	"gives one codename to every run":  "two runs of one codename",
	"gives one key to every process":   "two processes of one key",
	"gives up for every process":       "two processes of one key",
	"takes over with the same token":   "taken over",
	"lets old tokens take over":        "taken over",
	"tells upper from lower case":      "issues and names",
	"goes on for callers that left":    "cancelled",
	"asks the client's clock":          "client clocks",
	"leaves given-up leases":           "spoiled give up",
	"forgets leases in a restart":      "restart",
	"forgets tokens in a restart":      "restart",
	"knows no other tokens":            "above what is known",
}

// flawName is the variable that makes this test program sit the exam with a flaw.
const flawName = "LABEL_STATE_FLAW"

// TestExamCanBePassed is what every store's test looks like.
func TestExamCanBePassed(t *testing.T) {
	flaw := os.Getenv(flawName)
	Exam(t, func(*testing.T) Bench { return newMemory(flaw).bench() })
}

// TestExamCanBeFailed has a program sit the exam with each flaw, and looks where it fails first.
func TestExamCanBeFailed(t *testing.T) {
	for flaw, part := range flaws {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestExamCanBePassed$", "-test.v",
				"-test.failfast")
			cmd.Env = append(os.Environ(), flawName+"="+flaw)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatal("passed")
			}

			want := fmt.Sprintf("--- FAIL: TestExamCanBePassed/%s ", strings.ReplaceAll(part, " ", "_"))
			if !strings.Contains(string(out), want) {
				t.Errorf("%v, not in %q:\n%s", err, part, out[max(0, len(out)-2000):])
			}
		})
	}
}
