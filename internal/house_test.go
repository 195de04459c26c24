package internal

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHouse: the picture in docs/design.md shows every package, and marks as pure what layers_test.go holds to be.
func TestHouse(t *testing.T) {
	page, err := os.ReadFile("../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n## The house\n\n```\n")
	picture, _, _ := strings.Cut(rest, "```")
	shown := map[string]bool{} // folder → marked as pure
	for line := range strings.Lines(picture) {
		m := regexp.MustCompile(`^((?:cmd|internal)/\S+)(.*?)(  pure)?\n$`).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if _, twice := shown[m[1]]; twice {
			t.Errorf("the picture shows %s twice", m[1])
		}
		shown[m[1]] = m[3] != ""
		for _, below := range regexp.MustCompile(` (\w+)/`).FindAllStringSubmatch(m[2], -1) {
			shown[path.Join(m[1], below[1])] = false
		}
	}
	for _, s := range parseTree(t, "..") {
		if _, ok := shown[s.dir]; !ok && mayImport[s.dir] != nil {
			t.Errorf("%s is not in the picture", s.dir)
		}
		if marked := shown[s.dir]; marked != slices.Contains(pure, s.dir) {
			t.Errorf("%s is marked as pure: %v", s.dir, marked)
		}
	}
	for dir := range shown {
		if _, err := os.Stat("../" + dir); err != nil {
			t.Errorf("the picture shows %s: %v", dir, err)
		}
	}
}
