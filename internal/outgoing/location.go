package outgoing

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// errNoRepository: the first reader found no git directory; git may know better.
var errNoRepository = errors.New("find git directory: none here or above")

// lookup returns a variable of the hook's environment; the last one of a name counts.
func (at Location) lookup(name string) string {
	value := ""
	for _, kv := range at.Env {
		if key, v, ok := strings.Cut(kv, "="); ok && key == name {
			value = v
		}
	}
	return value
}

// abs makes a path of git's absolute: relative ones start at base.
func abs(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// commonDir finds the directory that holds objects, configuration and remote-tracking references, shared by all work
// trees of a repository.
func (at Location) commonDir() (string, error) {
	dir, err := at.gitDir()
	if err != nil {
		return "", err
	}
	text, err := readSmall(filepath.Join(dir, "commondir"))
	if errors.Is(err, os.ErrNotExist) {
		return dir, nil
	}
	return abs(dir, strings.TrimSpace(text)), err
}

// gitDir follows GIT_DIR, else looks for .git, a directory or a file that names one, or a bare repository, here and
// upwards.
func (at Location) gitDir() (string, error) {
	if dir := at.lookup("GIT_DIR"); dir != "" {
		return followGitFile(abs(at.Dir, dir))
	}
	top, err := filepath.Abs(at.Dir)
	if err != nil {
		return "", err
	}
	for dir := top; ; dir = filepath.Dir(dir) {
		if found, err := followGitFile(filepath.Join(dir, ".git")); err == nil && isGitDir(found) {
			return found, nil
		}
		if isGitDir(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errNoRepository
		}
	}
}

// followGitFile returns path, or the directory that the file at path names in a line "gitdir: DIR".
func followGitFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return path, err
	}
	text, err := readSmall(path)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return "", fmt.Errorf("read %s: not a git file", path)
	}
	return abs(filepath.Dir(path), strings.TrimRight(name, "\r\n")), nil
}

// isGitDir is git's own test: a HEAD, and objects and refs, which a linked work tree has elsewhere.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	if _, err := os.Stat(filepath.Join(dir, "commondir")); err == nil {
		return true
	}
	objects, err := os.Stat(filepath.Join(dir, "objects"))
	return err == nil && objects.IsDir()
}

// readSmall reads a file of a few lines; longer ones are cut.
func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 16<<10))
	return string(data), err
}
