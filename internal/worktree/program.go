package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/printable"
)

// An ExitError is a git that said no.
type ExitError struct {
	Command string // its first word
	Code    int
	Said    string // the last line on its standard error that says something
}

func (e *ExitError) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("git %s: exit code %d", e.Command, e.Code)
	}
	return "git " + e.Command + ": " + e.Said
}

// killAfter is how long a git that was told to stop may take to tidy up.
const killAfter = 10 * time.Second

// Program is git as it behaves when it is started by hand in the folder: what in environ, a list of
// NAME=value, would point it at another repository is left out. It asks nobody for passwords, and a
// signal from the terminal reaches us only, so that we undo and git does not stop half-way.
func Program(environ []string) Git {
	clean := slices.DeleteFunc(slices.Clone(environ), elsewhere)
	clean = append(clean, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	return func(ctx context.Context, dir string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, clean, killAfter
		apart(cmd)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		err := cmd.Run()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return strings.TrimSuffix(out.String(), "\n"), nil
		case ctx.Err() != nil:
			return "", fmt.Errorf("git %s: %w", word(args), ctx.Err())
		case errors.As(err, &exit) && exit.ExitCode() > 0:
			return "", &ExitError{word(args), exit.ExitCode(), lastLine(said.String())}
		}
		return "", fmt.Errorf("git %s: %w", word(args), err)
	}
}

// elsewhere reports whether a variable is one of those that "git rev-parse --local-env-vars" lists, or
// asks for a password.
func elsewhere(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_PREFIX", "GIT_NAMESPACE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_IMPLICIT_WORK_TREE",
		"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_ASKPASS", "SSH_ASKPASS", "LC_ALL", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS":
		return true
	}
	return false
}

// word is the command that args call for.
func word(args []string) string {
	n := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	return args[max(n, 0)]
}

// lastLine is what git said last, without what a terminal could trip over.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	line := strings.TrimPrefix(lines[len(lines)-1], "fatal: ")
	return printable.Short(line, 300)
}

// no reports whether git said no, rather than that it could not find out.
func no(err error) bool {
	var exit *ExitError
	return errors.As(err, &exit) && exit.Code < 128
}
