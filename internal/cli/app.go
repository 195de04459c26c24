// Package cli is the command line program label-state: its table of verbs, its help, its answers as
// text and as JSON, and what its exit codes and hints say about an error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/setup"
)

// program is what this program is called.
const program = "label-state"

// A Terminal is what a verb talks to.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	Env setup.Environment

	Verbs []Verb      // all there are, in the order of the help; a group before its own
	Build setup.Build // of the program
	Typed []string    // the command line, program first, for hints that say to run it again

	Take   func(value any)             // takes answers in place of Out, as values; nil prints them
	Option func(name string) string    // how an option is called in errors; nil is as it is typed
	Same   func(answer.Command) string // words the call that failed, made once more; nil is as it was typed

	warnings *warnings // what the next answer says besides; nil where it is text

	ChildOut, ChildErr io.Writer // of the programs that it runs, whose output is their own; nil is out and err
}

// Run executes one command line, args with the program's name first, and returns the exit code
// (cli.md#exit-codes).
func Run(ctx context.Context, args []string, t Terminal) int {
	t.Typed, t.ChildOut, t.ChildErr = args, t.Out, t.Err
	t.Out, t.Err, t.Env.Stderr = t.Env.Logged(t.Out), t.Env.Logged(t.Err), t.Env.Logged(t.Env.Stderr)
	return Report(t, Execute(ctx, args, t))
}

// Execute is run without what is said about an error, and without the log.
func Execute(ctx context.Context, args []string, t Terminal) error {
	done := false
	err := t.Read(args[min(1, len(args)):], func(v Verb, params any) error {
		done = true
		return t.Do(ctx, v, params)
	})
	if err == nil || done || !asksJSON(args) {
		return err
	}

	return errors.Join(err, t.write(t.negative(ProblemOf(err), "")))
}

// Read finds the verb that a command line without the program's name is of, and hands it on with
// its parameters. The error is that of do, or a wrong call.
func (t Terminal) Read(words []string, do func(v Verb, params any) error) error {
	path, rest, err := t.arrange(words)
	if err != nil {
		return err
	}

	t.Verbs = slices.DeleteFunc(slices.Clone(t.Verbs), func(v Verb) bool { // the library is given no more than it needs
		return v.Name != path[0] && v.Name != strings.Join(path, " ")
	})

	return t.NewApp(do).Run(slices.Concat([]string{program}, path, rest))
}

// Do carries out a verb. Whatever goes wrong comes back as a problem, and has been answered in JSON
// if that was asked for.
func (t Terminal) Do(ctx context.Context, v Verb, params any) error {
	if t.Env.Waiting == nil {
		t.Env.Waiting = setup.Waits(func(text string) { fmt.Fprintf(t.Err, "label-state: %s\n", OneLine(text)) })
	}

	c := newCall(t, v, params)
	defer c.Close()
	if c.JSON || c.Take != nil {
		c.warnings = &warnings{}
	}

	if !v.Stays {
		timed, cancel := c.Deadline(ctx)
		defer cancel()
		ctx = timed
	}

	// A session that cannot be one would take the issue for the person whose token it is.
	if _, asks := find(v.Params(), "codename"); asks {
		if err := t.Env.CheckSession(); err != nil {
			return c.fail(ctx, err)
		}
	}

	return c.fail(ctx, v.do(ctx, c, params))
}

// Binary is the path of a program of that name in a folder, as this system names programs.
func Binary(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}
