package labelstate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPagesAreLinked: every page of docs is in docs/README.md, and no page links to a file that is not there.
func TestPagesAreLinked(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	index := readPage(t, "docs/README.md")
	for _, page := range append(pages, "README.md") {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "("+name) {
			t.Errorf("docs/README.md does not link to %s", name)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`).FindAllStringSubmatch(readPage(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
