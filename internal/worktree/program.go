package worktree

import (
	"context"

	"github.com/label-state/label-state/internal/git"
)

// Program is git as it behaves when it is started by hand in the folder: what in environ, a list of
// NAME=value, would point it at another repository is left out. It asks nobody for passwords, and a
// signal from the terminal reaches us only, so that we undo and git does not stop half-way.
func Program(environ []string) Git {
	clean := git.Elsewhere(environ)
	return func(ctx context.Context, dir string, args ...string) (string, error) {
		return git.Git{Dir: dir, Env: clean}.Do(ctx, args...)
	}
}
