//go:build unix

package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/printable"
)

// TestSwapped: what is put in the place of a file between the look and the opening is neither
// waited for nor read.
func TestSwapped(t *testing.T) {
	for name, put := range map[string]func(string) error{
		"it is a pipe, not a regular file":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"it is a folder, not a regular file": func(path string) error { return os.Mkdir(path, 0o700) },
		"no such file or directory":          func(string) error { return nil },
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}

		look := func(path string) (fs.FileInfo, error) {
			info, err := os.Lstat(path)
			return info, errors.Join(err, os.Remove(path), put(path))
		}

		done := make(chan error, 1)
		go func() {
			_, err := read(path, 1<<10, look)
			done <- err
		}()

		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), path) || printable.Cause(err).Error() != name {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it is waited for", name)
		}
	}
}
