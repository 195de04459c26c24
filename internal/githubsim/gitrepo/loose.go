package gitrepo

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What is loose, in the layout that gitrepository-layout(5) describes, is read here without a
// process: tests read references and commits many thousand times. All of it answers ok false for
// what is not loose or not as expected; git is asked then.

// looseObject reads an object by its id.
func (r *Repo) looseObject(oid string) (o object, ok bool) {
	if checkObject(oid) != nil {
		return object{}, false
	}
	packed, err := os.ReadFile(r.objectFile(oid))
	if err != nil {
		return object{}, false
	}

	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return object{}, false
	}

	whole, err := io.ReadAll(z)
	head, data, found := bytes.Cut(whole, []byte{0})
	kind, size, _ := strings.Cut(string(head), " ")
	if err != nil || !found || size != strconv.Itoa(len(data)) {
		return object{}, false
	}

	return object{oid: oid, kind: kind, data: data}, true
}

// hasLoose reports whether there is a loose object of this id.
func (r *Repo) hasLoose(oid string) bool {
	if checkObject(oid) != nil {
		return false
	}
	info, err := os.Stat(r.objectFile(oid))
	return err == nil && info.Mode().IsRegular()
}

func (r *Repo) objectFile(oid string) string {
	return filepath.Join(r.Dir, "objects", oid[:2], oid[2:])
}

// onlyLooseRefs reports whether every reference is a file of its own. It has to be asked after the
// files have been read: git writes packed-refs before it removes them.
func (r *Repo) onlyLooseRefs() bool {
	for _, other := range []string{"packed-refs", "reftable"} {
		if _, err := os.Lstat(filepath.Join(r.Dir, other)); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// looseRef reads one reference by its full name; oid is empty when there is none.
func (r *Repo) looseRef(name string) (oid string, ok bool) {
	text, err := os.ReadFile(filepath.Join(r.Dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", r.onlyLooseRefs()
	}
	oid = strings.TrimSuffix(string(text), "\n")
	return oid, err == nil && r.hasLoose(oid)
}

// looseRefs lists the references below a folder of names ("refs", "refs/heads"), in the order of
// their names.
func (r *Repo) looseRefs(folder string) (refs []Ref, ok bool) {
	refs = []Ref{}
	err := filepath.WalkDir(filepath.Join(r.Dir, filepath.FromSlash(folder)),
		func(file string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // deleted meanwhile, or never there
			}
			if err != nil || entry.IsDir() {
				return err
			}

			below, err := filepath.Rel(r.Dir, file)
			name := filepath.ToSlash(below)
			if err != nil || checkRef(name) != nil {
				return err // a lock
			}

			text, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}

			o, found := r.looseObject(strings.TrimSuffix(string(text), "\n"))
			if err == nil && !found {
				err = fmt.Errorf("%s: %w", name, ErrNoObject)
			}

			refs = append(refs, Ref{Name: name, OID: o.oid, Type: o.kind})
			return err
		})
	slices.SortFunc(refs, func(a, b Ref) int { return cmp.Compare(a.Name, b.Name) })

	return refs, err == nil && r.onlyLooseRefs()
}

// looseFile reads a file at a revision. A path that is not there is ErrNotFound.
func (r *Repo) looseFile(rev, path string) (o object, ok bool, err error) {
	oid, ok := r.looseRevision(rev)
	if !ok {
		return object{}, false, nil
	}
	if o, ok = r.looseObject(oid); !ok {
		return object{}, false, nil
	}

	tree := oid
	switch o.kind {
	case "commit":
		tree = parseCommit(oid, o.data).Tree
	case "tag":
		return object{}, false, nil // it may be of another one
	}

	for name := range strings.SplitSeq(path, "/") {
		if o, ok = r.looseObject(tree); !ok {
			return object{}, false, nil
		}
		if o.kind != "tree" {
			return object{}, true, ErrNotFound
		}

		var there bool
		if tree, there, ok = entryOf(o.data, name, len(oid)/2); !ok {
			return object{}, false, nil
		}
		if !there {
			return object{}, true, ErrNotFound
		}
	}

	o, ok = r.looseObject(tree)
	return o, ok, nil
}

// looseRevision is the id that HEAD, an id or a full reference name stands for.
func (r *Repo) looseRevision(rev string) (oid string, ok bool) {
	if rev == "HEAD" {
		text, err := os.ReadFile(filepath.Join(r.Dir, "HEAD"))
		if err != nil {
			return "", false
		}
		rev, ok = strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "ref: ")
		if !ok {
			return "", false
		}
	}

	if checkObject(rev) == nil {
		return rev, true
	}
	if checkRef(rev) != nil {
		return "", false
	}

	oid, ok = r.looseRef(rev)
	return oid, ok && oid != ""
}

// entryOf finds a name in a tree object, whose ids have so many bytes.
func entryOf(tree []byte, name string, size int) (oid string, there, ok bool) {
	for len(tree) > 0 {
		head, rest, found := bytes.Cut(tree, []byte{0})
		if !found || len(rest) < size {
			return "", false, false
		}
		if _, entry, _ := strings.Cut(string(head), " "); entry == name {
			return fmt.Sprintf("%x", rest[:size]), true, true
		}

		tree = rest[size:]
	}

	return "", false, true
}

// parentOf reports whether one loose commit is another's parent.
func (r *Repo) parentOf(ancestor, descendant string) bool {
	o, ok := r.looseObject(descendant)
	return ok && o.kind == "commit" && slices.Contains(parseCommit(descendant, o.data).Parents, ancestor)
}
