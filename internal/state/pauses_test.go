package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/state"
)

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func TestPauseAndResume(t *testing.T) {
	f := state.Pauses{Dir: filepath.Join(t.TempDir(), "state", "label-state")}
	if p, err := f.Get("acme/app"); p != nil || err != nil {
		t.Fatalf("Get without a file = %v, %v", p, err)
	}

	if err := f.Set(state.Pause{
		Repo:   "Acme/App",
		Since:  noon(),
		By:     "ann",
		Reason: "release\x1b[31m day",
	}); err != nil {
		t.Fatal(err)
	}

	if err := f.Set(state.Pause{Repo: "acme/Web", Since: noon()}); err != nil {
		t.Fatal(err)
	}

	want := state.Pause{
		Repo:   "acme/app",
		Since:  noon(),
		By:     "ann",
		Reason: "release\x1b[31m day",
	}

	if p, err := f.Get("ACME/APP"); err != nil || p == nil || *p != want {
		t.Errorf("Get = %v, %v; want %v", p, err, want)
	}

	if p, err := f.Get("acme/other"); p != nil || err != nil {
		t.Errorf("Get of another repository = %v, %v", p, err)
	}

	if p, err := f.Get("acme/web"); err != nil || p == nil || p.Repo != "acme/web" {
		t.Errorf("Get of the second = %v, %v", p, err)
	}
	want.Reason = "again"
	if err := f.Set(want); err != nil {
		t.Fatal(err)
	}

	if p, _ := f.Get("acme/app"); p == nil || p.Reason != "again" {
		t.Errorf("second reason: %v", p)
	}

	if err := f.Set(state.Pause{Repo: "acme/app", Since: noon().Add(time.Hour), By: "ben"}); err != nil {
		t.Fatal(err)
	}

	if p, _ := f.Get("acme/app"); p == nil || *p != want {
		t.Errorf("paused again without a reason: %v, want %v", p, want)
	}

	for _, want := range []bool{true, false} {
		if was, err := f.Clear("ACME/app"); was != want || err != nil {
			t.Fatalf("it was paused: %t, %v", was, err)
		}
	}

	gone, err := f.Get("acme/app")
	left, err2 := f.Get("acme/web")
	if gone != nil || left == nil || err != nil || err2 != nil {
		t.Errorf("after Clear: %v, %v; %v, %v", gone, err, left, err2)
	}

	if left, err := os.ReadDir(filepath.Dir(f.Path())); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestPausedNames(t *testing.T) {
	f := state.Pauses{Dir: t.TempDir()}
	for _, repo := range []string{
		"", "app", "acme/", "/app", "acme/app/x", "../..", "acme/..", "a b/c", "acme/app\n",
		strings.Repeat("a", 200) + "/b",
	} {
		if _, err := f.Get(repo); !answer.Is(err, answer.Usage) {
			t.Errorf("Get(%q): %v", repo, err)
		}

		if err := f.Set(state.Pause{Repo: repo}); !answer.Is(err, answer.Usage) {
			t.Errorf("Set(%q): %v", repo, err)
		}

		if _, err := f.Clear(repo); !answer.Is(err, answer.Usage) {
			t.Errorf("Clear(%q): %v", repo, err)
		}
	}
}

// TestUnreadable: nobody may conclude from a damaged list that a repository is not paused, and a
// pause must not wipe out what the list may have said.
func TestUnreadablePauses(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "cut": `{"format":1,"paused":[{"re`, "words": "paused", "null": "null", "no list": `{"format":1}`,
		"another format": `{"format":2,"paused":[]}`,
		"two lists":      `{"format":1,"paused":[]}{}`, "bad name": `{"format":1,"paused":[{"repo":"../.."}]}`,
		"wrong type": `{"format":1,"paused":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := state.Pauses{Dir: t.TempDir()}
			if err := os.WriteFile(f.Path(), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}

			unreadable(t, f)
			if got, err := os.ReadFile(f.Path()); err != nil || string(got) != content {
				t.Errorf("the list was changed to %q, %v", got, err)
			}
		})
	}

	t.Run("folder", func(t *testing.T) {
		f := state.Pauses{Dir: t.TempDir()}
		if err := os.Mkdir(f.Path(), 0o755); err != nil {
			t.Fatal(err)
		}
		unreadable(t, f)
	})

	t.Run("file in the folder's place", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}

		if _, err := (state.Pauses{Dir: dir}).Get("acme/app"); !answer.Is(err, answer.Machine) {
			t.Errorf("Get: %v", err)
		}

		lock := state.Pauses{Dir: t.TempDir()}
		if err := os.Mkdir(lock.Path()+".lock", 0o755); err != nil {
			t.Fatal(err)
		}

		for f, since := range map[state.Pauses]time.Time{
			{Dir: dir}:         noon(),
			lock:               noon(),
			{Dir: t.TempDir()}: noon().AddDate(9999, 0, 0), // which JSON cannot write
		} {
			err := f.Set(state.Pause{Repo: "acme/app", Since: since})
			if err == nil || !strings.HasPrefix(err.Error(), "write local pauses: ") {
				t.Errorf("Set below %s: %v", f.Dir, err)
			}
		}
	})
}

func unreadable(t *testing.T, f state.Pauses) {
	t.Helper()
	if p, err := f.Get("acme/app"); p != nil || !answer.Is(err, answer.Machine) || !strings.Contains(err.Error(), f.Path()) {
		t.Errorf("Get = %v, %v", p, err)
	}

	if err := f.Set(state.Pause{Repo: "acme/app"}); !answer.Is(err, answer.Machine) {
		t.Errorf("Set: %v", err)
	}

	if _, err := f.Clear("acme/app"); !answer.Is(err, answer.Machine) {
		t.Errorf("Clear: %v", err)
	}

	if _, err := os.Stat(f.Path() + ".lock"); err == nil {
		t.Error("a lock was left behind")
	}
}

// TestWritersDoNotLosePauses lets many write at once: each waits for the others, and is in the list.
func TestWritersDoNotLosePauses(t *testing.T) {
	f := state.Pauses{Dir: t.TempDir()}
	const all = 16
	var writers sync.WaitGroup
	for n := range all {
		writers.Go(func() {
			if err := f.Set(state.Pause{Repo: "acme/r" + string(rune('a'+n)), Since: noon()}); err != nil {
				t.Errorf("writer %d: %v", n, err)
			}
		})
	}

	writers.Wait()
	for n := range all {
		if p, err := f.Get("acme/r" + string(rune('a'+n))); err != nil || p == nil {
			t.Errorf("of writer %d the list has %v, %v", n, p, err)
		}
	}
}

func TestBusy(t *testing.T) {
	f := state.Pauses{Dir: t.TempDir()}
	free, err := state.Lock(f.Path() + ".lock")
	if err != nil {
		t.Fatal(err)
	}

	if _, err := f.Clear("acme/app"); !errors.Is(err, state.ErrPausesBusy) {
		t.Errorf("Clear while somebody writes: %v", err)
	}

	if err := free(); err != nil {
		t.Fatal(err)
	}

	if _, err := f.Clear("acme/app"); err != nil {
		t.Errorf("Clear afterwards: %v", err)
	}
}
