package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/sample"
)

// world is one issue on a server whose reads may be stale, whose comments may become visible
// out of order, and whose answers may be lost. Every call takes virtual time of its own, so no
// two happen at one instant and a seed replays exactly.
type world struct {
	mu     sync.Mutex
	rng    *rand.Rand
	nextID int64
	events []event
	faults faults
	holds  map[claim.Worker]func() bool // who believes to hold the issue
	wins   int
	store  lease.Store // nil: the comments decide
	shown  []string    // labels at the beginning
}

type event struct {
	at    time.Time // when reads can see it
	apply func(*view)
}

type view struct {
	comments []claim.Comment
	labels   []string
}

type faults struct {
	stale  time.Duration // a read may miss what is younger than this
	late   time.Duration // a comment may become visible this much after its id was given
	lost   float64       // share of writes whose answer is lost
	denied float64       // share of lost writes that were not applied
	delay  time.Duration // a lost write may be applied this much later
	crash  float64       // share of workers that die while holding
	along  float64       // share of writes whose answers show the issue after them
}

var (
	issue   = claim.Issue{Owner: "o", Repo: "r", Number: 7}
	errLost = errors.New("answer lost")
)

func newWorld(seed uint64, f faults) *world {
	return &world{
		rng:    rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)),
		nextID: 2_200_000_000,
		faults: f,
		holds:  map[claim.Worker]func() bool{},
		shown:  []string{"agent:implement"},
	}
}

// pause passes a little time nobody else has in the same amount.
func (w *world) pause() {
	w.mu.Lock()
	d := time.Duration(w.rng.Int64N(int64(300*time.Millisecond))) + time.Nanosecond
	w.mu.Unlock()
	time.Sleep(d)
}

func (w *world) span(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return time.Duration(w.rng.Int64N(int64(limit)))
}

// write commits an event, perhaps later than it says, perhaps never; err is what the caller hears.
func (w *world) write(apply func(*view), visibility time.Duration) error {
	at, lost := time.Now().Add(visibility), w.rng.Float64() < w.faults.lost
	if lost && w.rng.Float64() < w.faults.denied {
		return errLost
	}

	if lost {
		at = at.Add(w.span(w.faults.delay))
	}
	w.events = append(w.events, event{at, apply})
	if lost {
		return errLost
	}

	return nil
}

func (w *world) read(fresh bool) view {
	horizon := time.Now()
	if !fresh {
		horizon = horizon.Add(-w.span(w.faults.stale))
	}

	events := slices.Clone(w.events)
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	v := view{labels: slices.Clone(w.shown)}
	for _, e := range events {
		if !e.at.After(horizon) {
			e.apply(&v)
		}
	}

	return v
}

// forge is one actor's connection to the world.
type forge struct {
	*world
	fresh    bool // a sweep at the end of the story reads the truth
	near     bool // requests take no time
	slowEdit time.Duration
	timeless bool // its answers do not say when they were given
	calls    map[string]int
}

func (f *forge) count(what string) {
	if !f.near {
		f.pause()
	}
	f.mu.Lock()
	f.calls[what]++
}

func (f *forge) Facts(_ context.Context, i claim.Issue) (lifecycle.Facts, error) {
	f.count("read")
	defer f.mu.Unlock()
	return f.facts(i), nil
}

// Shown is a snapshot that comes with the answer to a write, in some worlds and not always.
func (f *forge) Shown(i claim.Issue) *lifecycle.Facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rng.Float64() >= f.faults.along {
		return nil
	}
	shown := f.facts(i)
	return &shown
}

// look is the issue now, without a request.
func (f *forge) look(i claim.Issue) lifecycle.Facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.facts(i)
}

func (f *forge) facts(i claim.Issue) lifecycle.Facts {
	v := f.read(f.fresh)
	out := lifecycle.Facts{
		Issue:  i,
		Title:  "Pay by card",
		URL:    "https://github.com/" + i.Slug(),
		Open:   true,
		Labels: v.labels,
		Log:    claim.Replay(v.comments),
		Now:    second(time.Now()),
		Viewer: "bot",
	}

	if f.timeless {
		out.Now = time.Time{}
	}

	return out
}

func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func (f *forge) Comment(_ context.Context, _ claim.Issue, body string) (claim.Comment, error) {
	f.count("comment")
	defer f.mu.Unlock()
	f.nextID++
	now := second(time.Now())
	c := claim.Comment{
		ID:      f.nextID,
		Created: now,
		Updated: now,
		Author:  "bot",
		Trusted: true,
		Body:    body,
		URL:     fmt.Sprint("#", f.nextID),
	}

	return c, f.write(func(v *view) { v.comments = append(v.comments, c) }, f.span(f.faults.late))
}

func (f *forge) EditComment(_ context.Context, _ claim.Issue, id int64, body string) (claim.Comment, error) {
	time.Sleep(f.slowEdit)
	f.count("edit")
	defer f.mu.Unlock()
	now := second(time.Now())
	edit := func(v *view) {
		for i := range v.comments {
			if v.comments[i].ID == id {
				v.comments[i].Body, v.comments[i].Updated = body, now
			}
		}
	}

	return claim.Comment{ID: id, Updated: now}, f.write(edit, 0)
}

func (f *forge) AddLabel(_ context.Context, _ claim.Issue, name string) error {
	f.count("label")
	defer f.mu.Unlock()
	return f.write(func(v *view) {
		if !slices.Contains(v.labels, name) {
			v.labels = append(v.labels, name)
		}
	}, 0)
}

func (f *forge) RemoveLabel(_ context.Context, _ claim.Issue, name string) error {
	f.count("label")
	defer f.mu.Unlock()
	return f.write(func(v *view) {
		v.labels = slices.DeleteFunc(v.labels,
			func(l string) bool { return l == name })
	}, 0)
}

