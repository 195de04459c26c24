//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestDemoInDocker plays the demo with the Action in its container.
func TestDemoInDocker(t *testing.T) {
	needDocker(t)
	name, err := image()
	if err != nil {
		t.Fatal(err)
	}

	kept := t.TempDir()
	play := exec.CommandContext(t.Context(), "go", "run", "./cmd/label-state", "demo", "--docker", "--image", name,
		"--keep", kept)
	play.Dir = ".."
	out, err := play.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	if list, err := os.ReadDir(kept); err != nil || len(list) == 0 {
		t.Errorf("--keep kept nothing: %v", err)
	}

	for _, want := range []string{"action$ docker run " + name, "All of it happened"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the demo does not print %q:\n%s", want, out)
		}
	}
}
