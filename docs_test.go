package labelstate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestPagesAreLinked: every page of docs is in docs/README.md, and no page links to a file that is
// not there.
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

		for _, m := range regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`).FindAllStringSubmatch(readPage(t,
			page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// TestCitations: what comments name as the source of a rule is a section of a page of docs, and so
// is what the pages link to.
func TestCitations(t *testing.T) {
	cited := regexp.MustCompile(`\b([a-z-]+\.md)#([a-z0-9-]+)`)
	seen := 0
	for _, name := range append(files(t, ".go"), append(files(t, ".js"), files(t, ".txt")...)...) {
		for _, m := range cited.FindAllStringSubmatch(readPage(t, name), -1) {
			seen++
			if !sections(t, "docs/"+m[1])[m[2]] {
				t.Errorf("%s cites %q, which is no section", name, m[0])
			}
		}
	}

	if seen < 100 {
		t.Errorf("%d citations found, want the hundred and more that there are", seen)
	}
}

// TestSections: no page links to a section that is not there.
func TestSections(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}

	for _, page := range pages {
		for _, m := range regexp.MustCompile(`\]\(([a-z-]+\.md)?#([^)]+)\)`).FindAllStringSubmatch(readPage(t,
			page), -1) {
			to := page
			if m[1] != "" {
				to = "docs/" + m[1]
			}

			if !sections(t, to)[m[2]] {
				t.Errorf("%s links to %s, which is no section of %s", page, m[2], to)
			}
		}
	}
}

// sections are the names by which the headings of a page are linked to.
func sections(t *testing.T, page string) map[string]bool {
	t.Helper()
	if _, err := os.Stat(page); err != nil {
		return nil
	}

	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#{1,6} (.+)$`).FindAllStringSubmatch(readPage(t, page), -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out[strings.ReplaceAll(name, " ", "-")] = true
	}

	return out
}

// TestContractTables: the contract has every field and every reason once, and they are the
// program's.
func TestContractTables(t *testing.T) {
	page := readPage(t, "docs/spec.md")
	record := "<!-- agent-claim:codename=a firing_id=1"
	fields := codes(t, page, "### Fields", 1)
	for _, name := range fields {
		if name != "codename" && name != "firing_id" {
			record += " " + name + "=1"
		}
	}

	r, ok, err := claim.Decode(record + " -->")
	if err != nil || !ok || len(r.Extra) != 1 || r.Extra[0].Key != "gate" {
		t.Errorf("of the fields %q the program does not know %v (want gate), %v", fields, r.Extra, err)
	}

	for _, m := range regexp.MustCompile(`(?m)^\tcase "([a-z_]+)":$`).FindAllStringSubmatch(readPage(t,
		"internal/claim/record.go"), -1) {
		older := m[1] == "pr_url" || m[1] == "swept_by"
		if !slices.Contains(fields, m[1]) && !older {
			t.Errorf("field %s is not in the table", m[1])
		}
	}

	grammar := regexp.MustCompile(`(?m)^kind +=(.*)$`).FindString(page)
	_, table, _ := strings.Cut(page, "| record | counts if | effect |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, k := range claim.Kinds() {
		if !strings.Contains(grammar, `"`+string(k)+`"`) {
			t.Errorf("kind %s is not in the grammar", k)
		}
		if k != claim.KindClaim && !strings.Contains(table, "\n| "+string(k)+" | ") {
			t.Errorf("kind %s is not in the table of the fold", k)
		}
	}

	reasons := codes(t, page, "## The verdict", 2)
	for _, m := range lifecycle.Meanings() {
		other := m.Where == lifecycle.AmongNotes || m.Where == lifecycle.ToContributors
		if slices.Contains(reasons, string(m.Code)) == other {
			t.Errorf("reason %s: the table has %q", m.Code, reasons)
		}
	}
}

// TestTablesSayThingsOnce: no table of a page has two rows for one thing.
func TestTablesSayThingsOnce(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}

	rows := 0
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md") {
		var keys []string // of the table that the line is in
		for line := range strings.Lines(readPage(t, page)) {
			if !strings.HasPrefix(line, "|") {
				keys = nil
				continue
			}

			key := strings.TrimSpace(strings.Split(line, "|")[1])
			rows++
			if regexp.MustCompile("^(?:`[^`]+`(?:, )?)+$").MatchString(key) && slices.Contains(keys, key) {
				t.Errorf("%s: %s has two rows in one table", page, key)
			}

			keys = append(keys, key)
		}
	}

	if rows < 200 {
		t.Errorf("only %d rows of tables", rows)
	}
}

