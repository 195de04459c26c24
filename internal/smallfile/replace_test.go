package smallfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/label-state/label-state/internal/smallfile"
)

// TestReplace: whoever reads while it is written finds one whole text, and nothing stays beside it.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "page")
	texts := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<10), ""}
	replace := func(text string) {
		if err := smallfile.Replace(file, []byte(text), 0o640); err != nil {
			t.Error(err)
		}
	}

	replace(texts[0])
	var crew sync.WaitGroup
	for _, text := range texts {
		crew.Go(func() {
			for range 20 {
				replace(text)
			}
		})
	}

	whole := map[string]bool{}
	for _, text := range texts {
		whole[text] = true
	}

	for range 200 {
		if got, err := os.ReadFile(file); err != nil || !whole[string(got)] {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
	}

	crew.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}

	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestReplaceFails: after an error the old text stands and nothing stays beside it.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "inside"), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := smallfile.Replace(taken, []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}

	if err := smallfile.Replace(filepath.Join(dir, "missing", "x"), []byte("x"), 0o600); err == nil {
		t.Error("a file was written into a folder that is not there")
	}

	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestRewrite: the mode stays, and a link is replaced unless it is to be followed.
func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	outside, link := filepath.Join(dir, "outside"), filepath.Join(dir, "link")
	if err := os.WriteFile(outside, []byte("theirs"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("outside", link); err != nil {
		t.Fatal(err)
	}

	if err := smallfile.RewriteLinked(link, []byte("followed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}

	if err := smallfile.Rewrite(link, []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{outside: "followed", link: "ours"} {
		got, err := os.ReadFile(file)
		info, bad := os.Lstat(file)
		if err != nil || bad != nil || string(got) != want || info.Mode() != 0o640 {
			t.Errorf("%s: %q, %v; %v, %v", file, got, info, err, bad)
		}
	}
}
