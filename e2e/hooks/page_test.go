//go:build e2e

package hooks

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// snippet is the n-th block, from 1, below a heading of docs/hook.md: what readers copy is what is
// tested.
func snippet(t *testing.T, heading string, n int) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/hook.md")
	if err != nil {
		t.Fatal(err)
	}

	_, rest, found := strings.Cut(string(text), "# "+heading+"\n")
	if !found {
		t.Fatalf("docs/hook.md has no heading %q", heading)
	}

	if next := regexp.MustCompile(`(?m)^##`).FindStringIndex(rest); next != nil {
		rest = rest[:next[0]]
	}
	blocks := regexp.MustCompile("(?s)```[a-z]+\n(.*?)```").FindAllStringSubmatch(rest, -1)
	if len(blocks) < n {
		t.Fatalf("docs/hook.md, %s: %d blocks, want %d", heading, len(blocks), n)
	}

	return blocks[n-1][1]
}
