package contract

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// npmFile reads a file of a package that npm ci installs. Without it the test skips, or fails where LABEL_STATE_REQUIRE,
// a list with commas, says that npm has been here.
func npmFile(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("node_modules", filepath.FromSlash(name)))
	switch {
	case err == nil:
		return text
	case required(os.Getenv("LABEL_STATE_REQUIRE"), "npm"):
		t.Fatalf("needs npm, which LABEL_STATE_REQUIRE promises: %v", err)
	default:
		t.Skipf("needs npm ci in contract: %v", err)
	}
	return nil
}

func required(list, what string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(s string) bool { return strings.TrimSpace(s) == what })
}

// TestRequired: a word of the list, not a part of one.
func TestRequired(t *testing.T) {
	for list, want := range map[string]bool{"": false, "npm": true, "docker, npm": true, "npmx": false} {
		if got := required(list, "npm"); got != want {
			t.Errorf("required(%q, npm) = %v, want %v", list, got, want)
		}
	}
}
