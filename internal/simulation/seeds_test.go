package simulation

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/testmain"
)

var (
	oneSeed = flag.Int64("seed", -1, "play only this seed")
	seeds   = flag.Uint64("seeds", seedsPerRun(), "how many seeds to play")
	from    = flag.Uint64("from", 0, "the first of them")
	story   = flag.Bool("story", false, "print what happens, with -v")
)

// TestMain has the tests cost little: package testmain says how.
func TestMain(m *testing.M) {
	os.Exit(testmain.Tests{Play: m.Run}.Run())
}

// TestSeeds plays worlds and complains about every invariant that does not hold. The line that it
// prints plays a seed again.
func TestSeeds(t *testing.T) {
	if *oneSeed >= 0 {
		tell(t, uint64(*oneSeed))
		return
	}

	worlds := make(chan *world, *seeds)
	t.Run("all", func(t *testing.T) {
		for seed := *from; seed < *from+*seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				worlds <- tell(t, seed)
			})
		}
	})
	close(worlds)
	total, resumed, visits, lasted := 0, 0, 0, time.Duration(0)
	for w := range worlds {
		total, resumed, lasted = total+w.wins, resumed+w.resumed, lasted+w.lasted
		visits += w.visits
	}

	t.Logf("%d simulated hours: %d holds in %d worlds, %d of them taken over from another process of the run",
		int(lasted.Hours()), total, *seeds, resumed)
	if sample.All() && resumed == 0 {
		t.Error("no process took over a hold")
	}
	if *seeds > 2 && visits == 0 {
		t.Error("no contributor held an issue")
	}

	if total < sample.Size(5, 10)*int(*seeds) {
		t.Errorf("%d holds in %d worlds: they do not exercise holding", total, *seeds)
	}
}

// tell plays one seed and reports what breached a rule.
func tell(t *testing.T, seed uint64) *world {
	t.Helper()
	w := play(t, seed)
	if *story {
		t.Log("\n" + w.history.String())
	}

	if len(w.breaches) > 0 {
		t.Errorf("%d breaches, the first: %s\nreplay: go test ./internal/simulation -run 'TestSeeds' -seed %d",
			len(w.breaches), w.breaches[0], seed)
	}

	return w
}

// play plays a world to its end, and then its aftermath.
func play(t *testing.T, seed uint64) (w *world) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		w = newWorld(t, seed)
		w.crowd()
		w.aftermath()
		w.lasted = time.Since(begun)
	})

	return w
}

// TestReplay: the same seed is the same story, byte for byte; another one is another.
func TestReplay(t *testing.T) {
	told := map[string]uint64{}
	seeds := []uint64{8, 7, 26} // everything at once; references; with people and the Action
	for _, seed := range seeds[:sample.Size(1, len(seeds))] {
		once, again := play(t, seed).history.String(), play(t, seed).history.String()
		if len(once) < 10_000 || once != again {
			t.Errorf("seed %d told two stories: %s", seed, parting(once, again))
		}

		if other, known := told[once]; known {
			t.Errorf("seeds %d and %d told one story", seed, other)
		}
		told[once] = seed
	}
}

// parting is where two stories part.
func parting(a, b string) string {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for n := range min(len(la), len(lb)) {
		if la[n] != lb[n] {
			return fmt.Sprintf("line %d:\n%s\n%s", n+1, la[n], lb[n])
		}
	}

	return fmt.Sprintf("%d and %d lines", len(la), len(lb))
}

// crowd lets everybody in, one after the other, and waits until all have gone home.
func (w *world) crowd() {
	var all []chan struct{}
	enter := func(name, token string, day func(*actor)) {
		a, done := w.actor(name, token), make(chan struct{})
		all = append(all, done)
		first := w.take(time.Now().Add(span(a.rng, time.Minute)))
		go func() {
			defer close(done)
			time.Sleep(time.Until(first))
			day(a)
		}()
	}

	for n := range w.workers {
		enter(worker(n), w.login(n), func(a *actor) {
			a.twin = w.twins && n < 2
			a.labor()
		})
	}

	sweep := (*actor).sweeps
	if w.action {
		sweep = (*actor).scheduled
		enter("workflow", "github-actions[bot]", (*actor).workflow)
	}

	for n := range w.sweepers {
		enter(fmt.Sprint("sweeper-", n), "github-actions[bot]", sweep)
	}

	if w.people {
		enter("olga", "olga", (*actor).meddle)
	}

	if w.guests {
		for _, name := range guests() {
			enter(name, "github-actions[bot]", (*actor).visit)
		}
	}

	for _, done := range all {
		<-done
	}
}

// aftermath lets every lease run out and every late request land, sweeps twice, and looks. Nothing
// goes wrong any more.
func (w *world) aftermath() {
	w.quiet = true
	a := w.actor("aftermath", "github-actions[bot]")
	for range 2 {
		_ = a.sleep(context.Background(), 5*time.Hour) // longer than any lease of this world
		l, client := a.start()
		if r := l.Sweep(context.Background(), client, a.order()); !r.Complete() {
			w.breach("a quiet sweep is incomplete: %d failed, skipped %s", r.Failed, strings.Join(r.Skipped, "; "))
		}
	}

	l, _ := a.start()
	for n := range w.issues {
		f, _, err := l.Check(context.Background(), ref(n+1), lifecycle.Seeker{})
		if err != nil {
			w.breach("read #%d: %v", n+1, err)
			continue
		}
		w.atRest(f)
	}
}
