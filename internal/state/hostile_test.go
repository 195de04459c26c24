//go:build unix

package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/state"
)

// TestNoRegularFile: a pipe, a device or a file of many gigabytes in the place of a hold is an
// error that names it at once.
func TestNoRegularFile(t *testing.T) {
	for name, put := range map[string]func(string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"huge": func(path string) error {
			f, err := os.Create(path)
			return errors.Join(err, f.Truncate(64<<30), f.Close())
		},
	} {
		dir := t.TempDir()
		s := state.OpenHolds(dir)
		if err := errors.Join(s.Save(hold(1)), s.Save(hold(2))); err != nil {
			t.Fatal(err)
		}

		path := filepath.Join(dir, "label-state", "holds", "acme@app.web@1.json")
		if err := errors.Join(os.Remove(path), put(path)); err != nil {
			t.Fatal(err)
		}

		if _, _, err := s.Load(hold(1).Issue); !answer.Is(err, answer.Machine) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Load: %v", name, err)
		}

		if all, err := s.All(); !answer.Is(err, answer.Machine) || len(all) != 1 {
			t.Errorf("%s: All: %v, %v", name, all, err)
		}

		if err := s.Save(hold(1)); err != nil {
			t.Errorf("%s: Save: %v", name, err)
		}
	}
}
