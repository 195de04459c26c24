package githubwork_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/work"
)

// A fleet is agents that drain one queue. Every seventh issue kills the first agent that takes it.
type fleet struct {
	world
	agents, issues int

	mu      sync.Mutex
	done    map[string]int
	crashed map[string]bool
	working map[string]string // issue → who works on it now
	order   []work.Priority   // in which items were claimed for the first time
}

func newFleet(t testing.TB, agents, issues int) *fleet {
	var seed []githubsim.SeedIssue
	for n := range issues {
		seed = append(seed, githubsim.SeedIssue{
			Number:    n + 1,
			Title:     "Work",
			Author:    "bot",
			Labels:    []string{queued, fmt.Sprintf("p%d", n%4)},
			CreatedAt: at(n),
		})
	}

	return &fleet{
		world:   newWorld(t, seed),
		agents:  agents,
		issues:  issues,
		done:    map[string]int{},
		crashed: map[string]bool{},
		working: map[string]string{},
	}
}

// drain lets them all work until everything is done, with a sweep every five minutes.
func (f *fleet) drain(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var sweeps, wait sync.WaitGroup
	sweeps.Go(func() { f.sweep(ctx) })

	for a := range f.agents {
		wait.Go(func() {
			time.Sleep(time.Duration(a) * 137 * time.Millisecond)
			for life := 0; f.live(ctx, fmt.Sprintf("agent%d-%d", a, life)); life++ {
				time.Sleep(time.Minute)
			}
		})
	}

	wait.Wait()
	stop()
	sweeps.Wait()
}

func (f *fleet) sweep(ctx context.Context) {
	c, l := f.parts()
	for clock.Sleep(clock{}, ctx, 5*time.Minute) == nil {
		l.Sweep(ctx, c, ledger.Sweep{Repos: []claim.Repo{repo}, By: "sweep-1-x"})
	}
}

// live is one agent from its start to its death; it reports whether there may be more to do.
func (f *fleet) live(ctx context.Context, name string) bool {
	s := f.source(agent(name))
	kinds := work.Openers{githubwork.Type: func(context.Context, work.Settings) (work.Source, error) { return s, nil }}
	d, who := work.NewDispatcher(kinds), work.Settings{Type: githubwork.Type, Agent: name}
	for {
		c, err := d.Next(ctx, who, work.FetchOptions{})
		switch {
		case errors.Is(err, work.ErrNoWork) && f.finished():
			return false
		case errors.Is(err, work.ErrNoWork):
			time.Sleep(time.Minute)
			continue
		case err != nil:
			f.t.Errorf("next: %v", err)
			return false
		}

		if f.dies(c) {
			return true
		}
		time.Sleep(3 * time.Minute)
		if err := f.report(ctx, d, who, c.Item.ID); err != nil {
			f.t.Errorf("report %s: %v", c.Item.ID, err)
			return false
		}
	}
}

func (f *fleet) finished() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.done) == f.issues
}

// dies notes who works on what, and reports whether this is the end of the agent.
func (f *fleet) dies(c work.Claimed) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := c.Item.ID
	if other := f.working[id]; other != "" {
		f.t.Errorf("%s and %s work on %s", other, c.Agent, id)
	}

	n, err := work.ParseID(githubwork.Type, id)
	if err != nil {
		f.t.Error(err)
	}

	if n%7 == 0 && !f.crashed[id] {
		f.crashed[id] = true
		return true
	}

	f.working[id] = c.Agent
	if !f.crashed[id] {
		f.order = append(f.order, c.Item.Priority)
	}

	return false
}

func (f *fleet) report(ctx context.Context, d *work.Dispatcher, who work.Settings, id string) error {
	f.mu.Lock()
	delete(f.working, id)
	f.done[id]++
	f.mu.Unlock()
	src, err := d.Source(ctx, who)
	if err != nil {
		return err
	}

	return src.Complete(ctx, id, work.Result{Outcome: work.Success})
}

// check wants every issue to have been done once, and more urgent ones to have been begun first.
func (f *fleet) check() {
	for n := range f.issues {
		f.shows(n+1, "closed", "agent:done", fmt.Sprintf("p%d", n%4))
		if got := f.done[work.ID(githubwork.Type, int64(n+1))]; got != 1 {
			f.t.Errorf("#%d was done %d times", n+1, got)
		}
	}

	for n := f.agents; n < len(f.order); n++ {
		if f.order[n] < f.order[n-f.agents] {
			f.t.Errorf("item %d of priority %s after one of %s", n, f.order[n], f.order[n-f.agents])
		}
	}
}

func TestFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 6, sample.Size(14, 28))
		f.drain(t.Context())
		f.check()
		if len(f.crashed) != f.issues/7 {
			t.Errorf("%d agents died", len(f.crashed))
		}
	})
}

var (
	agents = flag.Int("agents", sample.Size(6, 20), "agents of TestLoad")
	issues = flag.Int("issues", sample.Size(21, 100), "issues of TestLoad")
)

// TestLoad is a larger fleet; with -v it says how many requests an issue takes.
func TestLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("many agents")
	}

	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, *agents, *issues)
		start := time.Now()
		f.drain(t.Context())
		f.check()
		t.Logf("%d agents, %d issues, %d crashes: %.1f requests for each completed issue, %s", f.agents, f.issues,
			len(f.crashed),
			float64(len(f.Requests()))/float64(f.issues), time.Since(start).Round(time.Minute))
	})
}
