package ledger_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEvidence: every test and every scenario that docs/guarantees.md leans on exists.
func TestEvidence(t *testing.T) {
	page, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}

	_, rest, _ := strings.Cut(string(page), "\n## Evidence\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	tests := testNames(t)
	last, named := "", 0
	for _, m := range regexp.MustCompile("`(Test[A-Za-z0-9]*|Fuzz[A-Za-z0-9]*|…)(?:/([^`]+))?`").FindAllStringSubmatch(section, -1) {
		if m[1] != "…" {
			last = m[1]
		}
		named++
		if !tests[last] || m[2] != "" && !sceneOf(last, m[2]) {
			t.Errorf("docs/guarantees.md leans on %s, which does not exist", m[0])
		}
	}

	if named < 100 {
		t.Errorf("docs/guarantees.md names %d tests", named)
	}
}

func sceneOf(test, name string) bool {
	var known bool
	switch test {
	case "TestInterleavings":
		_, known = scenarios()[name]
	case "TestInterleavingsOfRefs":
		_, known = strictScenes()[name]
	case "TestWhatDoesNotHold":
		_, known = refutations()[name]
	}

	return known
}

// testNames are the tests of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return names
}
