package smallfile_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/label-state/label-state/internal/smallfile"
)

// TestLongerThanItSays: the size that the system tells is not believed; files of /proc say 0.
func TestLongerThanItSays(t *testing.T) {
	var large smallfile.Large
	if data, err := smallfile.Read("/proc/self/status", 64); !errors.As(err, &large) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// TestSaid: an error names the file, and says the limit in the largest unit.
func TestSaid(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	if err := syscall.Mknod(socket, syscall.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}

	for path, want := range map[string]string{
		"/proc/self/status": "read /proc/self/status: it is larger than 64 bytes",
		"/proc/self/mem":    "read /proc/self/mem: input/output error",
		"/proc/none":        "lstat /proc/none: no such file or directory",
		socket:              "read " + socket + ": it is a socket, not a regular file",
	} {
		data, err := smallfile.Read(path, 64)
		if err == nil || err.Error() != want || data != nil {
			t.Errorf("%q, %v, want %s", data, err, want)
		}
	}

	if got := smallfile.Large(2 << 20).Error(); got != "it is larger than 2 MiB" {
		t.Error(got)
	}
}
