package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// HelpWidth is how many columns a help text uses.
const HelpWidth = 80

// NewHelpCommand makes the command help.
func NewHelpCommand(t Terminal) *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "print the help of a command",
		ArgsUsage: "[COMMAND]...",
		Action:    func(cc *cli.Context) error { return t.help(cc.App, cc.Args().Slice()) },
	}
}

// toBeginWith are the commands that the help of the program explains; it has no room for more than
// eight.
var toBeginWith = [8]string{"demo", "init", "doctor", "next", "claim", "run", "status", "board"}

// help prints the help of the command that path leads to, or of a group of commands. That of the
// program is at most 24 lines of 80 columns: what to begin with, and which commands there are.
func (t Terminal) help(app *cli.App, path []string) error {
	if len(path) == 0 {
		var first, rows [][2]string
		for _, name := range toBeginWith {
			first = append(first, [2]string{name, FindCommand(app.Commands, name).Usage})
		}

		var families []string
		for _, c := range app.Commands {
			if !slices.Contains(families, c.Category) {
				families = append(families, c.Category)
				rows = append(rows, [2]string{c.Category, ""})
			}
			row := &rows[slices.Index(families, c.Category)]
			row[1] = strings.TrimPrefix(row[1]+", "+c.Name, ", ")
		}

		_, err := io.WriteString(t.Out, app.Name+": nobody does the same issue twice\n\n"+
			"USAGE: label-state COMMAND [options] [arguments]\n\n"+
			"TO BEGIN WITH:\n"+columns(first)+"\n"+
			"ALL COMMANDS, BY GROUP:\n"+columns(rows)+"\n"+
			"More: label-state COMMAND --help, label-state help GROUP\n"+
			"Exit: 0 yes, 1 no, 2 called or set up wrongly, 3 could not find out, 4 no work\n")

		return err
	}

	family := slices.DeleteFunc(slices.Clone(app.Commands), func(c *cli.Command) bool { return c.Category != path[0] })
	if len(path) == 1 && len(family) > 0 {
		_, err := fmt.Fprintf(t.Out, "%s help %s\n\nCOMMANDS:\n%s\nMore about each: %s COMMAND --help\n", app.Name,
			path[0], commandRows(family), app.Name)
		return err
	}

	known, text := app.Commands, ""
	for n, name := range path {
		c := FindCommand(known, name)
		if c == nil {
			return unknownCommand(known, strings.Join(path[:n], " "), name)
		}
		known, text = c.Subcommands, commandHelp(c, append([]string{app.Name}, path[:n]...))
	}

	_, err := io.WriteString(t.Out, text)
	return err
}

func commandHelp(c *cli.Command, above []string) string {
	var b strings.Builder
	name := strings.Join(append(slices.Clone(above), c.Name), " ")
	fmt.Fprintf(&b, "%s: %s\n\nUSAGE:\n   %s\n", name, c.Usage, UsageLine(c, name))

	for _, alias := range c.Aliases {
		fmt.Fprintf(&b, "   %s\n", UsageLine(c, strings.Join(append(slices.Clone(above), alias), " ")))
	}
	about, examples := Parts(c.Description)
	b.WriteString(about)
	if examples != "" {
		b.WriteString("\nEXAMPLES:\n" + examples)
	}

	if len(c.Subcommands) > 0 {
		b.WriteString("\nCOMMANDS:\n" + commandRows(c.Subcommands) + "\nMore about each: " + name + " COMMAND --help\n")
	}
	own, shared := FlagRows(c.Flags)
	if len(own) > 0 {
		b.WriteString("\nOPTIONS:\n" + columns(own))
	}

	if len(shared) > 0 {
		b.WriteString("\nCOMMON OPTIONS:\n" + columns(shared))
	}

	return b.String()
}

// UsageLine is how a command is typed: its name, options, and arguments.
func UsageLine(c *cli.Command, name string) string {
	if len(c.Subcommands) > 0 {
		return name + " COMMAND [options]"
	}
	if len(c.Flags) > 0 {
		name += " [options]"
	}

	return strings.TrimSpace(name + " " + c.ArgsUsage)
}

// Parts splits a description into its paragraphs, filled and each behind an empty line, and its
// examples: lines that are indented.
func Parts(description string) (about, examples string) {
	for paragraph := range strings.SplitSeq(description, "\n\n") {
		if strings.HasPrefix(paragraph, "   ") {
			examples += paragraph + "\n"
		} else if paragraph != "" {
			about += "\n" + Fill(paragraph, 0, HelpWidth)
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

// FlagRows tells a command's own flags from those that all have.
func FlagRows(flags []cli.Flag) (own, shared [][2]string) {
	everywhere := RepoFlags()
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}

		var names []string
		for _, name := range slices.Backward(f.Names()) {
			names = append(names, Dashed(name))
		}

		placeholder, usage := Unquoted(doc)
		row := [2]string{strings.TrimSpace(strings.Join(names, ", ") + " " + placeholder), usage}
		if usual, ok := FlagOf(everywhere, f.Names()[0]).(cli.DocGenerationFlag); ok &&
			usual.GetUsage() == doc.GetUsage() {
			shared = append(shared, row)
		} else {
			own = append(own, row)
		}
	}

	return own, shared
}

// Unquoted takes the placeholder out of a usage text: the word in backquotes, as package flag has
// it.
func Unquoted(doc cli.DocGenerationFlag) (placeholder, usage string) {
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
		fmt.Fprintf(&b, "   %-*s  %s", width, r[0], Fill(r[1], width+5, HelpWidth))
	}

	return b.String()
}

// Fill breaks text into lines of at most width columns; all but the first are indented.
func Fill(text string, indent, width int) string {
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
