//go:build unix

package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/setup"
)

// TestStrangersFiles: what a checkout may have in the place of the configuration costs no time and
// no memory, and decides nothing.
func TestStrangersFiles(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"huge": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600),
				os.Truncate(path, 10<<30))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
			m.git("init", "-q")
			m.git("remote", "add", "origin", "https://github.com/acme/app")
			m.files["api.github.com acme/app"] = "on_reopen: requeue"
			m.write(".github/x", "")
			if err := make(filepath.Join(m.dir, config.Path)); err != nil {
				t.Fatal(err)
			}

			if got := lookup(t, m, setup.Options{}); got != "requeue from acme/app:.github/label-state.yml" {
				t.Error(got)
			}

			if said := m.stderr.String(); !strings.Contains(said,
				"note: .github/label-state.yml: cannot be read: it is ") {
				t.Errorf("said %q", said)
			}

			named := lookup(t, m, setup.Options{Config: config.Path})
			if !strings.HasPrefix(named, "error: .github/label-state.yml: cannot be read: it is ") {
				t.Errorf("named: %s", named)
			}
		})
	}
}
