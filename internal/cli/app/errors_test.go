package app

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/sample"
)

const errorsGolden = "testdata/errors.golden"

// A trial is one thing that goes wrong. Its lines are those of testdata/errors.golden:
//
//	## Title
//	> what has happened before
//	$ label-state ARGUMENT...
//	| what stands on standard error
//	| exit CODE
//
// A "# Heading" before it says what the user was doing. In place of label-state there may be git,
// with the hook behind it, and label-state-action. In place of "$" a "?" marks what a newcomer does
// wrong. Only what follows these two is rewritten by -update.
type trial struct {
	group, title string
	before       []string
	asked        []question
}

type question struct {
	mark, line string
	answer     []string
}

func readTrials(t *testing.T, path string) []trial {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	var all []trial
	group := ""
	for n, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		mark, text, _ := strings.Cut(line, " ")
		if mark == "#" {
			group = text
			continue
		}
		if mark == "##" {
			all = append(all, trial{group: group, title: text})
			continue
		}

		if line != "" && (len(all) == 0 || !all[len(all)-1].take(mark, text)) {
			t.Fatalf("%s:%d: %q", path, n+1, line)
		}
	}

	return all
}

func (tr *trial) take(mark, text string) bool {
	switch last := len(tr.asked) - 1; {
	case mark == ">":
		tr.before = append(tr.before, text)
	case mark == "$" || mark == "?":
		tr.asked = append(tr.asked, question{mark: mark, line: text})
	case mark == "|" && last >= 0:
		tr.asked[last].answer = append(tr.asked[last].answer, text)
	default:
		return false
	}

	return true
}

func writeTrials(trials []trial) string {
	var b strings.Builder
	group := ""
	for _, tr := range trials {
		if tr.group != group {
			fmt.Fprintf(&b, "# %s\n\n", tr.group)
			group = tr.group
		}

		b.WriteString("## " + tr.title + "\n")
		for _, line := range tr.before {
			b.WriteString("> " + line + "\n")
		}

		for _, q := range tr.asked {
			b.WriteString(q.mark + " " + q.line + "\n")
			for _, line := range q.answer {
				b.WriteString("| " + line + "\n")
			}
		}

		b.WriteString("\n")
	}

	return strings.TrimSuffix(b.String(), "\n")
}

// TestErrors drives the program into everything that can go wrong, and compares what it says with
// testdata/errors.golden. Every hint that the code can give and every type of error must be there.
// An ordinary run plays the first trial of each group and every sixth besides; the types are those
// that are met when all are played, or rewritten by -update.
func TestErrors(t *testing.T) {
	trials := readTrials(t, errorsGolden)
	seen, programs := map[string]bool{}, buildOthers(t)
	groups := map[string]bool{}
	for n, tr := range trials {
		first := !groups[tr.group]
		groups[tr.group] = true
		if !first && !golden.Updating() && !sample.Plays(tr.title, 0, 6) {
			continue
		}

		t.Run(strings.ReplaceAll(trials[n].title, " ", "-"), func(t *testing.T) {
			play(t, &trials[n], programs, seen)
		})
	}

	if text := writeTrials(trials); golden.Updating() {
		if err := os.WriteFile(errorsGolden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want, _ := os.ReadFile(errorsGolden); string(want) != text {
		t.Errorf("%s is not what the program says: read the difference, then run with -update", errorsGolden)
	}

	if golden.Updating() || sample.All() {
		checkTypes(t, heard(trials), seen)
	}
	checkTexts(t, heard(trials))
	checkHints(t, trials)
	golden.Check(t, troubleshooting, pageOf())
}

// play runs one trial in a home and on a GitHub of its own, and notes the types of its errors.
func play(t *testing.T, tr *trial, programs string, seen map[string]bool) {
	s := stageFor(t, tr)
	s.programs = programs
	synctest.Test(t, func(t *testing.T) {
		s.open(t)
		for _, line := range tr.before {
			if err := s.prepare(line); err != nil {
				t.Fatalf("> %s: %v", line, err)
			}
		}

		for n, q := range tr.asked {
			got := s.ask(q.line, seen)
			if !slices.Equal(got, q.answer) && !golden.Updating() {
				t.Errorf("$ %s\n%s\nwant\n%s", q.line, strings.Join(got, "\n"), strings.Join(q.answer, "\n"))
			}
			tr.asked[n].answer = got
		}

		s.close()
	})
}

// note collects the types of an error and of all it wraps.
func note(err error, seen map[string]bool) {
	if err == nil {
		return
	}
	kind := reflect.TypeOf(err)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}

	seen[strings.TrimPrefix(kind.PkgPath(), "github.com/label-state/label-state/")+"."+kind.Name()] = true
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		note(e.Unwrap(), seen)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			note(one, seen)
		}
	}
}
