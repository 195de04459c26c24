package action

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lifecycle"
)

// configured is the path of the configuration in the repository.
func (s *Step) configured() string { return cmp.Or(s.Inputs.Config, config.Path) }

// checkProposed reads the configuration that a pull request would bring to the default branch, and
// notes what is wrong with it. Nothing goes by that file. A branch that is only behind may have
// what was corrected since: that the pull request changes the file is asked where it matters.
func (s *Step) checkProposed(ctx context.Context, p github.Pull, m github.Merge, r *result) {
	// a link's text is a path
	if m.File == nil || p.State != lifecycle.PROpened || !p.DefaultBase || !strings.Contains(*m.File, ":") {
		return
	}
	_, err := config.Parse(s.configured(), []byte(*m.File))
	var bad *config.Error
	if !errors.As(err, &bad) {
		return
	}

	i := s.Repo.Issue(p.Number)
	changes, err := s.Hub.Changes(ctx, i, s.configured())
	switch {
	case err != nil:
		r.skip("%s", err)
	case changes:
		r.proposed = bad
	}
}
