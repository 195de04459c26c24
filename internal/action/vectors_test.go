package action_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"golang.org/x/tools/txtar"

	"github.com/label-state/label-state/internal/sample"
)

// The vectors: every file in testdata is a txtar archive, every section of it one case. A case is
// played in a world of its own; testdata/README explains the lines. Every case is played three
// ways, in a sample the first, a quarter of them another besides, and must end the same in all of
// them:
//
//   - once, and then each run a second time, which must write nothing;
//   - each run twice at the same time, with requests interleaved by a seed;
//   - each run cut off after each of its requests was applied (after every sixteenth in a sample), and begun anew.

func TestVectors(t *testing.T) {
	const ways = 8 // the first two of them are played
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
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { play(t, script, again) })
				if sample.Plays(name, 0, ways) {
					for seed := range sample.Size[uint64](1, 2) {
						synctest.Test(t, func(t *testing.T) { play(t, script, twice(seed)) })
					}
				}

				first, stride := sample.Steps(name, 16)
				for n, reached := first, sample.Plays(name, 1, ways); reached && !t.Failed(); n += stride {
					synctest.Test(t, func(t *testing.T) { play(t, script, cutOff(n, &reached)) })
				}
			})
		}
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
	return way{name: fmt.Sprintf("cut off after request %d", n), run: func(w *world, r run) (step, bool) {
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
