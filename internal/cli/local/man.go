package local

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// NewManCommand makes the command man.
func NewManCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "man", Usage: "print the manual page, for man(1)",
		Description: "   label-state man | man -l -\n   label-state man > /usr/local/share/man/man1/label-state.1",
		Action: func(cc *urfave.Context) error {
			if cc.Args().Present() {
				return cli.Usagef("man", "man takes no arguments; there is one page for all commands")
			}
			_, err := io.WriteString(t.Out, ManPage(cc.App))
			return err
		},
	}
}

// ManPage is the whole program as one page for troff -man, made from the same texts as the help.
func ManPage(app *urfave.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH LABEL-STATE 1 \"\" \"label-state %s\" \"label-state\"\n", Troff(app.Version))
	b.WriteString(".SH NAME\nlabel-state \\- nobody does the same issue twice\n")
	b.WriteString(".SH SYNOPSIS\n.B label-state\n.I COMMAND\n[options] [arguments]\n")
	b.WriteString(".SH DESCRIPTION\nCoding agents and people share one GitHub issue tracker. label\\-state lets any of them claim an issue, shows " +
		"who holds it, and releases it when its holder is gone. Options may stand anywhere on a command line.\n")
	b.WriteString(".SH COMMANDS\n")
	manCommands(&b, app.Commands, []string{app.Name})
	b.WriteString(".SH COMMON OPTIONS\nMost commands have these.\n")
	_, shared := cli.FlagRows(cli.RepoFlags())
	manRows(&b, shared)
	b.WriteString(".SH EXIT STATUS\n")
	manRows(&b, [][2]string{
		{"0", "yes: free, won, done"},
		{"1", "no: held, lost, refused"},
		{"2", "called wrongly, or a bad configuration"},
		{"3", "could not find out: offline, rate limited, no permission"},
		{"4", "no work"},
	})
	b.WriteString(".SH SEE ALSO\n.BR git (1),\n.BR githooks (5)\n")
	return b.String()
}

// manCommands writes a part for each command that does something.
func manCommands(b *strings.Builder, commands []*urfave.Command, above []string) {
	for _, c := range commands {
		path := append(slices.Clone(above), c.Name)
		if len(c.Subcommands) > 0 {
			manCommands(b, c.Subcommands, path)
			continue
		}
		fmt.Fprintf(b, ".SS %s\n%s.\n", Troff(cli.UsageLine(c, strings.Join(path, " "))), Troff(c.Usage))
		about, examples := cli.Parts(c.Description)
		for paragraph := range strings.SplitSeq(strings.TrimSpace(about), "\n\n") {
			if paragraph != "" {
				fmt.Fprintf(b, ".PP\n%s\n", Troff(strings.Join(strings.Fields(paragraph), " ")))
			}
		}
		own, _ := cli.FlagRows(c.Flags)
		manRows(b, own)
		if examples != "" {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", Troff(strings.TrimRight(examples, "\n")))
		}
	}
}

func manRows(b *strings.Builder, rows [][2]string) {
	for _, row := range rows {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", Troff(row[0]), Troff(row[1]))
	}
}

// Troff takes its meaning from whatever troff would obey: backslashes, hyphens that are minus signs,
// and dots and quotes at the start of a line; and names the characters that it reads as bytes.
func Troff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	var b strings.Builder
	for _, r := range strings.Join(lines, "\n") {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
