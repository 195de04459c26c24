package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
)

// A fleet is many workers on one repository, each a process of its own, which knows nothing of the
// others' requests.
type fleet struct {
	*timeline
	workers int
	issues  int
	shared  bool          // one token for all
	storm   time.Duration // for so long GitHub turns most requests away
	until   time.Duration // when nobody takes anything on any more; 0 is when every issue is closed
	gauge   *gauge
	server  *githubsim.Server

	mu    sync.Mutex
	done  int // issues
	idle  int // workers that never held anything
	lost  int // holds that could not be released
	begun time.Time
	spent time.Duration
}

// run plays the fleet's day with GitHub's limits enforced: the hourly ones for each token, the
// secondary ones for each account.
func (f *fleet) run(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f.timeline, f.gauge, f.begun = newTimeline(), newGauge(), time.Now()
		server, err := githubsim.New(shape{workers: f.workers, issues: f.issues}.seed(),
			githubsim.Options{SecondaryLimits: true})
		if err != nil {
			t.Fatal(err)
		}

		f.server, server.Fault = server, faultOf
		finished := make(chan int)
		for n := range f.workers {
			first := f.take(f.begun.Add(span(rand.New(rand.NewPCG(1, uint64(n))), time.Minute)))
			go func() {
				time.Sleep(time.Until(first))
				finished <- f.day(n)
			}()
		}

		for range f.workers {
			held := <-finished
			if f.done += held; held == 0 {
				f.idle++
			}
		}

		f.spent = time.Since(f.begun)
	})
}

// day is what one worker does until there is nothing left. It returns how many issues it finished.
func (f *fleet) day(n int) (finished int) {
	rng := sample.Chance(2, uint64(n))
	token := worker(n)
	if f.shared {
		token = "agents"
	}

	h := &hand{fleet: f, rng: rng, name: worker(n)}
	h.Ledger = ledger.New(f.client(token, rng), clock{timeline: f.timeline}, h.word, ledger.DefaultSettings())
	for {
		i, left := h.next(rng.IntN(f.issues))
		if !left || f.until > 0 && time.Since(f.begun) > f.until {
			return finished
		}

		if h.job(i) {
			finished++
		}
	}
}

// client is a client of a process of its own.
func (f *fleet) client(token string, rng *rand.Rand) *github.Client {
	c, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Token:   github.NewSecret(token),
		Rand:    rng.Float64,
		Clock:   clock{timeline: f.timeline},
		HTTP: &line{
			fleet:   f,
			account: token,
			rng:     rng,
			closed:  map[string]time.Time{},
		},
	})
	if err != nil {
		panic(err) // the options are constants
	}

	return c
}

// A hand is one worker of a fleet.
type hand struct {
	*fleet
	*ledger.Ledger
	rng  *rand.Rand
	name string
}

func (h *hand) word() string { return fmt.Sprintf("%08x", h.rng.Uint32()) }

// next is an issue that is open, as a queue would hand it out; none is the end of the work.
func (h *hand) next(from int) (claim.Issue, bool) {
	for n := range h.issues {
		number := 1 + (from+n)%h.issues
		if i, err := h.server.Issue(app, number); err == nil && i.State == "open" {
			return ref(number), true
		}
	}

	return claim.Issue{}, false
}

