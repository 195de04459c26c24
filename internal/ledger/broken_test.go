package ledger_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/ledger"
)

// A refutation is a guarantee that does not hold under an assumption, with the violation that shows
// it.
type refutation struct {
	scenario scenario
	says     string
	long     bool // its shortest story is too long to be looked for
}

// TestWhatDoesNotHold keeps for every entry of guarantees.md#what-the-log-guarantees that is said
// not to hold its shortest story, in testdata/traces: the violation must be reached, by the real
// code. A scripted server on which it cannot be reached would prove nothing by the scenarios in
// which all is well. With
// -deep the shortest story is looked for again.
func TestWhatDoesNotHold(t *testing.T) {
	for name, r := range refutations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", "traces", name+".txt")
			if *deep && !r.long {
				r.shortest(t, file)
			}

			found := explore(r.scenario)
			p, err := found.follow(lines(t, file))
			if err != nil {
				t.Fatal(err)
			}

			defer p.end()
			if len(p.choices(nil)) == 0 && p.broken == nil {
				p.broken = found.rest(p)
			}

			if p.broken == nil || !strings.Contains(p.broken.Error(), r.says) {
				t.Errorf("%v, want %q:\n%s", p.broken, r.says, p.server)
			}
		})
	}
}

// shortest looks for a story that is no longer than the one that is kept, and writes it when none
// is.
func (r refutation) shortest(t *testing.T, file string) {
	found := explore(r.scenario)
	trace, err := found.shortest()
	if err == nil || !strings.Contains(err.Error(), r.says) {
		t.Fatalf("%v, want %q", err, r.says)
	}

	if _, none := os.Stat(file); errors.Is(none, os.ErrNotExist) {
		text := "# " + err.Error() + "\n" + strings.Join(trace, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	if kept := lines(t, file); len(kept) != len(trace) {
		t.Errorf("%d steps are kept and %d are enough:\n%s", len(kept), len(trace), strings.Join(trace, "\n"))
	}
}

// lines are those of a trace, without comments.
func lines(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}

	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}

	return out
}

func refutations() map[string]refutation {
	trio := []role{worker("ann"), worker("bob")}
	rival := []role{holder("ann"), worker("bob")}
	beat := []role{holder("ann", renew), sweeper("sue", 1), worker("bob")}
	late := []role{holder("ann", push), sweeper("sue", 1), worker("bob")}

	return map[string]refutation{
		"subset-reads": {
			scenario{
				cast:      trio,
				reads:     subsets,
				within:    forever,
				faults:    budget{stale: 3},
				tokenless: true,
			}, "two holders", false,
		},
		"subset-reads-settle-too-short": {
			scenario{
				cast:      trio,
				reads:     subsets,
				within:    2 * time.Second,
				faults:    budget{stale: 3},
				tick:      time.Second,
				ticks:     2,
				set:       settling(time.Second),
				tokenless: true,
			}, "two holders", false,
		},
		"subset-reads-token": {
			scenario{
				cast:   []role{holder("ann", release), worker("bob")},
				reads:  subsets,
				within: forever,
				faults: budget{stale: 2},
			}, "is not above", false,
		},
		"nobody-wins": {
			scenario{
				cast:    trio,
				reads:   subsets,
				within:  forever,
				blurred: "bob",
				faults:  budget{stale: 9},
				ends:    progress,
			}, "everybody gave up", true,
		},
		"sweep-reads-unbounded-prefix": {
			scenario{
				cast:    beat,
				reads:   prefixes,
				within:  forever,
				blurred: "sue",
				faults:  budget{stale: 2},
				tick:    90 * time.Second,
				ticks:   2,
			}, "two holders", false,
		},
		"grace-below-staleness": {
			scenario{
				cast:    beat,
				reads:   prefixes,
				within:  61 * time.Second,
				blurred: "sue",
				faults:  budget{stale: 2},
				tick:    time.Minute,
				ticks:   2,
				set:     gracious(0),
			}, "two holders", false,
		},
		"force-now": {scenario{cast: append(rival, operator(forces))}, "two holders", false},
		"pull-request-reopened": {scenario{cast: []role{
			holder("ann"), worker("bob"), person(closes(), reopens()),
			sweeper("sue", 1),
		}, pull: true}, "two holders", false},
		"comment-deleted": {
			scenario{cast: append(rival, person(deletes(1))), tokenless: true},
			"two holders", false,
		},
		"comment-edited": {
			scenario{cast: append(rival, person(edits(1))), tokenless: true},
			"two holders", false,
		},
		"comment-deleted-token": {scenario{cast: append(rival, person(deletes(1)))}, "is not above", false},
		"force-now-refs":        {scenario{cast: append(rival, operator(forces)), strict: true}, "two holders", false},
		"release-by-edit": {
			scenario{cast: []role{holder("ann", overwrites), beater("hal", "ann")}, watch: deadForEver},
			"lives again", false,
		},
		"release-by-edit-late": {
			scenario{cast: []role{holder("ann", renew, overwrites)}, faults: budget{lost: 1}, watch: deadForEver},
			"lives again", false,
		},
		"late-push": {
			scenario{cast: late, tick: term, ticks: 2, faults: budget{lost: 1}, watch: pushedUnderAnother},
			"pushed while", false,
		},
		"labels-bare": {
			scenario{cast: []role{worker("ann", release), reconciler("rex")}, labels: true, watch: bare},
			"no lifecycle label", false,
		},
		"labels-look-free": {
			scenario{cast: []role{holder("ann", release), worker("bob")}, labels: true, watch: looksFree},
			"looks free", false,
		},
	}
}

func settling(d time.Duration) func(*ledger.Settings) {
	return func(s *ledger.Settings) { s.Settle = d }
}

func gracious(d time.Duration) func(*ledger.Settings) {
	return func(s *ledger.Settings) { s.Rules.Terms.Grace = d }
}

// pushedUnderAnother: S2, no push lands while somebody else holds the issue.
func pushedUnderAnother(p *exploration) error {
	n := len(p.server.log) - 1
	if n < 0 || p.server.log[n].what != "push" {
		return nil
	}

	for _, a := range p.actors {
		if a.owns() && a.name != p.server.log[n].text {
			return fmt.Errorf("%s pushed while %s holds the issue", p.server.log[n].text, a.name)
		}
	}

	return nil
}

// looksFree: labels offer what somebody holds.
func looksFree(p *exploration) error {
	shown := p.look().labels
	for _, a := range p.actors {
		if a.owns() && slices.Contains(shown, "agent:implement") && !slices.Contains(shown, "agent:in-flight") {
			return fmt.Errorf("it looks free and %s holds it", a.name)
		}
	}

	return nil
}
