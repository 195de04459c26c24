package folderwork_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/work"
)

// TestCloseChangesOneWord: completing an item changes the state in its file and nothing else of it.
func TestCloseChangesOneWord(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"comment":             {"---\nid: a\ntitle: A\nlabels: [ready]\nstate: open   # till it is done\n---\nThe text.\n", "---\nid: a\ntitle: A\nlabels: [ready]\nstate: closed   # till it is done\n---\nThe text.\n"},
		"CRLF":                {"---\r\nid: a\r\ntitle: A\r\nlabels: [ready]\r\nstate: open\r\n---\r\n\r\nThe text.\r\n", "---\r\nid: a\r\ntitle: A\r\nlabels: [ready]\r\nstate: closed\r\n---\r\n\r\nThe text.\r\n"},
		"CRLF, no state":      {"---\r\nid: a\r\ntitle: A\r\nlabels: [ready]\r\n---\r\nThe text.", "---\r\nid: a\r\ntitle: A\r\nlabels: [ready]\r\nstate: closed\r\n---\r\nThe text."},
		"no state, no text":   {"---\nid: a\ntitle: A\nlabels: [ready]\n---", "---\nid: a\ntitle: A\nlabels: [ready]\nstate: closed\n---"},
		"quoted, with a mark": {"\ufeff---\n\"state\":  'open'\nid: a\ntitle: A\nlabels: [ready]\n---\n\n\nThe text.\n---\nstate: open\n", "\ufeff---\n\"state\":  'closed'\nid: a\ntitle: A\nlabels: [ready]\n---\n\n\nThe text.\n---\nstate: open\n"},
		"empty":               {"---\nid: a\nstate: # open\ntitle: A\nlabels: [ready]\n---\nThe text.\n", "---\nid: a\nstate: closed # open\ntitle: A\nlabels: [ready]\n---\nThe text.\n"},
		"in a title":          {"---\nid: a\ntitle: |\n  A\n  state: open\nlabels: [ready]\n---\nThe text.\n", "---\nid: a\ntitle: |\n  A\n  state: open\nlabels: [ready]\nstate: closed\n---\nThe text.\n"},
		"cannot be changed":   {"---\n{id: a, title: A, labels: [ready]}\n---\nThe text.\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), t.TempDir()
			write(t, elsewhere, "a.md", c.text)
			file := filepath.Join(dir, "a.md")
			if err := os.Symlink(filepath.Join(elsewhere, "a.md"), file); err != nil {
				write(t, dir, "a.md", c.text) // no links here
			}
			ann := open(t, dir, "ann")
			if _, err := ann.Claim(t.Context(), "folder-a"); err != nil {
				t.Fatal(err)
			}
			err := ann.Complete(t.Context(), "folder-a", work.Result{Outcome: work.Success})
			want := c.want
			if want == "" {
				want = c.text
				if err == nil || !strings.Contains(err.Error(), "a.md: its front matter cannot be changed; write state: closed there") {
					t.Errorf("completed: %v", err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != want {
				t.Errorf("%v, %q, want %q", err, got, want)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode: %v, %v", info.Mode(), err)
			}
		})
	}
}
