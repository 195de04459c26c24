package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/label-state/label-state/internal/cli"
)

// TestCompiledHook: a hook beside label-state is named by its path, also when it is on PATH, which a push from another program need not have.
func TestCompiledHook(t *testing.T) {
	for name, c := range map[string]struct {
		beside []string
		onPath bool // the folder is on PATH
		link   bool // links to the programs are on PATH, and not their folder
		want   string
	}{
		"a release's names on PATH": {[]string{"label-state-pre-push"}, true, false, "label-state-pre-push"},
		"a release's names":         {[]string{"label-state-pre-push"}, false, false, "label-state-pre-push"},
		"go install's names":        {[]string{"pre-push"}, true, false, "pre-push"},
		"both":                      {[]string{"pre-push", "label-state-pre-push"}, true, false, "label-state-pre-push"},
		"a package's links":         {[]string{"label-state-pre-push"}, false, true, "links/label-state-pre-push"},
		"none":                      {nil, true, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			links := filepath.Join(dir, "links")
			if err := os.Mkdir(links, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, file := range c.beside {
				file = cli.Binary(dir, file)
				if err := os.WriteFile(file, nil, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(file, filepath.Join(links, filepath.Base(file))); err != nil && c.link {
					t.Skipf("needs a file system with symbolic links: %v", err)
				}
			}
			path := t.TempDir()
			switch {
			case c.onPath:
				path = dir
			case c.link:
				path = links
			}
			t.Setenv("PATH", path)
			want := c.want
			if want != "" {
				want = cli.Binary(dir, filepath.FromSlash(want))
			}
			if got := hookBeside(filepath.Join(dir, "label-state")); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
