package state

import (
	"fmt"
	"os"
	"path/filepath"
)

// Top returns the top folder of the worktree that dir is in, links resolved. It is ErrNoRepository
// when there is none; a bare repository has none.
func Top(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("find worktree: %w", err)
	}

	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ErrNoRepository
		}

		dir = up
	}
}
