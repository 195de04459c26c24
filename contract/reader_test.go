package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReader: the second implementation of docs/spec.md and docs/spec-writing.md, in reader, gives the result of every vector.
func TestReader(t *testing.T) {
	out, err := node(t, "reader/run.js", "-v").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	counts := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\S+): (\d+)/(\d+)$`).FindAllStringSubmatch(string(out), -1) {
		counts[m[1]] = m[2:]
	}
	for _, file := range vectorFiles(t) {
		if n := counts[file]; len(n) == 0 || n[0] != n[1] || n[0] == "0" {
			t.Errorf("%s: passed and total are %q, want all of them", file, n)
		}
	}
}

// TestReaderFails: a vector with another result is found.
func TestReaderFails(t *testing.T) {
	root := t.TempDir()
	for _, file := range vectorFiles(t) {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "moves.txt") {
			text = append(text, "\nnone done legal\n"...)
		}
		to := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := node(t, "reader/run.js", "--root", root).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "moves.txt: 36/37") {
		t.Errorf("%v\n%s", err, out)
	}
}

// vectorFiles are those of docs/spec.md that the reader reads: who counts (trust.txt) is given to it.
func vectorFiles(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../docs/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, m := range regexp.MustCompile("(?m)^\\| \\[`(internal/[^`]+)`\\]").FindAllStringSubmatch(string(page), -1) {
		name := m[1]
		if strings.HasSuffix(name, "/trust.txt") {
			continue
		}
		if !strings.HasSuffix(name, "/") {
			files = append(files, name)
			continue
		}
		inside, err := os.ReadDir(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range inside {
			if !f.IsDir() {
				files = append(files, name+f.Name())
			}
		}
	}
	if len(files) < 9 {
		t.Fatalf("vector files %q, want the nine that docs/spec.md lists, and more", files)
	}
	return files
}

// node prepares a run of node. Without it the test skips, or fails where LABEL_STATE_REQUIRE lists npm, which comes with it.
func node(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("node")
	switch {
	case err == nil:
		return exec.CommandContext(t.Context(), path, args...)
	case required(os.Getenv("LABEL_STATE_REQUIRE"), "npm"):
		t.Fatalf("needs node, which LABEL_STATE_REQUIRE promises with npm: %v", err)
	default:
		t.Skipf("needs node: %v", err)
	}
	return nil
}
