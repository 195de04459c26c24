package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// need ends the test when reason says that what is not to be had: it skips with the reason, or
// fails where LABEL_STATE_REQUIRE, a list with commas, says that this machine has it.
func need(t testing.TB, what string, reason error) {
	t.Helper()
	switch {
	case reason == nil:
	case required(os.Getenv("LABEL_STATE_REQUIRE"), what):
		t.Fatalf("needs %s, which LABEL_STATE_REQUIRE promises: %v", what, reason)
	default:
		t.Skipf("needs %s: %v", what, reason)
	}
}

func required(list, what string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(s string) bool { return strings.TrimSpace(s) == what })
}

// needDocker is need for a Docker daemon that answers.
func needDocker(t testing.TB) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", "info").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("docker info: %w: %s", err, lastLine(out))
	}
	need(t, "docker", err)
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		list string
		want bool
	}{
		{"", false},
		{"docker", true},
		{"redis,docker", true},
		{"redis, docker ,npm", true},
		{"docker-compose", false},
	} {
		if got := required(c.list, "docker"); got != c.want {
			t.Errorf("required(%q, docker) = %v, want %v", c.list, got, c.want)
		}
	}
}
