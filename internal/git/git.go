// Package git is the one way to run the git program, and the one way to find a git directory.
//
// A clone is somebody else's files. Git takes programs to run from configuration, and trusts the
// configuration of the repository it finds: that of a clone, which the user wrote, since a clone
// copies none, but also that of a bare repository which lies in the clone as ordinary files. So no
// run uses such a repository, and a question about a repository starts no program of its
// configuration at all (docs/decisions/2026-11-22-hostile-repositories.md).
package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/printable"
)

// A Git is the installed git, in a folder. Dir is required.
type Git struct {
	Dir  string   // where it runs, absolute
	Env  []string // all of its environment, NAME=value; the last one of a name counts
	Repo string   // git directory to use; empty has git find it from GIT_DIR or Dir
	Path string   // of the program; empty looks for git on PATH
	Exec Exec     // starts it; nil starts a process
}

// An Exec runs one command to its end and returns what it printed. A process that ended with
// another exit code than 0 is an error with an *exec.ExitError in it.
type Exec func(context.Context, Command) (stdout []byte, err error)

// A Command is one run of git.
type Command struct {
	Dir   string
	Args  []string // all of them, with options of git's own in front
	Env   []string // NAME=value, besides the environment that the Git has
	Stdin string

	wait time.Duration // how long it may take to end when it is told to
}

// An Error is a git that ended otherwise than with an answer.
type Error struct {
	Repository string // the git directory it was to use, else the folder it ran in
	Operation  string // the first word of the command: fetch
	Code       int    // exit code; 0 when Err says why there is none
	Said       string // git's own cause, one line, without a final dot; may be empty
	Err        error  // what kept git from ending by itself
}

func (e *Error) Error() string {
	text := "git " + e.Operation + " in " + e.Repository
	switch {
	case e.Err != nil:
		return text + ": " + e.Err.Error()
	case e.Said != "":
		return text + ": " + e.Said
	}

	return fmt.Sprintf("%s: exit code %d", text, e.Code)
}

// Unwrap returns what kept git from ending by itself.
func (e *Error) Unwrap() error { return e.Err }

// Code returns the exit code by which git said no, 0 for every other error and for none.
func Code(err error) int {
	if e, is := errors.AsType[*Error](err); is {
		return e.Code
	}
	return 0
}

// No reports whether git answered no, rather than that it could not find out.
func No(err error) bool {
	code := Code(err)
	return code > 0 && code < 128
}

// Ask has git answer a question from the repository alone, without its last line break. No program
// of the configuration starts: no hook that watches files, and none that fetches. The error is an
// *Error, or what Find says of an embedded repository.
func (g Git) Ask(ctx context.Context, args ...string) (string, error) {
	return g.Feed(ctx, "", args...)
}

// Status are the arguments by which git status shows new files and changed submodules also where
// the configuration leaves them out. It does not show what git ignores, or was told in the index
// not to look at.
func Status() []string {
	return []string{"status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none"}
}

// Feed is Ask with input.
func (g Git) Feed(ctx context.Context, stdin string, args ...string) (string, error) {
	return g.answer(ctx, Command{Stdin: stdin, Env: append(quiet(), alone()...), wait: time.Second},
		append([]string{"-c", "core.fsmonitor=false"}, args...))
}

// Do has git do something for which it may need remotes, hooks or filters of the user's. It asks
// nobody for anything, and a signal from the terminal does not reach it: it is stopped by ctx, and
// then tidies up first.
func (g Git) Do(ctx context.Context, args ...string) (string, error) {
	return g.answer(ctx, Command{Env: quiet(), wait: tidyTime}, args)
}

// Help has git's credential helpers answer; what is typed into them is stdin.
func (g Git) Help(ctx context.Context, stdin string, args ...string) (string, error) {
	return g.answer(ctx, Command{Stdin: stdin, Env: append(quiet(), "GCM_INTERACTIVE=never"), wait: time.Second},
		append([]string{"-c", "credential.interactive=false"}, args...))
}

// Talk is Do in front of the user, who may be asked for passwords and reads on said what git has to
// say. The error is nil when git ended with an exit code.
func (g Git) Talk(ctx context.Context, said io.Writer, args ...string) (out string, code int, err error) {
	whole, err := g.args(args)
	if err != nil {
		return "", -1, err
	}

	cmd := g.process(ctx, Command{Dir: g.Dir, Args: whole, wait: time.Second})
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, &stdout, said
	cmd.Cancel = func() error { return stop(cmd) }
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.String(), 0, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return stdout.String(), exit.ExitCode(), nil
	}

	return stdout.String(), -1, g.worded(args, err, "")
}

// Stream is Feed for an answer that is too long to be kept: parse reads it while git prints it. The
// error of parse counts, unless it is io.ErrUnexpectedEOF of an answer that git has cut off.
func (g Git) Stream(ctx context.Context, stdin string, args []string, parse func(*bufio.Reader) error) error {
	whole, err := g.args(append([]string{"-c", "core.fsmonitor=false"}, args...))
	if err != nil {
		return err
	}

	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := g.process(running, Command{
		Dir:   g.Dir,
		Args:  whole,
		Env:   append(quiet(), append(alone(), "GIT_FLUSH=0")...), // whole blocks, not record by record
		Stdin: stdin,
		wait:  time.Second,
	})
	var said bytes.Buffer
	cmd.Stderr = &said

	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}

	if err == nil {
		err = parse(bufio.NewReaderSize(out, 64<<10))
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			stop() // it may have more to print
			_ = cmd.Wait()
		} else {
			err = cmp.Or(cmd.Wait(), err)
		}
	}

	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = ctx.Err()
	}

	return g.worded(args, err, said.String())
}

