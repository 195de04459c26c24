package outgoing

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// maxObject bounds what is read of a loose commit: its header and the message as far as it is looked at.
const maxObject = maxMessage + 1<<20

// An objectStore reads objects by id: loose or packed, in the repository's own directory or one it borrows from.
type objectStore struct {
	dirs   []string
	packs  []*pack // the one that had the last object first
	listed bool
	reads  int // how many objects were read, found or not
}

func openObjects(common string) (*objectStore, error) {
	dirs, err := alternates(filepath.Join(common, "objects"), 0)
	return &objectStore{dirs: dirs}, err
}

// alternates is dir and, each once behind it, the object directories it borrows from, as deep as git follows them.
func alternates(dir string, depth int) ([]string, error) {
	dirs := []string{dir}
	text, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if errors.Is(err, os.ErrNotExist) {
		return dirs, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '"' || depth == 5 {
			return nil, fmt.Errorf("%w: alternates", errUnfit)
		}
		more, err := alternates(abs(dir, line), depth+1)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, more...)
	}
	return dirs, nil
}

func (s *objectStore) close() {
	for _, p := range s.packs {
		p.close()
	}
}

// object returns an object's type and content, of large commits as much as is looked at. One that is nowhere is
// plumbing.ErrObjectNotFound.
func (s *objectStore) object(oid plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	s.reads++
	if err := s.list(); err != nil {
		return 0, nil, err
	}
	tried := min(1, len(s.packs))
	if kind, data, err := s.packed(oid, 0, tried); !errors.Is(err, plumbing.ErrObjectNotFound) {
		return kind, data, err
	}
	for _, dir := range s.dirs {
		kind, data, err := looseObject(dir, oid)
		if !errors.Is(err, os.ErrNotExist) {
			return kind, data, err
		}
	}
	return s.packed(oid, tried, len(s.packs))
}

// packed looks through some of the packs and moves the one that has the object to the front.
func (s *objectStore) packed(oid plumbing.Hash, from, to int) (plumbing.ObjectType, []byte, error) {
	for i := from; i < to; i++ {
		kind, data, err := s.packs[i].object(oid)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			continue
		}
		s.packs[0], s.packs[i] = s.packs[i], s.packs[0]
		return kind, data, err
	}
	return 0, nil, plumbing.ErrObjectNotFound
}

// list finds the packs, once, and opens none.
func (s *objectStore) list() error {
	if s.listed {
		return nil
	}
	s.listed = true
	for _, dir := range s.dirs {
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".idx"); ok {
				s.packs = append(s.packs, &pack{base: filepath.Join(dir, "pack", name)})
			}
		}
	}
	return nil
}

func looseObject(dir string, oid plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	name := oid.String()
	f, err := os.Open(filepath.Join(dir, name[:2], name[2:]))
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	r, err := objfile.NewReader(f)
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", oid, err)
	}
	defer r.Close()
	kind, size, err := r.Header()
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", oid, err)
	}
	data := make([]byte, max(0, min(size, maxObject)))
	if _, err := io.ReadFull(r, data); err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", oid, err)
	}
	return kind, data, nil
}

// A pack is opened when first asked.
type pack struct {
	base   string // the path without .idx or .pack
	index  *packIndex
	reader *packfile.Packfile
}

func (p *pack) object(oid plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if err := p.open(); err != nil {
		return 0, nil, err
	}
	offset, err := p.index.FindOffset(oid)
	if err != nil {
		return 0, nil, err
	}
	o, err := p.reader.GetByOffset(offset)
	if err != nil {
		return 0, nil, fmt.Errorf("read %s at %d of %s: %w", oid, offset, p.base, damaged(err))
	}
	r, err := o.Reader()
	if err != nil {
		return 0, nil, err
	}
	data, err := io.ReadAll(r)
	return o.Type(), data, err
}

// damaged hides that an object which the index names was not found: another pack is not where to look.
func damaged(err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return errDamaged
	}
	return err
}

func (p *pack) open() error {
	if p.index != nil {
		return nil
	}
	index, err := openPackIndex(p.base + ".idx")
	if err != nil {
		return err
	}
	f, err := os.Open(p.base + ".pack")
	if err != nil {
		index.file.Close()
		return err
	}
	p.index = index
	p.reader = packfile.NewPackfileWithCache(index, nil, packFile{f}, nil, 0)
	return nil
}

func (p *pack) close() {
	if p.index != nil {
		p.index.file.Close()
		p.reader.Close()
	}
}

// A packFile is an open file in the shape go-git asks for; nobody locks it.
type packFile struct{ *os.File }

// Lock does nothing: packs do not change.
func (packFile) Lock() error { return nil }

// Unlock does nothing.
func (packFile) Unlock() error { return nil }
