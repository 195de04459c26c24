package outgoing

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTwoCopies: of a commit that is both loose and in a pack, one copy is damaged or something
// else is in its place. The other one counts, as for git.
func TestTwoCopies(t *testing.T) {
	cut := func(size int64) func(string) error {
		return func(path string) error { return errors.Join(os.Chmod(path, 0o600), os.Truncate(path, size)) }
	}

	for _, c := range []struct {
		name, file string
		damage     func(path string) error
	}{
		{"the loose one is cut off", "loose", cut(20)},
		{"the loose one is empty", "loose", cut(0)},
		{"the pack is cut off", ".pack", cut(12)},
		{"the index is cut off", ".idx", cut(1100)},
	} {
		s := newSandbox(t)
		s.pair()
		four := s.commit("w", "four")
		s.git("w", "repack", "--quiet", "-a") // the loose ones stay
		at, p := s.push("w", "push", "origin", "main:refs/heads/x")
		file := s.path("w/.git/objects/" + four[:2] + "/" + four[2:])
		if c.file != "loose" {
			file = onePack(t, s) + c.file
		}

		if err := c.damage(file); err != nil {
			t.Fatal(err)
		}
		got, err := leaving(t.Context(), at, p)
		compare(t, c.name, got, err, []string{four})
	}
}

// onePack is the path of the only pack of w, without .pack.
func onePack(t *testing.T, s *sandbox) string {
	t.Helper()
	packs, err := filepath.Glob(s.path("w/.git/objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	return strings.TrimSuffix(packs[0], ".pack")
}
