package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/setup"
)

// TestOwnHook: the hook runs this program by its path, which a push from another program need not
// have on its PATH; where PATH leads to the same file, as by a package's links, by the path there,
// which the next version keeps.
func TestOwnHook(t *testing.T) {
	for name, c := range map[string]struct {
		path string // what is on PATH: its folder, links to it, another one, or nothing
		self bool   // it is known where this program is
		want string
	}{
		"its folder":  {"self", true, "self/label-state"},
		"links":       {"links", true, "links/label-state"},
		"another one": {"other", true, "self/label-state"},
		"nothing":     {"none", true, "self/label-state"},
		"not known":   {"self", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			self := cli.Binary(filepath.Join(dir, "self"), "label-state")
			for _, folder := range []string{"self", "links", "other", "none"} {
				if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
					t.Fatal(err)
				}
			}

			for _, file := range []string{self, cli.Binary(filepath.Join(dir, "other"), "label-state")} {
				if err := os.WriteFile(file, nil, 0o755); err != nil {
					t.Fatal(err)
				}
			}

			if err := os.Symlink(self, cli.Binary(filepath.Join(dir, "links"), "label-state")); err != nil &&
				c.path == "links" {
				t.Skipf("needs a file system with symbolic links: %v", err)
			}

			t.Setenv("PATH", filepath.Join(dir, c.path))
			env := setup.Nothing(nil)
			if c.self {
				env.Executable = self
			}

			want := ""
			if c.want != "" {
				want = cli.Binary(dir, filepath.FromSlash(c.want))
			}

			if got := ownHook(cli.Terminal{Env: env}); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestInstallAgain: a hook that does not find its program is installed again where it is.
func TestInstallAgain(t *testing.T) {
	env := setup.Nothing(nil)
	env.Executable = "label-state"
	for global, want := range map[bool]string{false: "", true: " --global"} {
		s := hookfile.State{Version: 1, Global: global}
		if got := installAgain(cli.Terminal{Env: env}, s); got != "label-state hook install"+want {
			t.Errorf("global %t: %s", global, got)
		}
	}

	s := hookfile.State{Looks: "label-state-pre-push label-state"}
	env.Executable = filepath.Join("bin", "label-state")
	if got := installAgain(cli.Terminal{Env: env}, s); got != "add bin to PATH" {
		t.Errorf("of a program that is not on PATH: %s", got)
	}

	beside := filepath.Join("bin", "label-state-pre-push") // which an install would choose again
	want := "delete " + beside + ", or install this version in its place"
	if got := replaceProgram(cli.Terminal{Env: env}, hookfile.State{Version: 1}, beside); got != want {
		t.Errorf("of an older one beside it: %s", got)
	}
	if got := replaceProgram(cli.Terminal{Env: setup.Nothing(nil)}, hookfile.State{Version: 1}, beside); got != want {
		t.Errorf("of one that nobody knows how to install: %s", got)
	}
	for s.Version = range 2 {
		if got := installAgain(cli.Terminal{Env: setup.Nothing(nil)}, s); got != "put label-state on PATH (docs/install.md)" {
			t.Errorf("of a program that is nowhere, version %d: %s", s.Version, got)
		}
	}
}

// TestLefthookChanged: a configuration that lefthook lost after it was looked at is left alone, and
// a clone that is gone is an error.
func TestLefthookChanged(t *testing.T) {
	env := setup.OS()
	env.Dir = t.TempDir()
	err := extendLefthook(t.Context(), env.Dir, hookfile.Options{Git: env.Git()})
	if _, kept := errors.AsType[*KeptError](err); kept || err == nil {
		t.Errorf("outside of a clone: %v, want an error", err)
	}

	if _, err := env.Git().Ask(t.Context(), "init", "-q"); err != nil {
		t.Fatal(err)
	}

	err = extendLefthook(t.Context(), env.Dir, hookfile.Options{Git: env.Git()})
	if _, kept := errors.AsType[*KeptError](err); !kept {
		t.Errorf("%v, want that it is kept", err)
	}
}
