package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/smallfile"
)

// ErrNone says that a folder is in no git repository.
var ErrNone = errors.New("not in a git repository")

// An EmbeddedError is a bare repository inside another clone. A clone brings such folders along as
// ordinary files, so that whoever wrote the repository also wrote their configuration, which names
// programs to run: git must not use it.
type EmbeddedError struct {
	Dir    string // the bare repository
	Around string // the clone that it is in
}

func (e *EmbeddedError) Error() string {
	return fmt.Sprintf("%s is a bare repository inside the clone %s and is not used, because its configuration may be a stranger's", e.Dir, e.Around)
}

// A Place is where a repository's own files are.
type Place struct {
	Dir  string // git directory of this worktree, with the links in its path followed
	Bare bool   // the folder that was found is a git directory itself, not one with a .git in it
}

// Find returns the git directory of the worktree that dir is in, as git finds it: env (the value of
// GIT_DIR, relative to dir) when it is set, else the nearest .git here or above, else the nearest
// bare repository. A linked worktree and a submodule have one of their own. Errors: ErrNone,
// *EmbeddedError, or a git directory that is damaged.
func Find(dir, env string) (Place, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Place{}, fmt.Errorf("find git directory: %w", err)
	}
	if env != "" { // like git, look nowhere else when that is wrong
		named := absolute(dir, env)
		info, err := os.Stat(named)
		switch {
		case err != nil:
			err = fmt.Errorf("follow GIT_DIR: %w", err)
		case info.Mode().IsRegular():
			named, err = pointedTo(named)
		case !isGitDir(named):
			err = fmt.Errorf("follow GIT_DIR: %s is not a git directory", named)
		}

		if err != nil {
			named = ""
		}

		return Place{Dir: named}, err
	}

	for at := dir; ; at = filepath.Dir(at) {
		dot := filepath.Join(at, dotGit)
		info, err := os.Stat(dot)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return Place{}, fmt.Errorf("find git directory: %w", err)
		case err == nil && info.Mode().IsRegular():
			found, err := pointedTo(dot)
			return Place{Dir: found}, err
		case err == nil && isGitDir(dot):
			return Place{Dir: dot}, nil
		case isGitDir(at):
			return bare(at)
		case at == filepath.Dir(at):
			return Place{}, ErrNone
		}
	}
}

// bare accepts a git directory that was found without a .git, unless a clone around it may have
// brought it along. What is below a .git is git's own: no commit can have files there.
func bare(dir string) (Place, error) {
	if slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), dotGit) {
		return Place{Dir: dir, Bare: true}, nil
	}

	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, dotGit)); err == nil {
			return Place{}, &EmbeddedError{dir, at}
		}
		if at == filepath.Dir(at) {
			return Place{Dir: dir, Bare: true}, nil
		}
	}
}

// Linked returns the git directory that the .git of a worktree at exactly this path stands for,
// whether or not that is there; the error is fs.ErrNotExist when there is no .git.
func Linked(worktree string) (string, error) { return pointed(filepath.Join(worktree, dotGit)) }

// Common returns the directory that holds objects, configuration and references of all worktrees of
// a repository.
func Common(gitDir string) (string, error) {
	text, err := smallfile.Read(filepath.Join(gitDir, "commondir"), maxPointer)
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	return absolute(gitDir, strings.TrimSpace(string(text))), err
}

const (
	dotGit     = ".git"
	maxPointer = 16 << 10 // bytes of a file that names a folder
)

// pointedTo is pointed for a folder that has to be a git directory.
func pointedTo(file string) (string, error) {
	dir, err := pointed(file)
	if err != nil {
		return "", fmt.Errorf("find git directory: %w", err)
	}
	if !isGitDir(dir) {
		return "", fmt.Errorf("find git directory: %s names %s, which is none", file, dir)
	}

	return dir, nil
}

// pointed reads a .git file as linked worktrees and submodules have it: "gitdir: path".
func pointed(file string) (string, error) {
	data, err := smallfile.Follow(file, maxPointer)
	if err != nil {
		return "", err
	}

	path, ok := strings.CutPrefix(string(data), "gitdir: ")
	if path = strings.TrimRight(path, "\r\n"); !ok || path == "" {
		return "", fmt.Errorf("%s does not say where it is", file)
	}

	return filepath.Clean(absolute(filepath.Dir(file), path)), nil
}

// absolute takes a relative path from base.
func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// isGitDir asks what git asks: a HEAD, and objects and refs of its own or of the repository it is
// linked to.
func isGitDir(dir string) bool {
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return exists("HEAD") && (exists("commondir") || exists("objects") && exists("refs"))
}