type virtual struct{}

func (virtual) Now() time.Time { return time.Now() }

func (virtual) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (w *world) words() func() string {
	return func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return fmt.Sprintf("%08x", w.rng.Uint32())
	}
}

func (w *world) ledger(change func(*ledger.Settings)) (*ledger.Ledger, *forge) {
	s := ledger.DefaultSettings()
	s.Rules.MaxAttempts, s.Rules.Rest = 0, nil
	s.Rules.Terms.Grace = time.Minute
	if change != nil {
		change(&s)
	}

	f := &forge{world: w, calls: map[string]int{}}
	l := ledger.New(over(f), virtual{}, w.words(), s)
	if w.store != nil {
		l = l.Strict(w.store, "table")
	}

	return l, f
}

// took notes that a worker believes to hold the issue and complains if another one still does.
func (w *world) took(t *testing.T, worker claim.Worker, owns func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, still := range w.holds {
		if still() {
			t.Errorf("%s and %s hold the issue at %s", other, worker, time.Now().Format(time.TimeOnly))
		}
	}

	w.holds[worker] = owns
	w.wins++
}

func (w *world) gone(worker claim.Worker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.holds, worker)
}

const ttl = 10 * time.Minute

// work is one worker's life: claim, renew for a while, release, or die in the middle.
func (w *world) work(t *testing.T, ctx context.Context, name string, rounds int) {
	l, _ := w.ledger(nil)
	w.workBy(t, ctx, l, name, rounds)
}

func (w *world) workBy(t *testing.T, ctx context.Context, l *ledger.Ledger, name string, rounds int) {
	for range rounds {
		h, err := l.Claim(ctx, issue, ledger.Request{Worker: claim.Worker{Codename: name}, TTL: ttl})
		var late *ledger.LabelsError
		if err != nil && !errors.As(err, &late) {
			time.Sleep(w.between(5 * time.Minute))
			continue
		}

		w.took(t, h.Record.Worker, func() bool { return l.Owns(h) })
		w.hold(ctx, l, &h)
		if !w.chance(w.faults.crash) {
			w.gone(h.Record.Worker)
			_, _ = l.Release(ctx, issue, ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeFailure})
		}

		time.Sleep(w.between(3 * time.Minute))
	}
}

func (w *world) hold(ctx context.Context, l *ledger.Ledger, h *ledger.Hold) {
	for w.chance(0.6) {
		time.Sleep(w.between(ttl / 2))
		next, err := l.Keep(ctx, *h)
		var lost *ledger.LostError
		if errors.As(err, &lost) {
			w.gone(h.Record.Worker)
			return
		}

		if err == nil {
			w.mu.Lock()
			*h = next
			w.mu.Unlock()
		}
	}
}

func (w *world) between(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.span(d) + time.Millisecond
}

func (w *world) chance(p float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.Float64() < p
}

// TestOneHolder plays many workers, a sweeper and every fault, seed by seed, over the real
// ledger: never two holders, and after two quiet sweeps nothing is stuck and labels tell the truth.
func TestOneHolder(t *testing.T) {
	cases := map[string]faults{
		"perfect":  {},
		"stale":    {stale: 20 * time.Second},
		"inverted": {late: 30 * time.Second},
		"lost":     {lost: 0.2, denied: 0.5},
		"crashes":  {crash: 0.5},
		"everything": {
			stale:  20 * time.Second,
			late:   20 * time.Second,
			lost:   0.15,
			denied: 0.5,
			delay:  40 * time.Second,
			crash:  0.3,
		},
		"with a snapshot along": {
			stale: 20 * time.Second,
			late:  20 * time.Second,
			lost:  0.15,
			crash: 0.3,
			along: 0.8,
		},
	}
	stories := sample.Size(20, 60)
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			wins := 0
			for seed := range uint64(stories) {
				wins += play(t, seed, f)
				if t.Failed() {
					t.Fatalf("seed %d of %s; run again with -run 'TestOneHolder/%s'", seed, name, name)
				}
			}

			if wins < stories {
				t.Errorf("%d claims won in %d stories: the test does not exercise holding", wins, stories)
			}
		})
	}
}

func play(t *testing.T, seed uint64, f faults) (wins int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(seed, f)
		ctx := t.Context()
		var crew sync.WaitGroup
		for _, name := range []string{"ann", "bob", "cyd", "dan"} {
			crew.Go(func() { w.work(t, ctx, name, 3) })
		}

		crew.Go(func() { w.sweeps(ctx, 8) })
		crew.Wait()
		w.aftermath(t, ctx)
		wins = w.wins
	})

	return wins
}

func (w *world) sweeps(ctx context.Context, n int) {
	l, f := w.ledger(nil)
	for range n {
		time.Sleep(w.between(6 * time.Minute))
		l.Sweep(ctx, scan{f}, ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "sweep-1"})
	}
}

// aftermath lets every lease run out and every late write land, sweeps twice and looks.
func (w *world) aftermath(t *testing.T, ctx context.Context) {
	l, f := w.ledger(nil)
	f.fresh = true
	w.mu.Lock()
	w.faults = faults{}
	w.mu.Unlock()

	for range 2 {
		time.Sleep(ttl + 5*time.Minute)
		r := l.Sweep(ctx, scan{f}, ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "sweep-2"})
		if !r.Complete() {
			t.Errorf("quiet sweep: %+v", r)
		}
	}

	facts, v, err := l.Check(ctx, issue, lifecycle.Seeker{})
	if err != nil || v.Answer != lifecycle.Free {
		t.Errorf("at rest: %v %v", v, err)
	}

	if got := strings.Join(facts.Labels, " "); got != "agent:implement" {
		t.Errorf("labels at rest: %s", got)
	}
}
