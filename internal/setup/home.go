package setup

import (
	"context"

	"github.com/label-state/label-state/internal/host"
)

// Home returns the repository that the clone around Dir belongs to: label-state.repo, else what the
// remote of its branch means. It is zero outside a clone, and for a clone of nothing on a GitHub.
func (e Environment) Home(ctx context.Context) (host.Remote, error) {
	c, err := e.clone(ctx)
	return c.remote, err
}
