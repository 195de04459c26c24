package closing_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// A vector is one case of the files in testdata.
type vector struct {
	name, want, text string
	home             claim.Repo
	host             string
}

type surface func(text string, home claim.Repo, host string) []claim.Issue

func TestVectors(t *testing.T) {
	commits, descriptions := rows(t, "commit.txt"), rows(t, "description.txt")
	descriptions = append(descriptions, files(t, "description.txtar")...)
	if total := len(commits) + len(descriptions); total < 200 {
		t.Fatalf("read %d cases, want at least 200", total)
	}

	t.Run("commit", func(t *testing.T) { check(t, commits, closing.InCommit) })
	t.Run("description", func(t *testing.T) { check(t, descriptions, closing.InDescription) })
}

func check(t *testing.T, vectors []vector, read surface) {
	for _, v := range vectors {
		refs := read(v.text, v.home, v.host)
		if got := wanted(refs); got != v.want {
			t.Errorf("%s: %q closes %s, want %s", v.name, v.text, got, v.want)
		}
		coherent(t, v.text, refs)
	}
}

// wanted writes issues as the files do.
func wanted(refs []claim.Issue) string {
	if len(refs) == 0 {
		return "-"
	}
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.String()
	}

	return strings.Join(names, " ")
}

func rows(t testing.TB, file string) []vector {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}

	var vectors []vector
	var now vector
	for i, line := range strings.Split(string(content), "\n") {
		now.name = file + ":" + strconv.Itoa(i+1)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "@"):
			now.set(t, line)
		default:
			vectors = append(vectors, now.row(t, line))
		}
	}

	return vectors
}

func (v *vector) set(t testing.TB, directive string) {
	t.Helper()
	name, value, _ := strings.Cut(directive, " ")
	switch name {
	case "@home":
		v.home.Owner, v.home.Name, _ = strings.Cut(value, "/")
	case "@host":
		v.host = value
	default:
		t.Fatalf("%s: unknown directive %q", v.name, name)
	}
}

func (v vector) row(t testing.TB, line string) vector {
	t.Helper()
	want, text, ok := strings.Cut(line, " | ")
	if !ok {
		t.Fatalf("%s: want WANTED | TEXT", v.name)
	}

	if strings.HasPrefix(text, `"`) {
		var err error
		if text, err = strconv.Unquote(text); err != nil {
			t.Fatalf("%s: read quoted text: %v", v.name, err)
		}
	}

	v.want, v.text = want, text
	return v
}

func files(t testing.TB, file string) []vector {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}

	vectors := make([]vector, len(archive.Files))
	for i, f := range archive.Files {
		want, why, ok := strings.Cut(f.Name, ": ")
		if !ok {
			t.Fatalf("%s: file %q: want WANTED: WHY", file, f.Name)
		}

		vectors[i] = vector{
			name: why,
			want: want,
			text: string(f.Data),
			home: claim.Repo{Owner: "acme", Name: "app"},
			host: "github.com",
		}
	}

	return vectors
}
