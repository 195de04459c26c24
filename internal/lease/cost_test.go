package lease_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/lease/leasetest"
	"github.com/label-state/label-state/internal/lease/redis"
	"github.com/label-state/label-state/internal/ledger"
)

// BenchmarkCost counts what each step asks of GitHub and of the store, over the product's own
// client, the embedded GitHub and real stores. Time does not pass between requests, so ns/op means
// nothing.
//
//	requests/op  to GitHub, of everybody who took part
//	writes/op    those of them that change something, which GitHub limits more tightly
//	store/op     round trips to Redis, of everybody
//	winner/op    requests and round trips, one after the other, until the winner knew
func BenchmarkCost(b *testing.B) {
	for _, s := range contestants() {
		b.Run(s.kind, func(b *testing.B) {
			open := s.open(b)
			for _, contenders := range []int{1, 2, 5, 10} {
				b.Run("claim-"+strconv.Itoa(contenders),
					func(b *testing.B) { newMarket(b, s.kind, open, contenders).race(b) })
			}

			b.Run("refused", func(b *testing.B) { newMarket(b, s.kind, open, 2).step(b, refused) })
			b.Run("renew", func(b *testing.B) { newMarket(b, s.kind, open, 1).step(b, renewed) })
			b.Run("release", func(b *testing.B) { newMarket(b, s.kind, open, 1).step(b, released) })
		})
	}
}

// A contestant is a way to decide who holds an issue.
type contestant struct {
	kind string
	open func(*testing.B) func(*meter) lease.Store
}

func contestants() []contestant {
	return []contestant{
		{lease.Comments, func(*testing.B) func(*meter) lease.Store { return func(*meter) lease.Store { return nil } }},
		{lease.Refs, func(*testing.B) func(*meter) lease.Store { return refsOf }},
		{lease.Redis, openRedis},
	}
}

// BenchmarkClaim measures a claim side by side where each request to GitHub takes 80 ms, with all
// waiting; Redis is on this machine. The labels exist. docs/speed.md has the numbers.
//
//	seconds      until the worker knows that it holds the issue and its labels are right
//	requests/op  to GitHub
//	store/op     round trips to Redis
func BenchmarkClaim(b *testing.B) {
	for _, s := range contestants() {
		b.Run(s.kind, func(b *testing.B) {
			m := newMarket(b, s.kind, s.open(b), 1)
			one := m.meters[0]
			if _, err := m.ledgers[0].Claim(b.Context(), m.issue(b), asking(0)); err != nil { // it makes the labels
				b.Fatal(err)
			}

			one.delay = 80 * time.Millisecond
			before, took := m.sum(), time.Duration(0)
			for b.Loop() {
				i := m.issue(b)
				start := one.clock.Now()
				if _, err := m.ledgers[0].Claim(b.Context(), i, asking(0)); err != nil {
					b.Fatal(err)
				}
				took += one.clock.Now().Sub(start)
			}

			after := m.sum()
			b.ReportMetric(took.Seconds()/float64(b.N), "seconds")
			b.ReportMetric(float64(after.requests-before.requests)/float64(b.N), "requests/op")
			b.ReportMetric(float64(after.store-before.store)/float64(b.N), "store/op")
		})
	}
}

// A meter counts what one worker asks.
type meter struct {
	next   http.RoundTripper
	delay  time.Duration // of each request
	clock  quick
	client *github.Client
	// waits for the others, after the first snapshot and before the first write; nil waits for
	// nobody
	met             func()
	requests, store atomic.Int64
}

// A meeting is a client whose claim waits there.
type meeting struct {
	*github.Client
	meter *meter
}

// Heard is what a claim asks last before its first write.
func (m meeting) Heard(ctx context.Context, r claim.Repo) error {
	if met := m.meter.met; met != nil {
		met()
	}
	return m.Client.Heard(ctx, r)
}

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	m.requests.Add(1)
	time.Sleep(m.delay)
	return m.next.RoundTrip(r)
}

func (m *meter) total() int64 { return m.requests.Load() + m.store.Load() }

// A market is a repository with so many workers.
type market struct {
	server  *githubsim.Server
	repo    string
	meters  []*meter
	ledgers []*ledger.Ledger
}

func newMarket(b *testing.B, kind string, open func(*meter) lease.Store, workers int) *market {
	b.Helper()
	repo := "at-" + word()() // stores outlive it
	s, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login: "bot", Token: "tok",
			Permissions: map[string]string{"acme/" + repo: "write"},
		}},
		Repos: []githubsim.SeedRepo{{Name: "acme/" + repo, DefaultBranch: "main"}},
	}, githubsim.Options{Dir: b.TempDir(), RateLimit: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	m := &market{server: s, repo: repo}
	for range workers {
		counting := &meter{next: s.Transport(), clock: quick{new(atomic.Int64)}}
		counting.client, err = github.New(github.Options{
			REST:    "https://api.github.com/",
			GraphQL: "https://api.github.com/graphql",
			Token:   github.NewSecret("tok"),
			HTTP:    counting,
			Clock:   counting.clock,
		})
		if err != nil {
			b.Fatal(err)
		}
		l := ledger.New(meeting{counting.client, counting}, counting.clock, word(), ledger.DefaultSettings())
		if store := open(counting); store != nil {
			l = l.Strict(store, kind)
		}

		m.meters, m.ledgers = append(m.meters, counting), append(m.ledgers, l)
	}

	return m
}

// quick is a clock by which waiting takes no time.
type quick struct{ ahead *atomic.Int64 }

func (q quick) Now() time.Time { return time.Now().Add(time.Duration(q.ahead.Load())) }

func (q quick) Sleep(ctx context.Context, d time.Duration) error {
	q.ahead.Add(int64(d))
	return ctx.Err()
}

