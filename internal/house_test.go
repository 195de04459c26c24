package internal

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHouse: the map in docs/design.md shows every package, and marks as pure what layers_test.go
// holds to be.
func TestHouse(t *testing.T) {
	page, err := os.ReadFile("../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}

	_, rest, _ := strings.Cut(string(page), "\n## The packages\n\n```\n")
	shownMap, _, _ := strings.Cut(rest, "```")
	shown := map[string]bool{} // folder → marked as pure
	for line := range strings.Lines(shownMap) {
		m := regexp.MustCompile(`^((?:cmd|internal|lease|examples)/\S+|answer|work)(.*?)(  pure)?\n$`).FindStringSubmatch(line)
		if m == nil {
			continue
		}

		if _, twice := shown[m[1]]; twice {
			t.Errorf("the map shows %s twice", m[1])
		}
		shown[m[1]] = m[3] != ""

		for _, below := range regexp.MustCompile(` (\w+)/`).FindAllStringSubmatch(m[2], -1) {
			shown[path.Join(m[1], below[1])] = false
		}
	}

	for _, s := range parseTree(t, "..") {
		if _, ok := shown[s.dir]; !ok && mayImport[s.dir] != nil {
			t.Errorf("%s is not on the map", s.dir)
		}
		if marked := shown[s.dir]; marked != slices.Contains(pure, s.dir) {
			t.Errorf("%s is marked as pure: %v", s.dir, marked)
		}
	}

	for dir := range shown {
		if _, err := os.Stat("../" + dir); err != nil {
			t.Errorf("the map shows %s: %v", dir, err)
		}
	}
}

// TestWalks: every file that a walk of docs/design.md, or its table of rules, names exists, and has the functions that are
// named in the brackets after it. A name without a folder is in the folder of the path before it in its row.
func TestWalks(t *testing.T) {
	page, err := os.ReadFile("../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}

	_, walks, _ := strings.Cut(string(page), "\n## Three walks\n")
	walks, _, _ = strings.Cut(walks, "\n## The packages\n") // with "Where a rule is"
	named := regexp.MustCompile("`([a-z0-9_./*-]+)`(?: \\(([^)]*)\\))?")
	function := regexp.MustCompile("`([A-Za-z]+)`")
	files, functions := 0, 0
	for row := range strings.Lines(walks) {
		folder := ""
		for _, found := range named.FindAllStringSubmatch(row, -1) {
			name := found[1]
			switch {
			case strings.Contains(name, "/") && strings.Contains(path.Base(name), "."):
				folder = path.Dir(name)
			case strings.HasSuffix(name, ".go"):
				name = path.Join(folder, name)
			case !strings.Contains(name, "/") || strings.HasPrefix(name, "/"):
				continue // a function, a mode, a setting, a command
			}

			files++
			there, err := filepath.Glob(path.Join("..", name))
			if err != nil || len(there) == 0 {
				t.Errorf("%s: there is no %s", strings.TrimSpace(row), name)
				continue
			}

			for _, f := range function.FindAllStringSubmatch(found[2], -1) {
				functions++
				text, err := os.ReadFile(there[0])
				if err != nil || !regexp.MustCompile(`\b`+f[1]+`\b`).Match(text) {
					t.Errorf("%s: %s has no %s", strings.TrimSpace(row), name, f[1])
				}
			}
		}
	}

	if files < 100 || functions < 80 {
		t.Errorf("%d files and %d functions are named in the walks and the table, want them all", files, functions)
	}
}
