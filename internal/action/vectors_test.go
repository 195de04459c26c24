package action_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"golang.org/x/tools/txtar"

	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/sample"
)

// The vectors: every file in testdata is a txtar archive, every section of it one case. A case is
// played in a world of its own; testdata/README explains the lines. Every case is played five ways,
// in a sample the first, half of them another besides, and must end the same in all of them:
//
//   - once, and then each run a second time, which must write nothing;
//   - each run twice at the same time, with requests interleaved by a seed;
//   - each run cut off after each of its writes was applied (after every fourth in a sample), and begun anew;
//   - each run with all requests after so many refused, and begun anew, which must have been said;
//   - each run with one of its requests refused, and started over.

func TestVectors(t *testing.T) {
	const ways = 8 // the first four of them are played

	// where what is left for the next run does no harm: an assignment that keeps nobody off, a record that says
	// again what was said
	quiet := []string{
		"a person, who is told, and then taken off",
		"of three ends of one hold the own later one goes, and another author's stays",
		"of two answers to one plan the own later one goes",
		"… the oldest first",
	}

	// each of whose requests is refused in every run
	refusing := []string{
		"the claimed label taken off by a person is a forced release",
		"claim: refused on a closed issue",
		"more lines may follow",
		"a stranger's second pull request is counted with the first",
		"claim: an issue that a sweep gives away counts once, as it is then",
		"claim and release by the same person, delivered twice; a force is not needed and no reason",
		"release: nobody holds it",
		"release: a person's hold",
		"requeue: another round of attempts",
		"approve a plan",
		"reject a plan",
		"hold and unhold",
		"edited: the keyword goes from the holder's own pull request, for good",
		"fail: the check is red until the author holds the issue",
		"the age of an account",
		"needs:human-scope taken off by a person counts attempts anew",
		"… also that of a hold which had run out by then, though nobody has recorded that yet",
		"agents have more pull requests open than the repository wants: the guard says so, and fails nothing",
		"the last blocker closes: what waited for it wakes",
		"a sweep carries out what an event has lost, and only new comments that are commands",
		"stuck: the queue's label begins an issue again when a person puts it on",
	}

	costs := costsOf(t)

	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}

	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		for _, c := range txtar.Parse(data).Files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + c.Name
			script := string(c.Data)
			costs.cases = append(costs.cases, name)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { costs.check(t, name, play(t, script, again)) })
				if sample.Plays(name, 0, ways) {
					for seed := range sample.Size[uint64](1, 2) {
						synctest.Test(t, func(t *testing.T) { play(t, script, twice(seed)) })
					}
				}

				if sample.Few() { // the others begin again what was played
					return
				}

				first, stride := sample.Steps(name, 4)
				for n, reached := first, sample.Plays(name, 1, ways); reached && !t.Failed(); n += stride {
					synctest.Test(t, func(t *testing.T) { play(t, script, cutOff(n, &reached)) })
				}

				first, stride = sample.Steps(name, 16)
				for n, reached := first-1, sample.Plays(name, 2, ways) && !slices.Contains(quiet, c.Name); reached && !t.Failed(); n += stride {
					synctest.Test(t, func(t *testing.T) { play(t, script, failing(n, &reached)) })
				}

				all := slices.Contains(refusing, c.Name)
				if all {
					first, stride = 1, 1
				}

				for n, reached := first, (all || sample.Plays(name, 3, ways)) && !slices.Contains(quiet, c.Name); reached && !t.Failed(); n += stride {
					synctest.Test(t, func(t *testing.T) { play(t, script, refused(n, &reached)) })
				}
			})
		}
	}
}

// costs are what each run of each case comes to: its exit code, its requests, and how many of them
// wrote. They are in testdata/costs.txt, a case a line.
type costs struct {
	mu    sync.Mutex
	runs  map[string]string
	cases []string
}

