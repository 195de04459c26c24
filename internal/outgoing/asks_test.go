package outgoing_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/label-state/label-state/internal/outgoing"
)

// TestAsksForPulls: a mention in the file that is checked out or in the caller's own is enough;
// what is not a regular file mentions nothing.
func TestAsksForPulls(t *testing.T) {
	const on, off = "hook: {pull_requests: true}\n", "hook: {on_unknown: refuse}\n"
	for _, c := range []struct {
		name, checkedOut, own string
		link                  bool
		want                  bool
	}{
		{name: "nothing is there"},
		{name: "no mention", checkedOut: off, own: off},
		{name: "checked out", checkedOut: on, want: true},
		{name: "the caller's own", own: on, want: true},
		{
			name:       "one of both",
			checkedOut: off,
			own:        on,
			want:       true,
		},
		{name: "a link that is checked out", checkedOut: on, link: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file, own := filepath.Join(dir, ".github", "label-state.yml"), ""
			if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}

			write := func(to, text string) {
				if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}

			switch {
			case c.link:
				write(filepath.Join(dir, "real.yml"), c.checkedOut)
				if err := os.Symlink(filepath.Join(dir, "real.yml"), file); err != nil {
					t.Fatal(err)
				}
			case c.checkedOut != "":
				write(file, c.checkedOut)
			}

			if c.own != "" {
				own = "own.yml"
				write(filepath.Join(dir, own), c.own)
			}

			if got := outgoing.AsksForPulls(dir, own); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}

			if c.own != "" && outgoing.AsksForPulls(dir, filepath.Join(dir, own)) != c.want {
				t.Error("another answer for its whole path")
			}
		})
	}
}
