// Package programs gives tests the programs of cmd/. It is of tests only.
package programs

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const source = "github.com/label-state/label-state/cmd/"

// Copy makes the program of cmd/NAME, with those flags of "go build", and copies it to a file. It
// asks "go run", which keeps what it has linked in the build cache, so that the linker runs only
// for a program that has changed. It is for use within a test, whose result then counts only until
// a source of the module changes.
func Copy(name, to string, flags ...string) error {
	if err := depend(); err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}

	args := slices.Concat([]string{"run", "-exec", "cp"}, flags, []string{source + name, to})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("make %s: %w\n%s", name, err, out)
	}

	return nil
}

// depend has the result of the test that calls it count only until a source of the module changes:
// Go keeps the result of a test while nothing has changed that the test imports or opens, and does
// not see what a program was made of that the test starts. Before a test runs, as in TestMain, it
// is of no use: what is opened there is not counted.
func depend() error {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}

	root := filepath.Dir(strings.TrimSpace(string(mod)))
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "docs"):
			return fs.SkipDir
		}

		folder, err := os.Open(path)
		if err != nil {
			return err
		}

		return folder.Close()
	})
}
