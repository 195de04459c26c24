package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/label-state/label-state/internal/git"
)

// gitAnswers answers like git, which it asks once for each question about a clone whose configuration and branch nobody changes.
// The zero value is valid.
type gitAnswers struct{ known sync.Map }

func (g *gitAnswers) answer(ctx context.Context, c git.Command) ([]byte, error) {
	type answer struct {
		out []byte
		err error
	}
	key := fmt.Sprintf("%q %q %q", c.Dir, c.Args, c.Stdin)
	if known, ok := g.known.Load(key); ok && !slices.Contains(c.Args, "status") {
		return known.(answer).out, known.(answer).err
	}
	cmd := exec.CommandContext(ctx, "git", c.Args...)
	cmd.Dir, cmd.Stdin, cmd.Env = c.Dir, strings.NewReader(c.Stdin), append(os.Environ(), c.Env...)
	out, err := cmd.Output()
	if ctx.Err() == nil {
		g.known.Store(key, answer{out, err})
	}
	return out, err
}
