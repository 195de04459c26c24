//go:build unix

package smallfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
)

const limit = 1 << 10

// TestWhatIsRead: regular files up to the limit, and nothing else; a link only where the user named
// it.
func TestWhatIsRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	must(os.WriteFile(at("plain"), []byte("text"), 0o600))
	must(os.WriteFile(at("full"), make1k(), 0o600))
	must(os.WriteFile(at("large"), append(make1k(), 'x'), 0o600))
	huge, err := os.Create(at("huge"))
	must(err)
	must(errors.Join(huge.Truncate(10<<30), huge.Close()))
	must(os.Mkdir(at("folder"), 0o700))
	must(syscall.Mkfifo(at("pipe"), 0o600))

	for link, to := range map[string]string{
		"link": "plain", "zero": "/dev/zero", "tty": "/dev/tty", "endless": "pipe",
		"loop": "loop", "nowhere": "gone",
	} {
		must(os.Symlink(to, at(link)))
	}

	for _, c := range []struct {
		name         string
		read, follow string // what comes of it
	}{
		{"plain", "text", "text"},
		{"full", string(make1k()), string(make1k())},
		{"large", "it is larger than 1 KiB", "it is larger than 1 KiB"},
		{"huge", "it is larger than 1 KiB", "it is larger than 1 KiB"},
		{"folder", "it is a folder, not a regular file", "it is a folder, not a regular file"},
		{"pipe", "it is a pipe, not a regular file", "it is a pipe, not a regular file"},
		{"link", "it is a symbolic link, not a regular file", "text"},
		{"zero", "it is a symbolic link, not a regular file", "it is a device, not a regular file"},
		{"tty", "it is a symbolic link, not a regular file", "it is a device, not a regular file"},
		{"endless", "it is a symbolic link, not a regular file", "it is a pipe, not a regular file"},
		{"loop", "it is a symbolic link, not a regular file", "too many levels of symbolic links"},
		{"nowhere", "it is a symbolic link, not a regular file", "no such file or directory"},
		{"absent", "no such file or directory", "no such file or directory"},
	} {
		for _, verb := range []struct {
			name string
			do   func(string, int64) ([]byte, error)
			want string
		}{{"Read", smallfile.Read, c.read}, {"Follow", smallfile.Follow, c.follow}} {
			data, err := verb.do(at(c.name), limit)
			got := string(data)
			if err != nil {
				got = printable.Cause(err).Error()
				if !strings.Contains(err.Error(), at(c.name)) {
					t.Errorf("%s %s: %v", verb.name, c.name, err)
				}
			}

			if got != verb.want {
				t.Errorf("%s %s: %.80q, want %.80q", verb.name, c.name, got, verb.want)
			}
		}
	}

	if _, err := smallfile.Read(at("absent"), limit); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func make1k() []byte { return make([]byte, limit) }
