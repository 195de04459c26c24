package state

import (
	"errors"

	"github.com/label-state/label-state/internal/git"
)

// ErrNoRepository says that the folder is in no git worktree of which holds could be recorded.
var ErrNoRepository = git.ErrNone

// GitDir returns the git directory of the worktree that dir is in; env is the value of GIT_DIR. It
// is ErrNoRepository when there is none, and in a bare repository that a clone has brought along:
// nothing is kept in other people's files.
func GitDir(dir, env string) (string, error) {
	place, err := git.Find(dir, env)
	if _, strange := errors.AsType[*git.EmbeddedError](err); strange {
		return "", ErrNoRepository
	}
	return place.Dir, err
}
