package hookfile

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// errUnset says that git's configuration has no such key.
var errUnset = errors.New("not set")

// git runs git in a folder.
type git struct{ dir string }

// ask returns what git prints, without the last line break.
func (g git) ask(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		said, _, _ := strings.Cut(string(exit.Stderr), "\n")
		return "", fmt.Errorf("ask git %s: %s", args[0], said)
	}
	if err != nil {
		return "", fmt.Errorf("ask git %s: %w", args[0], err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// config returns a path from git's configuration, or errUnset. flags choose where it is looked for.
func (g git) config(ctx context.Context, key string, flags ...string) (string, error) {
	args := append([]string{"config"}, flags...)
	value, err := g.ask(ctx, append(args, "--type=path", "--get", key)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", errUnset
	}
	return value, err
}
