package cli

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// An option is a parameter as an option of the library's, which reads its value into the verb's
// struct.
type option struct {
	Param
	wrong *error // where what is wrong with a value is kept; the library would make a text of it
}

// Set reads a value.
func (o option) Set(text string) error {
	err := o.Param.Set(text)
	if err != nil {
		*o.wrong = fmt.Errorf("--%s %w", o.Name, err)
	}

	return err
}

// Apply makes it known to the library. Its short form has been replaced already.
func (o option) Apply(set *flag.FlagSet) error {
	set.Var(o, o.Name, "")
	return nil
}

// String is empty: there is no default to show.
func (o option) String() string { return "" }

// IsBoolFlag reports whether the option stands alone.
func (o option) IsBoolFlag() bool { return !o.TakesValue() }

// IsSet reports whether it was given.
func (o option) IsSet() bool { return o.Given() }

// What the manual page asks.
func (o option) IsVisible() bool        { return true }
func (o option) GetUsage() string       { return o.Text }
func (o option) GetValue() string       { return "" }
func (o option) GetDefaultText() string { return "" }
func (o option) GetEnvVars() []string   { return nil }

// NewApp is the program for the library, which calls do with the verb that a command line names and
// with its parameters. It neither prints help nor exits: help, wrong calls and exit codes are ours.
func (t Terminal) NewApp(do func(Verb, any) error) *cli.App {
	app := &cli.App{
		Name:            program,
		HelpName:        program,
		Version:         t.Build.Version,
		HideHelp:        true,
		HideHelpCommand: true,
		HideVersion:     true,
		Writer:          io.Discard,
		ErrWriter:       io.Discard,
		ExitErrHandler:  func(*cli.Context, error) {},
	}

	for _, v := range t.Verbs {
		above, name, nested := strings.Cut(v.Name, " ")
		if nested {
			group := app.Command(above)
			group.Subcommands = append(group.Subcommands, v.command(name, do))
		} else {
			app.Commands = append(app.Commands, v.command(v.Name, do))
		}
	}

	return app
}

// command is the verb for the library.
func (v Verb) command(name string, do func(Verb, any) error) *cli.Command {
	c := &cli.Command{
		Name:      name,
		Usage:     v.Summary,
		UsageText: v.Examples,
		Category:  v.Group,
		HideHelp:  true,
	}
	if v.Alias != "" {
		c.Aliases = []string{v.Alias}
	}

	if v.do == nil {
		return c
	}

	params, wrong := v.params(), error(nil)
	for _, p := range Params(params) {
		if p.Arg == "" {
			c.Flags = append(c.Flags, option{p, &wrong})
		}
	}

	c.OnUsageError = func(cc *cli.Context, err error, _ bool) error {
		return Usagef(v.Name, "%s", cmp.Or(wrong, err))
	}
	c.Action = func(cc *cli.Context) error {
		if err := v.arguments(params, cc.Args().Slice()); err != nil {
			return err
		}
		return do(v, params)
	}

	return c
}
