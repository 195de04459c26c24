package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A TreeEntry is one line of a tree. Mode is git's: "100644", "100755", "120000", "160000" or
// "040000". Path is relative to the tree and may hold slashes. Type and Size (of blobs, in bytes)
// are filled when reading only.
type TreeEntry struct {
	Path, Mode, Type, OID string
	Size                  int64
}

// WriteBlob stores data and returns its id.
func (r *Repo) WriteBlob(data []byte) (string, error) {
	oid, err := plantObject(r.Dir, "blob", data)
	return oid, wrap("write blob", err)
}

// WriteTree stores a tree that starts as base (a tree or commit id, or "" for nothing) and has each
// entry added, replaced, or, when its OID is empty, removed, folders with all they hold. It returns
// the tree's id.
func (r *Repo) WriteTree(ctx context.Context, base string, entries []TreeEntry) (string, error) {
	if base == "" && len(entries) == 0 && r.hasLoose(emptyTree) {
		return emptyTree, nil
	}
	oid, err := r.writeTree(ctx, base, entries)
	return oid, wrap("write tree", err)
}

func (r *Repo) writeTree(ctx context.Context, base string, entries []TreeEntry) (string, error) {
	dir, err := os.MkdirTemp(r.Dir, "index-")
	if err != nil {
		return "", err
	}

	defer os.RemoveAll(dir)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(filepath.Base(dir), "index")}
	if base != "" {
		if err := r.mustObject(ctx, base); err != nil {
			return "", err
		}
		if _, err := r.git(ctx, call{args: []string{"read-tree", base}, env: index}); err != nil {
			return "", err
		}
	}

	if err := r.fillIndex(ctx, index, entries); err != nil {
		return "", err
	}
	out, err := r.git(ctx, call{args: []string{"write-tree"}, env: index})

	return line(out), err
}

// fillIndex gives all entries to one command. Each first empties its path, be it a file or a
// folder.
func (r *Repo) fillIndex(ctx context.Context, index []string, entries []TreeEntry) error {
	var lines strings.Builder
	for _, e := range entries {
		if err := r.checkEntry(ctx, e); err != nil {
			return err
		}
		files, err := r.files(ctx, e)
		if err != nil {
			return err
		}

		// A file of the same name pushes a folder out of the index; mode 0 then takes the file out.
		fmt.Fprintf(&lines, "100644 %[1]s\t%[2]s\x000 %[1]s\t%[2]s\x00", placeholder, e.Path)
		for _, f := range files {
			fmt.Fprintf(&lines, "%s %s\t%s\x00", f.Mode, f.OID, f.Path)
		}
	}

	args := []string{"update-index", "--add", "--replace", "-z", "--index-info"}
	if _, err := r.git(ctx, call{args: args, stdin: []byte(lines.String()), env: index}); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}

	return nil
}

// placeholder is an id that the index holds for a moment and nothing reads.
const placeholder = "1111111111111111111111111111111111111111"

// files spreads an entry that is a whole tree into the files below it; a removal has none.
func (r *Repo) files(ctx context.Context, e TreeEntry) ([]TreeEntry, error) {
	switch {
	case e.OID == "":
		return nil, nil
	case e.Mode != "040000":
		return []TreeEntry{e}, nil
	}

	below, err := r.lsTree(ctx, e.OID, "ls-tree", "-z", "-l", "-r")
	for i := range below {
		below[i].Path = e.Path + "/" + below[i].Path
	}

	return below, err
}

func (r *Repo) checkEntry(ctx context.Context, e TreeEntry) error {
	if err := checkPath(e.Path); err != nil || e.OID == "" {
		return err
	}

	switch e.Mode {
	case "160000":
		return checkObject(e.OID)
	case "100644", "100755", "120000", "040000":
		return r.mustObject(ctx, e.OID)
	}

	return fmt.Errorf("mode %q: %w", e.Mode, ErrInvalid)
}

