// Package gitrepo keeps bare repositories that git itself reads, writes and serves.
//
// Init, new commits, and reading what is loose need no process. Everything else runs the installed
// git (2.38 or newer) with an environment of its own, so neither the user's configuration nor an
// inherited GIT_DIR changes what happens. Names and object ids are checked before git sees them;
// text from a request never becomes an option.
package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Reasons a caller may decide on, found with errors.Is.
var (
	// ErrInvalid: a name, path, id or mode that git would not accept.
	ErrInvalid = errors.New("not valid")
	// ErrNotFound: no such reference, revision or path.
	ErrNotFound = errors.New("not found")
	// ErrNoObject: an object id that is not in the repository.
	ErrNoObject = errors.New("object does not exist")
	// ErrWrongType: the object exists and is of another type, as a branch that would point at a
	// blob.
	ErrWrongType = errors.New("object is of the wrong type")
	// ErrExists: the reference is there already.
	ErrExists = errors.New("reference already exists")
	// ErrConflict: a reference is not what the caller said it was, or its name is taken by a folder
	// of names.
	ErrConflict = errors.New("reference changed meanwhile")
	// ErrNotFastForward: the new commit does not contain the old one.
	ErrNotFastForward = errors.New("not a fast-forward")
	// ErrMergeConflict: the two sides cannot be merged by git alone.
	ErrMergeConflict = errors.New("merge conflict")
)

// A Repo is a bare repository in Dir. It holds no state of its own and may be used by many
// goroutines.
type Repo struct{ Dir string }

// Open returns the repository in dir, which Init made earlier.
func Open(dir string) *Repo { return &Repo{Dir: dir} }

// Init makes a bare repository in dir, which it creates, with HEAD on defaultBranch and one empty
// commit there.
func Init(dir, defaultBranch string) (*Repo, error) {
	branch := "refs/heads/" + defaultBranch
	if err := checkRef(branch); err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	if err := plant(dir, branch); err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}

	return Open(dir), nil
}

// A call is one run of git in the repository.
type call struct {
	args  []string
	stdin []byte
	env   []string
}

// A gitError is a run of git that ended with a status other than 0.
type gitError struct {
	command string
	status  int
	stderr  string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: exit status %d: %s", e.command, e.status, e.stderr)
}

// git runs one command and returns its standard output, also beside a *gitError.
func (r *Repo) git(ctx context.Context, c call) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", c.args...)
	cmd.Dir = r.Dir
	cmd.Env = append(environment(), c.env...)
	cmd.Stdin = bytes.NewReader(c.stdin)
	cmd.WaitDelay = 10 * time.Second // a busy machine is slow to hand over what was printed
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: %w", c.args[0], ctx.Err())
	case errors.As(err, &exit):
		text := strings.TrimSpace(stderr.String())
		return stdout.Bytes(), &gitError{command: c.args[0], status: exit.ExitCode(), stderr: text}
	}

	return nil, fmt.Errorf("git %s: %w", c.args[0], err)
}

// environment is all that git inherits: nothing of the user's.
func environment() []string {
	return []string{
		"GIT_DIR=.",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=GitHub", "GIT_AUTHOR_EMAIL=noreply@github.com",
		"GIT_COMMITTER_NAME=GitHub", "GIT_COMMITTER_EMAIL=noreply@github.com",
		"LC_ALL=C",
	}
}

// line is one answer of git without its line break.
func line(out []byte) string { return strings.TrimRight(string(out), "\n") }
