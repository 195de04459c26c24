package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// generation is part of the name of what is kept; it changes with what is made.
const generation = "2"

// A plan is a repository that is wanted.
type plan struct {
	name  string
	kind  kind
	shape shape
}

// A repository is a clone in which every push of the table is ready to be made.
type repository struct {
	folder
	plan
}

// A place is where repositories are kept, and the home of the git that makes them.
type place struct{ cache, home string }

// The kinds of repositories for which there are targets.
type kind int

const (
	small kind = iota
	large
	manyRefs
	merges
)

// open makes the repository, unless it is there already. What is made is the same every time.
func open(at place, p plan) (*repository, error) {
	dir := filepath.Join(at.cache, fmt.Sprintf("%s-%d-%d", generation, p.shape.commits, p.shape.branches))
	if p.shape.merges {
		dir += "-merges"
	}

	if p.shape.graph {
		dir += "-graph"
	}
	r := &repository{folder{dir, environ(at.home)}, p}
	if _, err := os.Stat(dir); err == nil {
		return r, nil
	}

	half := &repository{folder{dir + ".tmp", r.env}, p}
	if err := os.RemoveAll(half.path); err != nil {
		return nil, err
	}
	if err := half.fill(at); err != nil {
		return nil, fmt.Errorf("make repository %s: %w", dir, err)
	}

	return r, os.Rename(half.path, dir)
}

// fill makes the repository. With a commit-graph it is a copy of the one without, and the graph has
// what the remote has: commits are made after it was written.
func (r *repository) fill(at place) error {
	if !r.shape.graph {
		return r.create()
	}
	plain := r.plan
	plain.shape.graph = false
	from, err := open(at, plain)
	if err != nil {
		return err
	}
	if err := link(from.path, r.path); err != nil {
		return err
	}

	tips, err := r.git("for-each-ref", "--format=%(objectname)", "refs/remotes/origin/")
	if err != nil {
		return err
	}

	_, err = r.feed(strings.NewReader(tips+"\n"), "commit-graph", "write", "--stdin-commits", "--no-progress")
	return err
}

func (r *repository) create() error {
	if err := os.MkdirAll(r.path, 0o755); err != nil {
		return err
	}

	return errors.Join(
		r.try("init", "--quiet", "--initial-branch=main"),
		r.try("config", "core.logAllRefUpdates", "false"),
		r.try("remote", "add", "origin", "https://github.com/acme/app"),
		r.fastImport(false, func(s *stream) { s.history(r.shape) }),
		r.fastImport(false, func(s *stream) { s.known(r.shape) }),
		r.try("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"),
		// As a fresh clone has them: commits first, the newest first, in one pack.
		r.try("-c", "pack.window=0", "-c", "repack.writeBitmaps=false", "repack", "-a", "-d", "-q"),
		r.fastImport(true, func(s *stream) { s.unknown(r.shape) }),
		r.fastImport(false, func(s *stream) { s.thousands(r.shape) }),
		r.try("pack-refs", "--all"),
	)
}

func (r *repository) try(args ...string) error {
	_, err := r.git(args...)
	return err
}

// link copies a folder whose large files never change; git replaces files, it does not write into
// them.
func link(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}

		return os.Link(path, filepath.Join(to, name))
	})
}
