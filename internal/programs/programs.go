// Package programs gives tests the programs of cmd/. It is of tests only.
package programs

import (
	"fmt"
	"os/exec"
	"slices"
)

const source = "github.com/label-state/label-state/cmd/"

// Copy makes the program of cmd/NAME, with those flags of "go build", and copies it to a file. It
// asks "go run", which keeps what it has linked in the build cache, so that the linker runs only
// for a program that has changed.
func Copy(name, to string, flags ...string) error {
	args := slices.Concat([]string{"run", "-exec", "cp"}, flags, []string{source + name, to})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("make %s: %w\n%s", name, err, out)
	}
	return nil
}