var words atomic.Int64

func word() func() string { return func() string { return fmt.Sprintf("%08x", words.Add(1)) } }

const pause = 5 * time.Minute

// issue makes one that is free, after a while in which GitHub forgets how much was asked.
func (m *market) issue(b *testing.B) claim.Issue {
	b.Helper()
	m.server.Skip(pause)
	for _, one := range m.meters {
		one.clock.ahead.Add(int64(pause))
	}

	n, err := m.server.AddIssue("acme/"+m.repo, "bot", "Work", "", "agent:implement")
	if err != nil {
		b.Fatal(err)
	}

	return claim.Issue{Owner: "acme", Repo: m.repo, Number: n}
}

func asking(n int) ledger.Request {
	return ledger.Request{Worker: claim.Worker{Codename: "worker-" + strconv.Itoa(n)}, TTL: time.Hour}
}

// race lets all workers claim one issue at once, the worst case.
func (m *market) race(b *testing.B) {
	winner := int64(0)
	for b.Loop() {
		i := m.issue(b)
		before := make([]int64, len(m.meters))
		won, errs := make([]bool, len(m.meters)), make([]error, len(m.meters))
		var running sync.WaitGroup
		var asked sync.WaitGroup // nobody asks for the issue before everybody has seen it free
		asked.Add(len(m.ledgers))

		for n, l := range m.ledgers {
			before[n] = m.meters[n].total()
			m.meters[n].met = sync.OnceFunc(func() {
				asked.Done()
				asked.Wait()
			})

			running.Go(func() {
				_, errs[n] = l.Claim(b.Context(), i, asking(n))
				won[n] = errs[n] == nil
			})
		}

		running.Wait()
		winners := 0
		for n, yes := range won {
			if yes {
				winners++
				winner += m.meters[n].total() - before[n]
			}
		}

		if winners != 1 {
			b.Fatalf("%d of %d won %s: %v", winners, len(won), i, errs)
		}
	}

	m.report(b, m.sum())
	b.ReportMetric(float64(winner)/float64(b.N), "winner/op")
}

// A spent is what was asked.
type spent struct{ requests, writes, store int64 }

func (m *market) sum() (s spent) {
	for _, one := range m.meters {
		s.requests += one.requests.Load()
		s.store += one.store.Load()
	}

	for _, r := range m.server.Requests() {
		if r.Writes() {
			s.writes++
		}
	}

	return s
}

func (m *market) report(b *testing.B, s spent) {
	b.ReportMetric(float64(s.requests)/float64(b.N), "requests/op")
	b.ReportMetric(float64(s.writes)/float64(b.N), "writes/op")
	b.ReportMetric(float64(s.store)/float64(b.N), "store/op")
}

// step counts what one more step costs after a claim of the first worker.
func (m *market) step(b *testing.B, do func(context.Context, *market, ledger.Hold) error) {
	var all spent
	for b.Loop() {
		h, err := m.ledgers[0].Claim(b.Context(), m.issue(b), asking(0))
		if err != nil {
			b.Fatal(err)
		}

		before := m.sum()
		if err := do(b.Context(), m, h); err != nil {
			b.Fatal(err)
		}

		after := m.sum()
		all.requests += after.requests - before.requests
		all.writes += after.writes - before.writes
		all.store += after.store - before.store
	}

	m.report(b, all)
}

func renewed(ctx context.Context, m *market, h ledger.Hold) error {
	_, err := m.ledgers[0].Keep(ctx, h)
	return err
}

func released(ctx context.Context, m *market, h ledger.Hold) error {
	_, err := m.ledgers[0].Release(ctx, h.Issue, ledger.Ending{Worker: h.Record.Worker, Token: h.Token})
	return err
}

// refused is a claim of what somebody else holds.
func refused(ctx context.Context, m *market, h ledger.Hold) error {
	if _, err := m.ledgers[1].Claim(ctx, h.Issue, asking(1)); err == nil {
		return fmt.Errorf("two hold %s", h.Issue)
	}
	return nil
}

func refsOf(m *meter) lease.Store {
	m.client.ShowLeases()
	return gitref.New(m.client, gitref.Options{Sleep: m.clock.Sleep})
}

func openRedis(b *testing.B) func(*meter) lease.Store {
	path := leasetest.Find(b, os.Getenv("LABEL_STATE_REQUIRE"), lease.Redis, "redis-server")
	port := leasetest.FreePorts(b, 1)[0]
	at := "redis://" + leasetest.Loopback(port)
	connect := func(m *meter) lease.Store {
		s, err := redis.Open(nil, at)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return counted{s, m}
	}

	ready := func() error {
		_, _, err := connect(&meter{}).Look(context.Background(), claim.Issue{Owner: "acme", Repo: "app", Number: 1})
		return err
	}

	leasetest.Start(b, ready, path,
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", b.TempDir(), "--save", "")
	return connect
}

// A counted store is a Redis: each step is one command.
type counted struct {
	lease.Store
	meter *meter
}

// Acquire implements lease.Store.
func (c counted) Acquire(ctx context.Context, a lease.Ask) (lease.Lease, error) {
	c.meter.store.Add(1)
	return c.Store.Acquire(ctx, a)
}

// Renew implements lease.Store.
func (c counted) Renew(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	c.meter.store.Add(1)
	return c.Store.Renew(ctx, l)
}

// Release implements lease.Store.
func (c counted) Release(ctx context.Context, l lease.Lease) error {
	c.meter.store.Add(1)
	return c.Store.Release(ctx, l)
}

// Look implements lease.Store.
func (c counted) Look(ctx context.Context, i claim.Issue) (lease.Lease, bool, error) {
	c.meter.store.Add(1)
	return c.Store.Look(ctx, i)
}
