//go:build unix

package outgoing

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestTwoCopies: of a commit that is both loose and in a pack, one copy is damaged. What the first reader says is right, and where it
// says nothing git does.
func TestTwoCopies(t *testing.T) {
	for _, c := range []struct {
		name, file string
		most       int64 // bytes that are left of the file
		declines   bool  // the first reader does
	}{
		{"the loose one is cut off", "loose", 20, true},
		{"the loose one is empty", "loose", 0, true},
		{"the pack is cut off", ".pack", 12, false},
		{"the index is cut off", ".idx", 1100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSandbox(t)
			s.pair()
			four := s.commit("w", "four")
			s.git("w", "repack", "--quiet", "-a") // the loose ones stay
			at, p := s.push("w", "push", "origin", "main:refs/heads/x")
			file := s.path("w/.git/objects/" + four[:2] + "/" + four[2:])
			if c.file != "loose" {
				file = onePack(t, s) + c.file
			}
			if err := errors.Join(os.Chmod(file, 0o600), os.Truncate(file, c.most)); err != nil {
				t.Fatal(err)
			}
			native, err := readNative(t.Context(), at, p)
			if c.declines != (err != nil) {
				t.Errorf("the first reader: %v", err)
			}
			if err == nil {
				compare(t, "native", native, nil, []string{four})
			}
			got, err := collect(func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) })
			compare(t, "Commits", got, err, []string{four})
		})
	}
}

// TestPackGoneMeanwhile: what was in a pack that git has replaced since it was listed is not taken for absent.
func TestPackGoneMeanwhile(t *testing.T) {
	for _, indexOpen := range []bool{false, true} {
		s := newSandbox(t)
		s.pair()
		four := s.commit("w", "four")
		s.git("w", "repack", "--quiet", "-a", "-d")
		s.commit("w", "five") // so that the next pack has another name
		store, err := openObjects(s.path("w/.git"))
		if err != nil {
			t.Fatal(err)
		}
		defer store.close()
		if _, _, err := store.object(plumbing.ZeroHash); !errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Fatal(err)
		}
		if !indexOpen {
			store.packs[0].index.file.close()
			store.packs[0].index = nil
		}
		s.git("w", "repack", "--quiet", "-a", "-d")
		if kind, _, err := store.object(plumbing.NewHash(four)); err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Errorf("with an open index %v: %v, %v; want an error, upon which git is asked", indexOpen, kind, err)
		}
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
