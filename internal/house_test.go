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

// TestWalks holds the files and functions that docs/design.md names against the tree: each
// file is there, and each function is in one of the files of its row.
func TestWalks(t *testing.T) {
	page, err := os.ReadFile("../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}

	_, walks, _ := strings.Cut(string(page), "\n## Three walks\n")
	walks, _, _ = strings.Cut(walks, "\n## The packages\n") // with "Where a rule is"
	quoted := regexp.MustCompile("`([^`]+)`")
	files, functions := 0, 0
	for row := range strings.Lines(walks) {
		cells := strings.Split(strings.TrimSpace(row), "|")
		folder, texts := "", ""
		for _, found := range quoted.FindAllStringSubmatch(row, -1) {
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
			}

			for _, file := range there {
				text, _ := os.ReadFile(file) // none of a folder
				texts += string(text)
			}
		}

		if len(cells) != 5 { // a row of a walk, or text
			continue
		}

		for _, f := range quoted.FindAllStringSubmatch(cells[3], -1) {
			functions++
			if !regexp.MustCompile(`(?m)^(\t|(func|var|const|type) )(\([^)]*\) )?` + f[1] + `\b`).MatchString(texts) {
				t.Errorf("%s: no %s is declared there", strings.TrimSpace(row), f[1])
			}
		}
	}

	if files < 180 || functions < 170 {
		t.Errorf("%d files and %d functions are named in the walks and the table, want them all", files, functions)
	}
}