// answer runs a command to its end.
func (g Git) answer(ctx context.Context, c Command, args []string) (string, error) {
	whole, err := g.args(args)
	if err != nil {
		return "", err
	}

	c.Dir, c.Args = g.Dir, whole
	var said bytes.Buffer
	run := g.Exec
	if run == nil {
		run = func(ctx context.Context, c Command) ([]byte, error) {
			cmd := g.process(ctx, c)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			apart(cmd)
			err := cmd.Run()
			return out.Bytes(), err
		}
	}

	out, err := run(ctx, c)
	switch {
	case err == nil:
		return strings.TrimSuffix(string(out), "\n"), nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}

	return "", g.worded(args, err, said.String())
}

// tidyTime is how long a git that was told to stop may take to remove what it has half made.
const tidyTime = 10 * time.Second

// errNoGit: neither GIT_EXEC_PATH nor PATH leads to a git.
var errNoGit = errors.New("find git: not in GIT_EXEC_PATH or PATH")

// Locate sets Path to the git that started the program, if one did, else to the first on Env's
// PATH. Relative folders do not count: they may be in the clone.
func (g *Git) Locate() error {
	dirs := append([]string{g.Getenv("GIT_EXEC_PATH")}, filepath.SplitList(g.Getenv("PATH"))...)
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, "git")); err == nil {
			g.Path = path
			return nil
		}
	}

	return errNoGit
}

// process prepares the command, which has been looked at by args.
func (g Git) process(ctx context.Context, c Command) *exec.Cmd {
	path := g.Path
	if path == "" {
		path = "git"
	}

	cmd := exec.CommandContext(ctx, path, c.Args...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = c.Dir, strings.NewReader(c.Stdin), c.wait
	cmd.Env = append(g.Env[:len(g.Env):len(g.Env)], c.Env...)
	return cmd
}

// args is the whole command line, or the reason why git must not run here.
func (g Git) args(args []string) ([]string, error) {
	if g.Repo != "" {
		return append([]string{"-c", refuseBare, "--git-dir=" + g.Repo}, args...), nil
	}
	place, err := Find(g.Dir, g.Getenv("GIT_DIR"))
	if e, is := errors.AsType[*EmbeddedError](err); is {
		return nil, e
	}
	if place.Bare {
		return args, nil // it was looked at; the user's own safe.bareRepository still counts
	}

	return append([]string{"-c", refuseBare}, args...), nil
}

// refuseBare has git itself refuse what Find refuses (git-config(1), since 2.38), and whatever
// programs it starts as well.
const refuseBare = "safe.bareRepository=explicit"

// Getenv returns a variable of Env, empty when it is not set.
func (g Git) Getenv(name string) string {
	for _, kv := range slices.Backward(g.Env) {
		if key, value, ok := strings.Cut(kv, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// quiet has git speak its own language to us, and ask nobody.
func quiet() []string {
	return []string{
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"SSH_ASKPASS_REQUIRE=never",
	}
}

// alone keeps git from fetching what a partial clone left out: that would start what the remote's
// configuration names.
func alone() []string { return []string{"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"} }

// Elsewhere is an environment without what would point git at another repository than the one it is
// run in ("git rev-parse --local-env-vars").
func Elsewhere(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES",
			"GIT_PREFIX", "GIT_NAMESPACE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_INTERNAL_SUPER_PREFIX",
			"GIT_IMPLICIT_WORK_TREE",
			"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE":
			return true
		}

		return false
	})
}

// worded is the error of a run that ended with err, after it said something.
func (g Git) worded(args []string, err error, said string) error {
	e := &Error{Repository: cmp.Or(g.Repo, g.Dir), Operation: operation(args)}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() <= 0 {
		e.Err = err
		return e
	}

	e.Code = exit.ExitCode()
	e.Said = cause(said)
	return e
}

// operation is the first word of a command that is not an option.
func operation(args []string) string {
	for n := 0; n < len(args); n++ {
		if args[n] == "-c" {
			n++
			continue
		}
		if !strings.HasPrefix(args[n], "-") {
			return args[n]
		}
	}

	return ""
}

// cause is the line that says what went wrong, of what git and the programs started by it said: the
// first error, or the line before it when that error only says that a program of git's had one. It
// has no final dot, and is empty if they said nothing.
func cause(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}

	if len(lines) == 0 {
		return ""
	}

	at := slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ")
	})

	if at < 0 {
		at = len(lines) - 1
	} else if at > 0 && strings.HasPrefix(lines[at], "fatal: Could not read from remote repository") {
		at--
	}

	line := strings.TrimPrefix(strings.TrimPrefix(lines[at], "fatal: "), "error: ")
	return strings.TrimSuffix(printable.Short(line, 300), ".")
}