// ReadTree lists the entries of a tree, or of the tree of a commit, without going into the trees
// below it.
func (r *Repo) ReadTree(ctx context.Context, oid string) ([]TreeEntry, error) {
	return r.lsTree(ctx, oid, "ls-tree", "-z", "-l")
}

// ReadTreeRecursive lists the entries of a tree and of all trees below it, the trees included.
func (r *Repo) ReadTreeRecursive(ctx context.Context, oid string) ([]TreeEntry, error) {
	return r.lsTree(ctx, oid, "ls-tree", "-z", "-l", "-r", "-t")
}

func (r *Repo) lsTree(ctx context.Context, oid string, args ...string) ([]TreeEntry, error) {
	if err := r.mustObject(ctx, oid); err != nil {
		return nil, fmt.Errorf("read tree: %w", err)
	}
	out, err := r.git(ctx, call{args: append(args, oid)})
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w: %w", oid, ErrWrongType, err)
	}

	entries := []TreeEntry{}
	for text := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		head, path, _ := strings.Cut(text, "\t")
		fields := strings.Fields(head)
		if len(fields) != 4 {
			continue
		}

		size, _ := strconv.ParseInt(fields[3], 10, 64)
		entries = append(entries, TreeEntry{
			Path: path,
			Mode: fields[0],
			Type: fields[1],
			OID:  fields[2],
			Size: size,
		})
	}

	return entries, nil
}

// File returns the content of a file at a revision: HEAD, an id, a full reference name or a branch
// or tag. A revision or path that does not exist, or is not a file, is ErrNotFound.
func (r *Repo) File(ctx context.Context, rev, path string) ([]byte, error) {
	if err := errors.Join(checkRevision(rev), checkPath(path)); err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	o, err := r.file(ctx, rev, path)
	if err == nil && o.kind != "blob" {
		err = ErrNotFound
	}

	if err != nil {
		return nil, fmt.Errorf("read file %q at %s: %w", path, rev, err)
	}

	return o.data, nil
}

// Folder lists a folder at a revision, as File takes one, by the full paths of what is in it. is is
// false for what is not a folder, there or not.
func (r *Repo) Folder(ctx context.Context, rev, path string) (entries []TreeEntry, is bool, err error) {
	if err := errors.Join(checkRevision(rev), checkPath(path)); err != nil {
		return nil, false, fmt.Errorf("read folder: %w", err)
	}
	o, err := r.file(ctx, rev, path)
	if err != nil || o.kind != "tree" {
		return nil, false, nil
	}

	entries, err = r.ReadTree(ctx, o.oid)
	for n := range entries {
		entries[n].Path = path + "/" + entries[n].Path
	}

	return entries, err == nil, err
}

func (r *Repo) file(ctx context.Context, rev, path string) (object, error) {
	if o, ok, err := r.looseFile(rev, path); ok {
		return o, err
	}
	return r.object(ctx, rev+":"+path)
}

// An object is what git cat-file says of one name.
type object struct {
	oid, kind string
	data      []byte
}

// object reads the object that a checked name stands for; the name holds no line break.
func (r *Repo) object(ctx context.Context, name string) (object, error) {
	if o, ok := r.looseObject(name); ok {
		return o, nil
	}
	out, err := r.git(ctx, call{args: []string{"cat-file", "--batch"}, stdin: []byte(name + "\n")})
	if err != nil {
		return object{}, err
	}

	head, data, _ := bytes.Cut(out, []byte("\n"))
	fields := strings.Fields(string(head))
	if len(fields) != 3 || checkOID(fields[0]) != nil {
		return object{}, ErrNotFound
	}

	return object{oid: fields[0], kind: fields[1], data: bytes.TrimSuffix(data, []byte("\n"))}, nil
}

// mustObject is ErrNoObject unless the repository has an object with this id.
func (r *Repo) mustObject(ctx context.Context, oid string) error {
	if err := checkObject(oid); err != nil {
		return err
	}
	if r.hasLoose(oid) {
		return nil
	}

	_, err := r.git(ctx, call{args: []string{"cat-file", "-e", oid}})
	var failed *gitError
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: %w", oid, ErrNoObject)
	}

	return err
}
