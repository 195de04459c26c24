package outgoing

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestLooseObjects reads commits and tags of all sizes as git has written them.
func TestLooseObjects(t *testing.T) {
	s := newSandbox(t)
	s.git(".", "init", "--quiet", "-b", "main", "w")
	tree := s.git("w", "hash-object", "-t", "tree", "-w", "/dev/null")
	store := repository(s.path("w/.git")).loose()
	for _, text := range []string{
		"", "short", strings.Repeat("all the same\n", 5000),
		strings.Repeat("x", maxObject+1000),
	} {
		text = "tree " + tree + "\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\n" + text
		oid := s.raw("w", text)
		kind, content, err := store.object(oid)
		if err != nil || kind != plumbing.CommitObject || string(content) != text[:min(len(text), maxObject)] {
			t.Errorf("%v of %d bytes, %v; want %d", kind, len(content), err, len(text))
		}

		s.git("w", "update-ref", "refs/heads/main", oid)
	}

	s.git("w", "tag", "-a", "-m", "a tag", "v1")
	kind, content, err := store.object(s.git("w", "rev-parse", "v1"))
	if target, ok := tagTarget(content); err != nil || kind != plumbing.TagObject || !ok ||
		target != s.git("w", "rev-parse", "main") {
		t.Errorf("%v, %q, %v", kind, content, err)
	}

	bad, err := s.run("w", "object x\n", "hash-object", "-t", "tag", "--literally", "-w", "--stdin")
	if _, walked := store.commits(t.Context(), []string{bad}, nil); err != nil || !errors.Is(walked, errNotLoose) {
		t.Errorf("a tag of nothing: %v, %v", err, walked)
	}

	if kind, content, err = store.object(tree); err != nil || kind != plumbing.TreeObject || len(content) > 0 {
		t.Errorf("%v, %q, %v", kind, content, err)
	}

	if _, _, err = store.object(oidA); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an object that is not there: %v", err)
	}
}

// TestManyLooseObjects: the walk gives up where asking git is cheaper.
func TestManyLooseObjects(t *testing.T) {
	s := newSandbox(t)
	s.git(".", "init", "--quiet", "-b", "main", "w")
	for n := 1; n <= maxLoose+1; n++ {
		tip := s.commit("w", "more")
		found, err := repository(s.path("w/.git")).loose().commits(t.Context(), []string{tip}, nil)
		if n <= maxLoose && (err != nil || len(found) != n) || n > maxLoose && !errors.Is(err, errNotLoose) {
			t.Errorf("of %d commits %d, %v", n, len(found), err)
		}
	}
}

func FuzzLooseObject(f *testing.F) {
	for _, text := range []string{
		"commit 5\x00tree\n", "commit -1\x00", "tag 99999999999\x00object", "blob 3\x00abc", "commit",
		"commit 99999999999999999999\x00", "\x00 \x00",
	} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}

	f.Fuzz(func(t *testing.T, text []byte, compressed bool) {
		if compressed {
			var out bytes.Buffer
			w := zlib.NewWriter(&out)
			if _, err := w.Write(text); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			text = out.Bytes()
		}

		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, oidA[:2]), 0o700); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(filepath.Join(dir, oidA[:2], oidA[2:]), text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, content, err := looseStore(dir).object(oidA)
		if err == nil && len(content) > maxObject {
			t.Fatal(fmt.Sprint(len(content), " bytes"))
		}
	})
}

// TestPackedReferences: each reference of a large packed-refs is found, and no other.
func TestPackedReferences(t *testing.T) {
	s := newSandbox(t)
	var text strings.Builder
	text.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	oid := func(n int) string { return fmt.Sprintf("%040x", n+1) }
	for n := range 2000 {
		fmt.Fprintf(&text, "%s refs/remotes/origin/%06d\n", oid(n), 2*n)
		if n%3 == 0 {
			text.WriteString("^" + oidA + "\n")
		}
	}

	s.write("r/packed-refs", text.String())
	for n := range 2000 {
		found := string(repository(s.path("r")).packed(fmt.Sprintf("refs/remotes/origin/%06d", 2*n)))
		if none := repository(s.path("r")).packed(fmt.Sprintf("refs/remotes/origin/%06d", 2*n-1)); found != oid(n) ||
			len(none) > 0 {
			t.Fatalf("reference %d is %q, and the one before, which is not there, %q", n, found, none)
		}
	}
}
