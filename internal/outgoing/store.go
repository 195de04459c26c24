package outgoing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/label-state/label-state/internal/smallfile"
)

// maxText bounds, in bytes, the files of a few lines that git and people write, and the references in one file.
const (
	maxText = 4 << 20
	maxRefs = 512 << 20
)

// maxObject bounds what is read of a loose commit: its header and the message as far as it is looked at.
const maxObject = maxMessage + 1<<20

// An objectStore reads objects by id: loose or packed, in the repository's own directory or one it borrows from.
type objectStore struct {
	dirs   []string
	packs  []*pack // the one that had the last packed object first
	listed bool
	inPack bool // the last object was found in one
	reads  int  // how many objects were read, found or not
	inflater
}

func openObjects(common string) (*objectStore, error) {
	dirs, err := alternates(filepath.Join(common, "objects"), 0)
	return &objectStore{dirs: dirs}, err
}

// alternates is dir and, each once behind it, the object directories it borrows from, as deep as git follows them.
func alternates(dir string, depth int) ([]string, error) {
	dirs := []string{dir}
	text, err := smallfile.Follow(filepath.Join(dir, "info", "alternates"), maxText)
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
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		more, err := alternates(line, depth+1)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, more...)
	}
	return dirs, nil
}

func (s *objectStore) close() {
	for _, p := range s.packs {
		if p.index != nil {
			p.index.file.close()
		}
		if p.file != nil {
			p.file.Close()
		}
	}
}

// object returns an object's type and, of commits and tags, the content, of large ones as much as is looked at. The content is valid until
// the next call. One that is nowhere is plumbing.ErrObjectNotFound. It is looked for first where the last one was: commits that nobody
// else has yet are loose, as a rule, and those before them in a pack. Of one that is in both, a copy that cannot be read does not count,
// as in git.
func (s *objectStore) object(oid plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	s.reads++
	kind, data, err := s.stored(oid, s.inPack)
	if err == nil {
		return kind, data, nil
	}
	kind, data, other := s.stored(oid, !s.inPack)
	switch {
	case other == nil:
		s.inPack = !s.inPack
	case errors.Is(other, plumbing.ErrObjectNotFound):
		other = err
	}
	return kind, data, other
}

// stored looks through the loose objects, or through the packs, and moves the pack that has the object to the front.
func (s *objectStore) stored(oid plumbing.Hash, inPack bool) (plumbing.ObjectType, []byte, error) {
	if !inPack {
		return s.looseFile(oid)
	}
	for k := 0; k < len(s.dirs) && !s.listed; k++ { // the packs are found once, and none is opened
		entries, err := os.ReadDir(filepath.Join(s.dirs[k], "pack"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, nil, err
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".idx"); ok {
				s.packs = append(s.packs, &pack{base: filepath.Join(s.dirs[k], "pack", name)})
			}
		}
	}
	s.listed = true
	for i, p := range s.packs {
		kind, data, err := p.object(oid, &s.inflater)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			continue
		}
		s.packs[0], s.packs[i] = p, s.packs[0]
		return kind, data, err
	}
	return 0, nil, plumbing.ErrObjectNotFound
}

func (s *objectStore) looseFile(oid plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	name := oid.String()
	for _, dir := range s.dirs {
		file, err := smallfile.Open(filepath.Join(dir, name[:2], name[2:]))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		kind, data, err := s.loose(file)
		file.Close()
		if err != nil {
			err = fmt.Errorf("read object %s: %w", oid, err)
		}
		return kind, data, err
	}
	return 0, nil, plumbing.ErrObjectNotFound
}
