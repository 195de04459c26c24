package labelstate_test

import (
	"io/fs"
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

// TestCitations: what comments name as the source of a rule is in docs/rules.md.
func TestCitations(t *testing.T) {
	page := readPage(t, "docs/rules.md")
	wrapped := regexp.MustCompile(`\n\s*// `)
	kinds := map[string]*regexp.Regexp{
		"PRODUCT":   regexp.MustCompile(`\bPRODUCT ruling (\d+)`),
		"PROTOCOL":  regexp.MustCompile(`\bPROTOCOL sections? (\d+)`),
		"The study": regexp.MustCompile(`\bstudy (?:K\d+, )?(?:trace )?([A-Z]\d\w*)`),
	}
	seen := 0
	for _, name := range goFiles(t) {
		text := wrapped.ReplaceAllString(readPage(t, name), " ")
		for kind, cited := range kinds {
			_, rows, _ := strings.Cut(page, "\n## "+kind+"\n")
			rows, _, _ = strings.Cut(rows, "\n## ")
			for _, m := range cited.FindAllStringSubmatch(text, -1) {
				seen++
				if !strings.Contains(rows, "\n| "+m[1]+" |") {
					t.Errorf("%s cites %q, which docs/rules.md does not have", name, m[0])
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d citations found, want the hundred and more that there are", seen)
	}
}

// goFiles are the module's.
func goFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".go") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
