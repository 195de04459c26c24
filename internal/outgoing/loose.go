package outgoing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"

	"github.com/label-state/label-state/internal/smallfile"
)

// maxLoose is how many loose objects are read in the hope that the push ends among them. Each one
// that is read in vain makes the push slower than asking git at once.
const maxLoose = 16

// errNotLoose says that loose objects do not answer the question: one is packed or missing, or is
// not a commit.
var errNotLoose = errors.New("not among the loose objects")

// A looseStore reads the loose objects of one repository. It is the folder that git calls
// "objects".
type looseStore string

// object returns the type of a loose object and, of commits and tags, at most maxObject bytes of
// the content. An object without a file is fs.ErrNotExist.
func (s looseStore) object(oid string) (kind plumbing.ObjectType, content []byte, err error) {
	file, err := smallfile.Open(filepath.Join(string(s), oid[:2], oid[2:]))
	if err != nil {
		return 0, nil, err
	}

	defer file.Close()

	object, err := objfile.NewReader(file)
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", oid, err)
	}

	defer object.Close()

	kind, size, err := object.Header()
	if err == nil && size < 0 {
		err = errDamaged
	}

	if err == nil && (kind == plumbing.CommitObject || kind == plumbing.TagObject) {
		content = make([]byte, min(size, maxObject))
		_, err = io.ReadFull(object, content)
	}

	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", oid, err)
	}

	return kind, content, nil
}

// commits walks from what is pushed to what the remote is known to have, and returns the commits on
// the way: all that leave, and perhaps some that the remote has by another branch. The error is
// errNotLoose, or what the system says, when git must be asked.
func (s looseStore) commits(ctx context.Context, queue, known []string) ([]Commit, error) {
	seen := map[string]bool{}
	for _, oid := range known {
		seen[oid] = true
	}

	var found []Commit
	reads := 0
	for len(queue) > 0 {
		oid := queue[0]
		queue = queue[1:]
		if seen[oid] {
			continue
		}

		seen[oid] = true

		if reads++; reads > maxLoose || len(oid) != 40 {
			return nil, errNotLoose
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}

		kind, content, err := s.object(oid)
		if err != nil {
			return nil, err
		}

		if kind == plumbing.TagObject {
			target, ok := tagTarget(content)
			if !ok {
				return nil, errNotLoose
			}
			queue = append(queue, target)
			continue
		}
		if kind != plumbing.CommitObject {
			continue // it sends no commit
		}

		commit, parents, err := parseCommit(oid, content)
		if err != nil {
			return nil, err
		}

		found = append(found, commit)
		queue = append(queue, parents...)
	}

	return found, nil
}

// tagTarget is what an annotated tag is of.
func tagTarget(tag []byte) (oid string, ok bool) {
	line, _, _ := bytes.Cut(tag, []byte("\n"))
	target, ok := bytes.CutPrefix(line, []byte("object "))
	return string(target), ok && isOID(string(target))
}
