package closing_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// TestInMerge plays testdata/merge.txtar.
func TestInMerge(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "merge.txtar"))
	if err != nil {
		t.Fatal(err)
	}

	for _, f := range archive.Files {
		want, why, _ := strings.Cut(f.Name, ": ")
		refs, more := closing.InMerge(readMerge(t, string(f.Data)), claim.Repo{Owner: "acme", Name: "app"},
			"github.com")
		if got := wanted(refs); got != want || more {
			t.Errorf("%s: closes %s (more: %v), want %s", why, got, more, want)
		}
	}
}

// TestInMergeIsBounded: what may be closed is cut at the limit, over all messages together, and
// that is said.
func TestInMergeIsBounded(t *testing.T) {
	m := closing.Merge{Methods: closing.Methods{Rebase: true}}
	for n := range closing.Limit {
		m.Commits = append(m.Commits, fmt.Sprintf("Closes #%d", n+1))
	}

	if refs, more := closing.InMerge(m, claim.Repo{Owner: "acme", Name: "app"},
		""); len(refs) != closing.Limit || more {
		t.Errorf("%d, more: %v", len(refs), more)
	}

	beyond := append(m.Commits, "Closes #100000")
	for _, commits := range [][]string{beyond, {strings.Join(beyond, "\n"), "Nothing"}} {
		m.Commits = commits
		if refs, more := closing.InMerge(m, claim.Repo{Owner: "acme", Name: "app"},
			""); len(refs) != closing.Limit || !more {
			t.Errorf("in %d messages: %d, more: %v", len(commits), len(refs), more)
		}
	}
}

func readMerge(t *testing.T, text string) (m closing.Merge) {
	t.Helper()
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		value = strings.ReplaceAll(value, `\n`, "\n")
		switch key {
		case "methods":
			m.Methods = readMethods(t, value)
		case "title":
			m.Title = value
		case "commit":
			m.Commits = append(m.Commits, value)
		case "body":
			m.Body = value
		default:
			t.Fatalf("no such line: %s", line)
		}
	}

	return m
}

// readMethods reads commit=TITLE/TEXT squash=TITLE/TEXT rebase.
func readMethods(t *testing.T, text string) (m closing.Methods) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		method, words, _ := strings.Cut(word, "=")
		title, message, _ := strings.Cut(words, "/")
		switch method {
		case "commit":
			m.Commit, m.CommitTitle, m.CommitMessage = true, cmp.Or(title, "MERGE_MESSAGE"), cmp.Or(message, "PR_TITLE")
		case "squash":
			m.Squash, m.SquashTitle, m.SquashMessage = true, cmp.Or(title, "COMMIT_OR_PR_TITLE"), cmp.Or(message,
				"COMMIT_MESSAGES")
		case "rebase":
			m.Rebase = true
		default:
			t.Fatalf("no such method: %s", word)
		}
	}

	return m
}
