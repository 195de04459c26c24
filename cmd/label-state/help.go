package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// helpWidth is how many columns a help text uses.
const helpWidth = 80

func helpCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "print the help of a command", ArgsUsage: "[COMMAND]...",
		Action: func(cc *cli.Context) error { return t.help(cc.App, cc.Args().Slice()) },
	}
}

// manual is the action that prints the help of what is at path.
func (t terminal) manual(path []string) cli.ActionFunc {
	return func(cc *cli.Context) error { return t.help(cc.App, path) }
}

func (t terminal) help(app *cli.App, path []string) error {
	known, text := app.Commands, programHelp(app)
	for n, name := range path {
		c := find(known, name)
		if c == nil {
			return unknownCommand(known, strings.Join(path[:n], " "), name)
		}
		known, text = c.Subcommands, commandHelp(c, append([]string{app.Name}, path[:n]...))
	}
	_, err := io.WriteString(t.out, text)
	return err
}

func programHelp(app *cli.App) string {
	return app.Name + ": nobody does the same issue twice\n\n" +
		"USAGE:\n   label-state COMMAND [options] [arguments]\n\n" +
		"COMMANDS:\n" + commandRows(app.Commands) + "\n" +
		"EXAMPLES:\n" +
		"   label-state demo                                the whole story, no account\n" +
		"   label-state claim acme/app#7 --codename lucius  take an issue, as a worker\n" +
		"   label-state status acme/app#7                   who holds it, until when\n" +
		"   label-state board                               the same for all issues, in columns\n" +
		"   label-state hook install                        guard this clone's pushes\n\n" +
		"EXIT CODES:\n   0 yes   1 no   2 called or configured wrongly   3 could not find out   4 no work\n\n" +
		"Options may stand anywhere. More about a command: label-state COMMAND --help\n"
}

func commandHelp(c *cli.Command, above []string) string {
	var b strings.Builder
	name := strings.Join(append(slices.Clone(above), c.Name), " ")
	fmt.Fprintf(&b, "%s: %s\n\nUSAGE:\n   %s\n", name, c.Usage, usageLine(c, name))
	for _, alias := range c.Aliases {
		fmt.Fprintf(&b, "   %s\n", usageLine(c, strings.Join(append(slices.Clone(above), alias), " ")))
	}
	about, examples := parts(c.Description)
	b.WriteString(about)
	if examples != "" {
		b.WriteString("\nEXAMPLES:\n" + examples)
	}
	if len(c.Subcommands) > 0 {
		b.WriteString("\nCOMMANDS:\n" + commandRows(c.Subcommands) + "\nMore about each: " + name + " COMMAND --help\n")
	}
	own, shared := flagRows(c.Flags)
	if len(own) > 0 {
		b.WriteString("\nOPTIONS:\n" + columns(own))
	}
	if len(shared) > 0 {
		b.WriteString("\nCOMMON OPTIONS:\n" + columns(shared))
	}
	return b.String()
}

func usageLine(c *cli.Command, name string) string {
	if len(c.Subcommands) > 0 {
		return name + " COMMAND [options]"
	}
	if len(c.Flags) > 0 {
		name += " [options]"
	}
	return strings.TrimSpace(name + " " + c.ArgsUsage)
}

// parts splits a description into its paragraphs, filled and each behind an empty line, and its
// examples: lines that are indented.
func parts(description string) (about, examples string) {
	for paragraph := range strings.SplitSeq(description, "\n\n") {
		if strings.HasPrefix(paragraph, "   ") {
			examples += paragraph + "\n"
		} else if paragraph != "" {
			about += "\n" + fill(paragraph, 0, helpWidth)
		}
	}
	return about, examples
}

func commandRows(commands []*cli.Command) string {
	var rows [][2]string
	for _, c := range commands {
		rows = append(rows, [2]string{strings.Join(c.Names(), ", "), c.Usage})
	}
	return columns(rows)
}

// flagRows tells a command's own flags from those that all have.
func flagRows(flags []cli.Flag) (own, shared [][2]string) {
	everywhere := common()
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		placeholder, usage := unquoted(doc)
		row := [2]string{strings.TrimSpace(flagNames(f) + " " + placeholder), usage}
		if usual, ok := flagOf(everywhere, f.Names()[0]).(cli.DocGenerationFlag); ok && usual.GetUsage() == doc.GetUsage() {
			shared = append(shared, row)
		} else {
			own = append(own, row)
		}
	}
	return own, shared
}

func flagNames(f cli.Flag) string {
	names := slices.Clone(f.Names())
	slices.Reverse(names)
	for i, n := range names {
		names[i] = dashed(n)
	}
	return strings.Join(names, ", ")
}

// unquoted takes the placeholder out of a usage text: the word in backquotes, as package flag has it.
func unquoted(doc cli.DocGenerationFlag) (placeholder, usage string) {
	usage = doc.GetUsage()
	before, rest, quoted := strings.Cut(usage, "`")
	if word, after, closed := strings.Cut(rest, "`"); quoted && closed {
		return word, before + word + after
	}
	switch doc.(type) {
	case *cli.DurationFlag:
		return "DURATION", usage
	case *cli.BoolFlag:
		return "", usage
	}
	return "TEXT", usage
}

// columns lays out name and meaning side by side within helpWidth.
func columns(rows [][2]string) string {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "   %-*s  %s", width, r[0], fill(r[1], width+5, helpWidth))
	}
	return b.String()
}

// fill breaks text into lines of at most width columns; all but the first are indented.
func fill(text string, indent, width int) string {
	var b strings.Builder
	column := indent
	for n, word := range strings.Fields(text) {
		switch {
		case n > 0 && column+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		case n > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}
