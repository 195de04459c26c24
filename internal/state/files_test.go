package state_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/label-state/label-state/internal/state"
)

// TestMissing: the folders that are not there, outermost first, and a text's fingerprint.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	if got := state.Missing(filepath.Join(a, "b")); !slices.Equal(got, []string{a, filepath.Join(a, "b")}) {
		t.Errorf("missing %q", got)
	}

	if got := state.Fingerprint([]byte("abc")); !strings.HasPrefix(got, "ba7816bf8f01cfea") || len(got) != 64 {
		t.Errorf("fingerprint %s", got)
	}
}

// TestHold: one holder at a time, and the next as soon as it is free.
func TestHold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.lock")
	free, err := state.Lock(file)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := state.Lock(file); !errors.Is(err, state.ErrLocked) {
		t.Errorf("a second holder: %v", err)
	}

	if err := free(); err != nil {
		t.Fatal(err)
	}
	free, err = state.Lock(file)
	if err != nil {
		t.Fatal(err)
	}

	if err := free(); err != nil {
		t.Error(err)
	}

	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := state.Lock(filepath.Join(file, "x")); err == nil || errors.Is(err, state.ErrLocked) {
		t.Errorf("a file below a file: %v, want that it could not be asked", err)
	}

	if _, err := state.Lock(filepath.Dir(file)); err == nil || !strings.Contains(err.Error(), filepath.Dir(file)) {
		t.Errorf("a folder: %v, want an error that names it", err)
	}
}

// TestHoldIsLostWithTheProcess: a killed process holds nothing.
func TestHoldIsLostWithTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.lock")
	holder := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHolder$")
	holder.Env = append(os.Environ(), "HOLD_FILE="+file)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if _, err := holder.StdinPipe(); err != nil { // it lives as long as this is open
		t.Fatal(err)
	}

	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}

	if _, err := io.ReadFull(out, make([]byte, len("held"))); err != nil {
		t.Fatal(err)
	}

	if _, err := state.Lock(file); !errors.Is(err, state.ErrLocked) {
		t.Errorf("while the other process lives: %v", err)
	}

	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // killed
	free, err := state.Lock(file)
	if err != nil {
		t.Fatalf("after it was killed: %v", err)
	}

	if err := free(); err != nil {
		t.Error(err)
	}
}

// TestHolder is the process that is killed.
func TestHolder(t *testing.T) {
	file := os.Getenv("HOLD_FILE")
	if file == "" {
		return
	}

	if _, err := state.Lock(file); err != nil {
		t.Fatal(err)
	}

	if _, err := os.Stdout.WriteString("held"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

// TestOneHolder: however the file comes and goes while many want it, one of them holds it.
func TestOneHolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.lock")
	var holders atomic.Int32
	var crew sync.WaitGroup
	for range 8 {
		crew.Go(func() {
			for range 1000 {
				free, err := state.Lock(file)
				if errors.Is(err, state.ErrLocked) {
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}

				if holders.Add(1) > 1 {
					t.Error("two hold it")
				}
				runtime.Gosched() // somebody else may come by
				holders.Add(-1)
				if err := free(); err != nil {
					t.Error(err)
				}
			}
		})
	}

	crew.Wait()
}