func costsOf(t *testing.T) *costs {
	data, err := os.ReadFile("testdata/costs.txt")
	if err != nil {
		t.Fatal(err)
	}

	c := &costs{runs: map[string]string{}}
	for line := range strings.Lines(string(data)) {
		name, runs, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		c.runs[name] = runs
	}

	t.Cleanup(func() {
		var all strings.Builder
		for _, name := range slices.Sorted(slices.Values(c.cases)) {
			fmt.Fprintf(&all, "%s | %s\n", name, c.runs[name])
		}
		golden.Check(t, "testdata/costs.txt", all.String())
	})

	return c
}

func (c *costs) check(t *testing.T, name string, got []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	runs, want := strings.Join(got, " "), c.runs[name]
	if runs != want && !golden.Updating() {
		t.Errorf("its runs come to %s, want %s: exit code, requests, writes; see testdata/costs.txt", runs, want)
	}
	if golden.Updating() {
		c.runs[name] = runs
	}
}

// A way of playing carries a run out. Only the first way looks at what the run itself says.
type way struct {
	name  string
	start func(*world)
	run   func(*world, run) (step, bool) // the result, and whether its words are to be checked
}

var again = way{name: "again", run: func(w *world, r run) (step, bool) {
	first := w.run(w.Context(), r)
	second := w.run(w.Context(), r)
	if second.writes > 0 {
		w.Errorf("a second delivery wrote %d times\n%s", second.writes, second.log)
	}
	return first, true
}}

func twice(seed uint64) way {
	return way{name: fmt.Sprint("twice, seed ", seed), run: func(w *world, r run) (step, bool) {
		w.jitter(seed)
		defer func() { w.server.Fault = nil }()
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { w.run(w.Context(), r) })
		}

		both.Wait()
		return step{}, false
	}}
}

func cutOff(n int, reached *bool) way {
	*reached = false
	return way{name: fmt.Sprintf("cut off after write %d", n), run: func(w *world, r run) (step, bool) {
		ctx, cut := context.WithCancel(w.Context())
		defer cut()
		came := w.crash(n, cut)
		w.run(ctx, r)
		*reached = *reached || came()
		w.server.Fault = nil
		w.run(w.Context(), r)

		return step{}, false
	}}
}

// failing answers everything after n requests of a run with 502: a run that leaves something to do
// says so.
func failing(n int, reached *bool) way {
	*reached = false
	return way{name: fmt.Sprintf("fails after request %d", n), run: func(w *world, r run) (step, bool) {
		asked := w.breakAfter(n, func() *githubsim.Fault { return &githubsim.Fault{Status: http.StatusBadGateway} })
		w.startOver(r)
		*reached = *reached || asked() > n
		return step{}, false
	}}
}

// startOver runs it without some answers, and then with all: a run that leaves something to do says
// so. It returns the first.
func (w *world) startOver(r run) step {
	s := w.run(w.Context(), r)
	w.server.Fault = nil
	left := w.run(w.Context(), r).writes
	if left > 0 && s.code == 0 && !strings.Contains(s.all(), "502") {
		w.Errorf("left %d writes to do\n%s", left, s.short())
	}

	return s
}

// refused answers one request of a run, and the tries to repeat it, with 502, and all others as
// usual: what could not be done for that is said, and done by the next run.
func refused(n int, reached *bool) way {
	*reached = false
	return way{name: fmt.Sprintf("without an answer to request %d", n), run: func(w *world, r run) (step, bool) {
		asked := w.breakOne(n)
		s := w.startOver(r)
		*reached = *reached || asked() >= n

		// Where the run was not red a sweep does what was left, and the case ends; it ends, too, where
		// somebody was told that a claim was given up, whose key stays dead.
		w.over = w.over || s.code == 0 && strings.Contains(s.all(), "502")
		for n := 1; n < 10; n++ {
			thread, _ := w.server.Comments(app, n)
			w.over = w.over || slices.ContainsFunc(thread, func(c githubsim.Comment) bool {
				return strings.Contains(c.Body, "; comment /claim again.")
			})
		}

		return step{}, false
	}}
}
