package outgoing

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/label-state/label-state/internal/smallfile"
)

// A refStore reads references stored in files: one loose file each, or a line of packed-refs, which the loose file
// overrides. What is broken, a file a crash left empty for instance, counts as absent.
type refStore struct {
	dir    string
	packed packedRefs
	skip   map[string]bool // names that count as absent
	close  func()
}

func openRefs(dir string) (*refStore, error) {
	data, unmap, err := mapFile(filepath.Join(dir, "packed-refs"), maxRefs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &refStore{dir: dir, close: func() {}}, nil
	case err != nil:
		return nil, err
	}
	return &refStore{dir: dir, packed: packedRefs(data), close: unmap}, nil
}

// lookup finds one reference by its full name, through symbolic ones.
func (r *refStore) lookup(name string) (plumbing.Hash, bool) {
	for range 5 {
		if !wellFormed(name) || r.skip[name] {
			return plumbing.ZeroHash, false
		}
		f, err := smallfile.Open(filepath.Join(r.dir, filepath.FromSlash(name)))
		if err != nil {
			return r.packed.lookup(name)
		}
		text, err := io.ReadAll(io.LimitReader(f, 16<<10)) // longer ones are no reference
		f.Close()
		if err != nil {
			return r.packed.lookup(name)
		}
		target, symbolic := strings.CutPrefix(string(text), "ref:")
		if !symbolic {
			return parseHash(strings.TrimSpace(target))
		}
		name = strings.TrimSpace(target)
	}
	return plumbing.ZeroHash, false
}

// under lists what the references below a prefix that ends in a slash point at, each object once.
func (r *refStore) under(prefix string) []plumbing.Hash {
	var oids []plumbing.Hash
	seen := map[plumbing.Hash]bool{}
	add := func(oid plumbing.Hash, ok bool) {
		if ok && !seen[oid] {
			seen[oid] = true
			oids = append(oids, oid)
		}
	}
	loose := r.loose(prefix)
	for name := range loose {
		add(r.lookup(name))
	}
	for name, oid := range r.packed.under(prefix) {
		if !loose[string(name)] && !r.skip[string(name)] {
			add(parseHash(string(oid)))
		}
	}
	return oids
}

// loose names the files below a prefix, git's lock files among them, which no lookup accepts.
func (r *refStore) loose(prefix string) map[string]bool {
	names := map[string]bool{}
	root := filepath.Join(r.dir, filepath.FromSlash(prefix))
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if name, err := filepath.Rel(r.dir, path); err == nil {
			names[filepath.ToSlash(name)] = true
		}
		return nil
	})
	return names
}

// packedRefs is the text of packed-refs: a header, lines "OID NAME", and below a tag "^OID", what it peels to.
type packedRefs []byte

// sorted reports whether the header promises lines in the order of their names, as git writes them.
func (p packedRefs) sorted() bool {
	header, _, _ := bytes.Cut(p, []byte("\n"))
	return bytes.HasPrefix(header, []byte("# pack-refs with:")) && bytes.Contains(header, []byte(" sorted"))
}

func (p packedRefs) lookup(name string) (plumbing.Hash, bool) {
	for found, oid := range p.under(name) {
		if string(found) == name {
			return parseHash(string(oid))
		}
		if p.sorted() {
			break
		}
	}
	return plumbing.ZeroHash, false
}

// under calls yield for each name that starts with prefix.
func (p packedRefs) under(prefix string) func(yield func(name, oid []byte) bool) {
	return func(yield func(name, oid []byte) bool) {
		sorted, rest := p.sorted(), p
		if sorted { // skip to the first line whose name is not less than the prefix
			low, high := 0, len(p)
			for low < high {
				start := bytes.LastIndexByte(p[:low+(high-low)/2], '\n') + 1
				for start > low && p[start] == '^' { // it belongs to the line above
					start = bytes.LastIndexByte(p[:start-1], '\n') + 1
				}
				start = max(start, low)
				line, _, _ := bytes.Cut(p[start:high], []byte("\n"))
				_, found, ok := bytes.Cut(line, []byte(" "))
				if !ok || line[0] == '#' || line[0] == '^' || string(found) < prefix {
					low = min(start+len(line)+1, high)
				} else {
					high = start
				}
			}
			rest = p[low:]
		}
		for len(rest) > 0 {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte("\n"))
			oid, name, ok := bytes.Cut(line, []byte(" "))
			switch {
			case !ok || line[0] == '#' || line[0] == '^':
			case bytes.HasPrefix(name, []byte(prefix)):
				if !yield(name, oid) {
					return
				}
			case sorted:
				return
			}
		}
	}
}

func parseHash(text string) (plumbing.Hash, bool) {
	if len(text) != 40 || !isOID(text) {
		return plumbing.ZeroHash, false
	}
	return plumbing.NewHash(text), true
}
