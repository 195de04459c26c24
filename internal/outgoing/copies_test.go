//go:build unix

package outgoing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestTwoCopies: of a commit that is both loose and in a pack, one copy is damaged or something else is in its place. The other one counts,
// as for git.
func TestTwoCopies(t *testing.T) {
	cut := func(size int64) func(string) error {
		return func(path string) error { return errors.Join(os.Chmod(path, 0o600), os.Truncate(path, size)) }
	}
	folder := func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }
	pipe := func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }
	for _, c := range []struct {
		name, file string
		damage     func(path string) error
	}{
		{"the loose one is cut off", "loose", cut(20)},
		{"the loose one is empty", "loose", cut(0)},
		{"the loose one is a folder", "loose", folder},
		{"the loose one is a pipe", "loose", pipe},
		{"the pack is cut off", ".pack", cut(12)},
		{"the pack is a pipe", ".pack", pipe},
		{"the index is cut off", ".idx", cut(1100)},
	} {
		for _, packsFirst := range []bool{false, true} {
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
			n, err := openNative(at, p)
			if err != nil {
				t.Fatal(err)
			}
			defer n.close()
			n.objects.inPack = packsFirst
			got, err := n.commits(t.Context())
			compare(t, fmt.Sprintf("%s, packs first %v", c.name, packsFirst), got, err, []string{four})
		}
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
