package outgoing

import (
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/git"
)

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

// commonDir finds the directory that holds objects, configuration and remote-tracking references, shared by all worktrees of a
// repository. When there is none git may know better.
func (at Location) commonDir() (string, error) {
	place, err := git.Find(at.Dir, at.lookup("GIT_DIR"))
	if err != nil {
		return "", err
	}
	return git.Common(place.Dir)
}
