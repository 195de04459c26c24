package holdfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoRepository says that the folder is in no git work tree.
var ErrNoRepository = errors.New("not in a git repository")

// GitDir returns the git directory of the work tree that dir is in, as git would without being
// asked: env (the value of GIT_DIR, relative to dir) when it is set, else the nearest .git above
// dir. A linked work tree and a submodule have one of their own. It is ErrNoRepository when there is none.
func GitDir(dir, env string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("find git directory: %w", err)
	}
	if env != "" {
		return named(dir, env)
	}
	for {
		if found, err := inside(dir); found != "" || err != nil {
			return found, err
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ErrNoRepository
		}
		dir = up
	}
}

// named follows GIT_DIR; like git it does not look elsewhere when that is wrong.
func named(dir, env string) (string, error) {
	if !filepath.IsAbs(env) {
		env = filepath.Join(dir, env)
	}
	info, err := os.Stat(env)
	switch {
	case err != nil:
		return "", fmt.Errorf("follow GIT_DIR: %w", err)
	case info.Mode().IsRegular():
		return pointed(env)
	case !repository(env):
		return "", fmt.Errorf("follow GIT_DIR: %s is not a git directory", env)
	}
	return env, nil
}

// inside looks in one folder: for .git, then whether the folder itself is a git directory.
func inside(dir string) (string, error) {
	dot := filepath.Join(dir, ".git")
	info, err := os.Stat(dot)
	switch {
	case err == nil && info.Mode().IsRegular():
		return pointed(dot)
	case err == nil && repository(dot):
		return dot, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("find git directory: %w", err)
	case repository(dir):
		return dir, nil
	}
	return "", nil
}

// pointed reads a .git file as linked work trees and submodules have it: "gitdir: path".
func pointed(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("find git directory: %w", err)
	}
	path, ok := strings.CutPrefix(string(data), "gitdir: ")
	path = strings.TrimRight(path, "\r\n")
	if !ok || path == "" {
		return "", fmt.Errorf("find git directory: %s does not say where it is", file)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	if !repository(path) {
		return "", fmt.Errorf("find git directory: %s names %s, which is none", file, path)
	}
	return path, nil
}

// repository asks what git asks: a HEAD, and objects of its own or of the repository it is linked to.
func repository(dir string) bool {
	return exists(dir, "HEAD") && (exists(dir, "commondir") || exists(dir, "objects") && exists(dir, "refs"))
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}
