package outgoing

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestObjects reads commits and tags of all sizes from files of their own, from a pack, and from one that git has deltified,
// and compares with what was written.
func TestObjects(t *testing.T) {
	s := newSandbox(t)
	s.git(".", "init", "--quiet", "-b", "main", "r")
	random := rand.NewChaCha8([32]byte{7})
	noise := make([]byte, 40_000)
	_, _ = random.Read(noise)
	texts := []string{"", "short", strings.Repeat("all the same\n", 5000), fmt.Sprintf("%x", noise), strings.Repeat("x", maxObject+1000)}
	for i := range 60 {
		texts = append(texts, fmt.Sprintf("Commit %d\n\n%x", i, noise[:1000]))
	}
	objects := map[string]string{}
	tree := s.git("r", "hash-object", "-t", "tree", "-w", "/dev/null")
	for i, text := range texts {
		text = "tree " + tree + "\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\n" + text
		oid := s.raw("r", text)
		s.git("r", "update-ref", fmt.Sprint("refs/heads/c", i), oid)
		objects[oid] = text
	}
	s.git("r", "tag", "-a", "-m", "a tag", "v1", "refs/heads/c0")
	objects[s.git("r", "rev-parse", "v1")] = s.git("r", "cat-file", "tag", "v1") + "\n"
	for _, how := range []string{"loose", "-a -d -q --window=0", "-a -d -f -q --window=50 --depth=50"} {
		if how != "loose" {
			s.git("r", append([]string{"repack"}, strings.Fields(how)...)...)
		}
		sameObjects(t, s, how, objects)
	}
	packs, err := filepath.Glob(s.path("r/.git/objects/pack/*.idx"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	if deltas := regexp.MustCompile(`(?m) commit +\d+ \d+ \d+ \d+ [0-9a-f]{40}$`).FindAllString(s.git("r", "verify-pack", "-v", packs[0]), -1); len(deltas) < 20 {
		t.Errorf("%d commits are deltas, too few to be a test", len(deltas))
	}
}

// sameObjects reads forwards and backwards through the ids.
func sameObjects(t *testing.T, s *sandbox, how string, objects map[string]string) {
	t.Helper()
	store, err := openObjects(s.path("r/.git"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.close()
	oids := slices.Sorted(maps.Keys(objects))
	backwards := slices.Clone(oids)
	slices.Reverse(backwards)
	for _, oid := range slices.Concat(oids, backwards) {
		want, wantKind := objects[oid], plumbing.CommitObject
		if strings.HasPrefix(want, "object ") {
			wantKind = plumbing.TagObject
		}
		kind, data, err := store.object(plumbing.NewHash(oid))
		if err != nil || kind != wantKind || !strings.HasPrefix(want, string(data)) || len(data) < min(len(want), maxObject) {
			t.Errorf("%s: %s: %v of %d bytes, %v; want %d", how, oid, kind, len(data), err, len(want))
		}
	}
}