// job is one hold of 10 to 25 minutes, renewed at every third of its lease, and the end of the
// issue.
func (h *hand) job(i claim.Issue) bool {
	ctx := context.Background()
	hold, err := h.Claim(ctx, i, ledger.Request{Worker: claim.Worker{Codename: h.name}, TTL: 30 * time.Minute})
	var late *ledger.LabelsError
	if err != nil && !errors.As(err, &late) {
		h.wait(err)
		return false
	}

	for end := time.Now().Add(10*time.Minute + span(h.rng, 15*time.Minute)); time.Now().Before(end); {
		_ = h.sleep(ctx, min(10*time.Minute, time.Until(end))) // it has no end but its own
		next, err := h.Keep(ctx, hold)
		var lost *ledger.LostError
		switch {
		case err == nil:
			hold = next
		case errors.As(err, &lost):
			return false
		}
	}

	if err := h.server.Close(app, i.Number, "olga"); err != nil { // somebody merges it
		return false
	}

	for range 5 {
		_, err = h.Release(ctx, i, ledger.Ending{Worker: hold.Record.Worker, Outcome: claim.OutcomeSuccess})
		if err == nil || errors.As(err, &late) {
			return true
		}
		h.wait(err)
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost++
	return true
}

// wait does what exit code 3 asks a worker to do: come back when GitHub has said, and not all at
// once.
func (h *hand) wait(err error) {
	pause := 20 * time.Second
	var limit *github.RateLimitError
	if errors.As(err, &limit) {
		pause = limit.RetryAfter
	}
	_ = h.sleep(context.Background(), pause+span(h.rng, time.Minute)) // it has no end but its own
}

func ownTokens() *fleet { return &fleet{workers: crowd(), issues: 3 * crowd(), until: time.Hour} }

func oneToken() *fleet { return &fleet{workers: crowd(), issues: crowd(), shared: true} }

// TestLoad: workers, 200 of them when everything is played, with a login each stay inside every
// limit for an hour and are never told to slow down.
func TestLoad(t *testing.T) {
	f := ownTokens()
	f.run(t)
	t.Log(f.report())
	if f.gauge.refused > 0 || f.gauge.early > 0 || f.lost > 0 || f.idle > 0 {
		t.Errorf("refused %d, early %d, %d holds not released, %d workers without work", f.gauge.refused, f.gauge.early,
			f.lost, f.idle)
	}

	f.gauge.within(t)
}

// TestLoadOneToken: workers that share one token ask for more than it may have in an hour, and
// nothing tells one process what the others send. So they are refused; none comes back early, and
// the queue drains.
func TestLoadOneToken(t *testing.T) {
	f := oneToken()
	f.run(t)
	t.Log(f.report())
	if f.gauge.refused == 0 && f.workers >= 200 {
		t.Error("never refused: the test does not show what it is for")
	}

	if f.gauge.early > 0 || f.done < f.issues || f.spent > 6*time.Hour {
		t.Errorf("%d early requests, %d of %d issues done in %s", f.gauge.early, f.done, f.issues, f.spent)
	}
	f.gauge.within(t)
}

// TestStorm: for twenty minutes GitHub turns most requests away, in all its ways. No request is
// early, none is repeated more than the client's limit, and afterwards everything is done.
func TestStorm(t *testing.T) {
	f := &fleet{workers: sample.Size(12, 40), issues: sample.Size(24, 80), storm: 20 * time.Minute}
	f.run(t)
	t.Log(f.report())

	switch most := f.workers * int(f.storm/(15*time.Second)); {
	case f.gauge.refused < f.workers:
		t.Errorf("refused %d times: no storm", f.gauge.refused)
	case f.gauge.early > 0 || f.gauge.refused > most || f.gauge.row > 4:
		t.Errorf("%d early requests, %d refused, %d in a row for one thing", f.gauge.early, f.gauge.refused,
			f.gauge.row)
	}

	if f.done != f.issues {
		t.Errorf("%d of %d issues done", f.done, f.issues)
	}
}

// weather is what GitHub answers in a storm, four times in five.
func (f *fleet) weather(rng *rand.Rand) githubsim.Fault {
	if time.Since(f.begun) >= f.storm || rng.IntN(5) == 0 {
		return githubsim.Fault{}
	}
	fault := githubsim.SecondaryLimit([]int{0, 15, 60, 120}[rng.IntN(4)])
	switch rng.IntN(3) {
	case 0:
		fault.Status = http.StatusTooManyRequests
	case 1:
		fault.Header = http.Header{
			"X-Ratelimit-Remaining": {"0"},
			"X-Ratelimit-Reset":     {fmt.Sprint(time.Now().Add(time.Minute + span(rng, 3*time.Minute)).Unix())},
		}
	}

	return fault
}
