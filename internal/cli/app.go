// Package cli is the command line program label-state: its commands, its help, its answers as text
// and as JSON, and what its exit codes and hints say about an error.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

// A Terminal is what a command talks to.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	Env setup.Environment

	Typed    []string                      // the command line, program first, for hints that say to run it again
	Build    setup.Build                   // of the program
	Commands func(Terminal) []*cli.Command // all there are, in the order of the help

	told *bool // standard output has an answer, or is another program's

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
	t.told = new(bool)
	app := NewApp(t)

	arranged, err := Arrange(app.Commands, args)
	if err == nil {
		err = app.RunContext(ctx, arranged)
	}

	return t.answerWrong(args, err)
}

// answerWrong answers in JSON, where that was asked for, to a call that failed before its command
// could.
func (t Terminal) answerWrong(args []string, err error) error {
	if err == nil || *t.told || !asksJSON(args) {
		return err
	}
	p := ProblemOf(err)
	a := p.Answer("")
	a.Error, a.Next = OneLine(a.Error), t.Resolve(a.Next)

	return errors.Join(err, t.write(a))
}

// asksJSON reports whether a command line has --json, wherever it stands.
func asksJSON(args []string) bool {
	for _, word := range args {
		if word == "--" {
			return false
		}
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		on, err := strconv.ParseBool(value)
		if IsFlag(word) && name == "json" && (!given || on && err == nil) {
			return true
		}
	}

	return false
}

// write prints a value as one line of JSON, with nothing in it that does not show.
func (t Terminal) write(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}

	_, err := t.Out.Write(printable.JSON(text.Bytes()))
	return err
}

// NewApp makes the program. The library neither prints help nor exits: help texts, usage errors and
// exit codes are ours.
func NewApp(t Terminal) *cli.App {
	if t.Env.Waiting == nil {
		t.Env.Waiting = setup.Waits(func(text string) { fmt.Fprintf(t.Err, "label-state: %s\n", OneLine(text)) })
	}

	app := &cli.App{
		Name:            "label-state",
		HelpName:        "label-state",
		Version:         t.Build.Version,
		Commands:        t.Commands(t),
		HideHelp:        true,
		HideHelpCommand: true,
		HideVersion:     true,
		Writer:          t.Out,
		ErrWriter:       t.Err,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    usage,
	}
	app.Action = func(cc *cli.Context) error { return t.help(cc.App, nil) }

	for _, c := range app.Commands {
		t.prepare(c, nil)
	}

	return app
}

// prepare gives a command what all commands have. A word that needs another one prints its help.
func (t Terminal) prepare(c *cli.Command, above []string) {
	c.HideHelp, c.OnUsageError = true, usage
	path := append(slices.Clone(above), c.Name)
	for _, sub := range c.Subcommands {
		t.prepare(sub, path)
	}

	if len(c.Subcommands) > 0 {
		c.Action = func(cc *cli.Context) error { return t.help(cc.App, path) }
	}

	if do := c.Action; slices.ContainsFunc(c.Flags,
		func(f cli.Flag) bool { return slices.Contains(f.Names(), "codename") }) {
		c.Action = func(cc *cli.Context) error {
			if err := t.refuseNobody(cc); err != nil {
				return err
			}
			return do(cc)
		}
	}
}

// usage takes over what the library has to say about a command line.
func usage(cc *cli.Context, err error, _ bool) error {
	return Usagef(CommandPath(cc), "%s", strings.TrimPrefix(err.Error(), "flag provided but not defined: "))
}

// CommandPath is the command as it was typed after the program's name: "repo pause".
func CommandPath(cc *cli.Context) string {
	return strings.TrimSpace(strings.TrimPrefix(cc.Command.HelpName, cc.App.HelpName))
}

// Live reports whether a person sits at both ends.
func (t Terminal) Live(cc *cli.Context) bool {
	in, typed := t.In.(io.Writer) // a file; only its descriptor is looked at
	return !cc.Bool("json") && typed && t.Env.IsTerminal(in) && t.Env.IsTerminal(t.Out)
}

// Binary is the path of a program of that name in a folder, as this system names programs.
func Binary(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}
