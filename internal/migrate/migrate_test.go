package migrate_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/migrate"
)

func TestAttempts(t *testing.T) {
	for label, want := range map[string]int{
		"attempt-1": 1, "lucius-attempt-2": 2, "agent:attempt-3": 3, "a-b-attempt-10": 10, "Attempt-2": 2, "attempt-0": 0,
		"attempt": -1, "attempt-": -1, "attempt-x": -1, "attempt-2-of-3": -1, "reattempt-2": -1, "attempt-1000": -1, "my attempt-4": 4,
	} {
		n, ok := migrate.Attempts(label)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("Attempts(%q) = %d, want %d", label, n, want)
		}
	}
	names, n := migrate.Counted([]string{"bug", "lucius-attempt-1", "attempt-3", "drake-attempt-2"})
	if n != 3 || !slices.Equal(names, []string{"lucius-attempt-1", "attempt-3", "drake-attempt-2"}) {
		t.Errorf("Counted = %q, %d", names, n)
	}
}

// TestPauseVectors reads each file of testdata/pauses.txtar and compares with the one named after it.
func TestPauseVectors(t *testing.T) {
	a, err := txtar.ParseFile("testdata/pauses.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(a.Files); n += 2 {
		in, want := a.Files[n], string(a.Files[n+1].Data)
		if a.Files[n+1].Name != in.Name+" is" {
			t.Fatalf("%s is followed by %s", in.Name, a.Files[n+1].Name)
		}
		got := ""
		pauses, err := migrate.Pauses(in.Name, in.Data)
		for _, p := range pauses {
			got += fmt.Sprintf("%s: %q\n", p.Repo, p.Reason)
		}
		if err != nil {
			got = err.Error() + "\n"
		}
		if got != want {
			t.Errorf("%s is read as\n%swant\n%s", in.Name, got, want)
		}
	}
}

// TestPausesAreOneLine: whatever a file holds, it is pauses that can be shown, or an error with its name.
func TestPausesAreOneLine(t *testing.T) {
	seed, err := os.ReadFile("testdata/pauses.txtar")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(seed))
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(words), rapid.String(), rapid.SampledFrom([]string{"\n", " ", "[", "]", `"`, ","}))).Draw(t, "parts")
		pauses, err := migrate.Pauses("paused", []byte(strings.Join(parts, "")))
		var bad *migrate.FileError
		if err != nil && (!errors.As(err, &bad) || bad.File != "paused" || pauses != nil) {
			t.Fatalf("%v, %v", pauses, err)
		}
		for _, p := range pauses {
			if strings.ContainsAny(p.Repo+p.Reason, "\n\r\t\x1b") || strings.Count(p.Repo, "/") != 1 {
				t.Fatalf("%q", p)
			}
		}
	})
}

func TestPausesTooLarge(t *testing.T) {
	if _, err := migrate.Pauses("paused", make([]byte, migrate.MaxFile+1)); err == nil {
		t.Error("a file of any size is read")
	}
}
