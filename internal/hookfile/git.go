package hookfile

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/git"
)

// errUnset says that git's configuration has no such key.
var errUnset = errors.New("not set")

// setting returns a path from git's configuration, or errUnset. flags choose where it is looked for.
func setting(ctx context.Context, g git.Git, key string, flags ...string) (string, error) {
	args := append([]string{"config"}, flags...)
	value, err := g.Ask(ctx, append(args, "--type=path", "--get", key)...)
	if git.Code(err) == 1 {
		return "", errUnset
	}
	return value, err
}
