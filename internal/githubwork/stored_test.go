package githubwork_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/work"
)

// A slow store takes a second for each answer. It has one lease, and something else in the place of
// another.
type slow struct {
	lease.Store
	held, broken int // numbers of issues

	mu                sync.Mutex
	asked, busy, most int
}

// Look implements lease.Store.
func (s *slow) Look(_ context.Context, i claim.Issue) (l lease.Lease, held bool, err error) {
	s.begin()
	time.Sleep(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if i.Number == s.broken {
		return l, false, &answer.Problem{Code: answer.Unread, Why: "is not a lease"}
	}
	if i.Number != s.held {
		return l, false, nil
	}

	l = lease.Lease{
		Issue:   i,
		Worker:  claim.Worker{Codename: "drake", FiringID: "d1"},
		TTL:     time.Hour,
		Token:   1,
		Expires: time.Now().Add(time.Hour),
	}

	return l, true, nil
}

func (s *slow) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	s.busy++
	s.most = max(s.most, s.busy)
}

// TestShownAsksTheStore: what is shown as free is asked of the lease store, a few side by side; what
// is claimed asks there itself. One answer that cannot be read is that issue's alone.
func TestShownAsksTheStore(t *testing.T) {
	for shown, want := range map[bool]struct {
		items, asked, warned int
		takes                time.Duration
	}{true: {18, 20, 1, 3 * time.Second}, false: {20, 0, 0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			var issues []githubsim.SeedIssue
			for n := range 20 {
				issues = append(issues, githubsim.SeedIssue{
					Number: n + 1,
					Title:  "Work " + strconv.Itoa(n),
					Author: "bot",
					Labels: []string{queued},
				})
			}

			w := newWorld(t, issues)
			store := &slow{held: 3, broken: 5}
			c, l := w.parts()
			warned := 0
			o := agent("lucius")
			o.Repo, o.Shown, o.Warn = repo, shown, func(error) { warned++ }
			start := time.Now()
			page, err := githubwork.New(c, l.Strict(store, lease.Redis), o).Fetch(t.Context(), work.FetchOptions{})
			took := time.Since(start)
			if err != nil || len(page.Items) != want.items || store.asked != want.asked || warned != want.warned ||
				store.most > 8 || took > want.takes {
				t.Errorf("shown %t: %d items, asked %d times, %d at once, warned %d times, in %s, %v; want %+v", shown,
					len(page.Items), store.asked, store.most, warned, took, err, want)
			}
		})
	}
}
