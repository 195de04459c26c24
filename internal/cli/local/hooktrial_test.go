package local

import (
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
	if got := installAgain(cli.Terminal{Env: setup.Nothing(nil)}, s); got != "put label-state on PATH (docs/install.md)" {
		t.Errorf("of a program that is nowhere: %s", got)
	}
}
