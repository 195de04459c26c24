//go:build e2e

package hooks

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// need ends the test when reason says that a tool is not to be had: it skips with the reason, or
// fails where LABEL_STATE_REQUIRE, a list with commas, promises the hook managers.
func need(t *testing.T, reason error) {
	t.Helper()
	switch {
	case reason == nil:
	case slices.Contains(strings.Split(os.Getenv("LABEL_STATE_REQUIRE"), ","), "hooks"):
		t.Fatalf("LABEL_STATE_REQUIRE promises hooks: %v", reason)
	default:
		t.Skip(reason)
	}
}

// needProgram is need for a program on PATH that answers.
func needProgram(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %.200s", name, strings.Join(args, " "), err, out)
	}

	need(t, err)
	return strings.TrimSpace(string(out))
}
