package e2e

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const actionPage = "../docs/action.md"

// section is what stands in a page between a comment with the name and the next blank line, or the
// end of its code block.
func section(t *testing.T, page, name string) string {
	t.Helper()
	_, after, found := strings.Cut(readText(t, page), "<!-- "+name+" -->\n")
	if !found {
		t.Fatalf("%s has no section %q", page, name)
	}

	if block, isBlock := strings.CutPrefix(after, "```yaml\n"); isBlock {
		text, _, _ := strings.Cut(block, "```\n")
		return text
	}

	text, _, _ := strings.Cut(after, "\n\n")
	return text + "\n"
}

// TestSnippetsAreTheExamples: what a page shows is a file that the tests run.
func TestSnippetsAreTheExamples(t *testing.T) {
	page := readText(t, actionPage)
	for _, path := range workflows(t) {
		name, isExample := strings.CutPrefix(path, "../examples/")
		if !isExample {
			continue
		}

		switch shown := strings.Contains(page, "<!-- examples/"+name+" -->"); {
		case shown && section(t, actionPage, "examples/"+name) != readText(t, path):
			t.Errorf("docs/action.md shows another %s than the file", name)
		case !strings.Contains(page, "../examples/"+name):
			t.Errorf("docs/action.md does not lead to %s", name)
		}
	}

	if n := strings.Count(page, "```yaml\n") - strings.Count(page, "-->\n```yaml\n"); n != 0 {
		t.Errorf("docs/action.md has %d yaml snippets that no file stands behind", n)
	}
}

// TestPermissionsHaveReasons: the page gives a reason for each permission that an example asks for,
// and for no other.
func TestPermissionsHaveReasons(t *testing.T) {
	asked := map[string]bool{}
	for _, path := range workflows(t) {
		if !strings.HasPrefix(path, "../examples/") {
			continue
		}

		for _, job := range readWorkflow(t, path).Jobs {
			for scope, level := range job.Permissions {
				if level == "write" || scope == "contents" {
					asked[scope+": "+level] = true
				}
			}
		}
	}

	var reasons []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+: [a-z]+)` \\|").FindAllStringSubmatch(section(t,
		actionPage, "permissions"), -1) {
		reasons = append(reasons, row[1])
	}

	slices.Sort(reasons)
	if want := slices.Sorted(maps.Keys(asked)); !slices.Equal(reasons, want) {
		t.Errorf("docs/action.md gives reasons for %q, the examples ask for %q", reasons, want)
	}
}

// TestPagesNameRealTests: a test, a target or a script that a page leans on exists.
func TestPagesNameRealTests(t *testing.T) {
	tests := testNames(t)
	makefile := readText(t, "../Makefile")
	for _, page := range []string{actionPage, "../docs/security.md", "../SECURITY.md"} {
		text := readText(t, page)
		for _, name := range regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)`").FindAllStringSubmatch(text, -1) {
			if !tests[name[1]] {
				t.Errorf("%s leans on %s, which does not exist", page, name[1])
			}
		}

		for _, name := range regexp.MustCompile("`make ([a-z0-9]+)`").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+name[1]+":") {
				t.Errorf("%s names make %s, which does not exist", page, name[1])
			}
		}

		for _, name := range regexp.MustCompile("`(tools/[a-z-]+)").FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat("../" + name[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}

		checkLinks(t, page, text)
	}
}

// checkLinks wants every relative link of a page to lead somewhere, to a heading where it names
// one.
func checkLinks(t *testing.T, page, text string) {
	t.Helper()
	for _, found := range regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`).FindAllStringSubmatch(text, -1) {
		target := page
		if found[1] != "" {
			target = filepath.Join(filepath.Dir(page), found[1])
		}

		if _, err := os.Stat(target); err != nil {
			t.Errorf("%s: %v", page, err)
			continue
		}

		if found[2] != "" && !slices.Contains(anchors(readText(t, target)), found[2]) {
			t.Errorf("%s leads to %s, which has no heading %q", page, target, found[2])
		}
	}
}

// anchors are the names that GitHub gives the headings of a page.
func anchors(text string) []string {
	var out []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}

// testNames are the tests and fuzz tests of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}

		for _, name := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(readText(t,
			path), -1) {
			names[name[1]] = true
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return names
}