// TestSecurityIsShown: every line of what somebody can and cannot do, and of every attack, names a
// test, and each test that the page names is there.
func TestSecurityIsShown(t *testing.T) {
	tests := map[string]bool{}
	for _, name := range files(t, ".go") {
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(readPage(t,
			name), -1) {
			tests[m[1]] = true
		}
	}

	page := readPage(t, "docs/security.md")
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)(?:/[\\w-]+)?`")
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		if !tests[m[1]] {
			t.Errorf("docs/security.md leans on %s, which does not exist", m[1])
		}
	}

	shown, column := 0, -1 // of the table that the line is in
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			column = -1
		case column < 0:
			column = max(slices.Index(cells, " shown by "), 0)
		case column == 0 || strings.HasPrefix(line, "|-"):
		case !named.MatchString(cells[column]):
			t.Errorf("docs/security.md: no test shows%s", cells[1])
		default:
			shown++
		}
	}

	if shown < 35 {
		t.Errorf("docs/security.md: only %d lines name a test", shown)
	}
}

// TestIncidentsArePlayed: docs/incidents.md has at least 20 reports, and the script that the line of
// a report links to names it.
func TestIncidentsArePlayed(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| \[([\w.-]+/[\w.-]+#\d+)\]\(https://github\.com/.*\]\(\.\./([^)]+\.txtar)\)`)
	page := readPage(t, "docs/incidents.md")
	rows := row.FindAllStringSubmatch(page, -1)
	if all := strings.Count(page, "\n| ["); len(rows) < 20 || len(rows) != all {
		t.Errorf("%d of %d reports have a script, want all, and 20 at least", len(rows), all)
	}

	for _, m := range rows {
		if !regexp.MustCompile(regexp.QuoteMeta(m[1]) + `\b`).MatchString(readPage(t, m[2])) {
			t.Errorf("%s does not name %s", m[2], m[1])
		}
	}
}

// TestEdgesArePlayed: the cases that a row of docs/guarantees.md, Edges, names are in the file before them.
func TestEdgesArePlayed(t *testing.T) {
	_, table, _ := strings.Cut(readPage(t, "docs/guarantees.md"), "\n## Edges\n")
	table, _, _ = strings.Cut(table, "\n## ")
	shown := regexp.MustCompile(`\]\(\.\./([^)]+)\)|\*([^*]+)\*`).FindAllStringSubmatch(table[strings.Index(table, "|---"):], -1)
	text := ""
	for _, m := range shown {
		if m[1] != "" {
			text = readPage(t, m[1])
		} else if !strings.Contains(text, m[2]) {
			t.Errorf("docs/guarantees.md names %q, which is not there", m[2])
		}
	}
	if len(shown) < 50 {
		t.Errorf("only %d names", len(shown))
	}
}

// TestNamedFilesAreThere: a file or folder that the pages for contributors name is there.
func TestNamedFilesAreThere(t *testing.T) {
	seen := 0
	for _, page := range []string{"CONTRIBUTING.md", "AGENTS.md"} {
		for _, m := range regexp.MustCompile("`((?:[a-z_.-]+/)+[a-z_.-]*|[a-z_]+\\.(?:go|md|yml))`").FindAllStringSubmatch(readPage(t, page), -1) {
			seen++
			_, err := os.Stat(m[1])
			found := err == nil || strings.HasPrefix(m[1], "testing/") ||
				slices.ContainsFunc(files(t, ".go"), func(name string) bool { return filepath.Base(name) == m[1] })
			if !found {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}

	if seen < 20 {
		t.Errorf("only %d names", seen)
	}
}

// codes are the names in a column of the first table of a section. None stands there twice, but for
// a code that has two lines.
func codes(t *testing.T, page, section string, column int) []string {
	t.Helper()
	_, rest, _ := strings.Cut(page, "\n"+section+"\n")
	_, rest, _ = strings.Cut(rest, "\n|")
	table, _, _ := strings.Cut(rest, "\n\n")
	var out []string
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.TrimPrefix(row, "|"), "|")
		if len(cells) < column {
			t.Fatalf("%s: row %q", section, row)
		}

		for _, m := range regexp.MustCompile("`([a-z_-]+)`").FindAllStringSubmatch(cells[column-1], -1) {
			if slices.Contains(out, m[1]) && m[1] != "unread" {
				t.Errorf("%s: %s stands there twice", section, m[1])
			}
			out = append(out, m[1])
		}
	}

	if len(out) < 15 {
		t.Fatalf("%s: only %q", section, out)
	}

	return out
}

// files are those of the repository whose names have the ending.
func files(t *testing.T, ending string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ending) {
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
