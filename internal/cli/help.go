package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// HelpWidth is how many columns a help text uses at most.
const HelpWidth = 80

type helpParams struct {
	All      bool     `flag:"all" text:"show every option, with what it means, as COMMAND --help-all does"`
	Commands []string `arg:"[COMMAND]..."`
}

// Help is the verb help.
func Help() Verb {
	return Do(Verb{Name: helpVerb, Summary: "print the help of a command, or of a group of commands"}, showHelp)
}

// A page is a help text.
type page struct {
	Title    string
	Usage    []string
	About    string // paragraphs
	Examples string
	Tables   []table
	Last     string // lines
}

// A table is names and what they mean, side by side.
type table struct {
	Heading string
	Rows    [][2]string
}

// Width is that of the names.
func (t table) Width() (width int) {
	for _, row := range t.Rows {
		width = max(width, len(row[0]))
	}
	return width
}

const helpPage = `{{.Title}}
{{range $n, $line := .Usage}}{{if $n}}       {{else}}USAGE: {{end}}{{$line}}
{{end}}{{if .About}}
{{.About}}
{{end}}{{if .Examples}}
EXAMPLES:
{{indent 3 .Examples}}
{{end}}{{range $t := .Tables}}{{if .Rows}}
{{.Heading}}:
{{range .Rows}}   {{printf "%-*s" $t.Width (index . 0)}}  {{index . 1}}
{{end}}{{end}}{{end}}{{if .Last}}
{{.Last}}
{{end}}`

// showHelp prints the help of the program, of a group of commands, or of a command.
func showHelp(_ context.Context, c *Call, p *helpParams) error {
	t := c.Terminal
	shown := t.overview()
	family := slices.DeleteFunc(t.below(""), func(v Verb) bool { return p.Commands == nil || v.Group != p.Commands[0] })
	at := t.descend(p.Commands)
	switch {
	case p.Commands == nil:
	case len(p.Commands) == 1 && len(family) > 0:
		shown = page{Title: program + " help " + p.Commands[0], Tables: []table{{"COMMANDS", summaries(family)}}}
		shown.Last = "More about each: " + program + " COMMAND --help"
	case at.stray != "":
		return unknownCommand(at.below, at.verb.Name, at.stray)
	default:
		shown = t.pageOf(at.verb, p.All)
	}

	var text strings.Builder
	cli.HelpPrinterCustom(&text, helpPage, shown, nil)
	width := c.Env.Width(c.Out)
	if width <= 0 || width > HelpWidth {
		width = HelpWidth
	}

	return c.Answer(nil, Wrap(text.String(), width))
}

// overview is the help of the program, at most 24 lines: what to begin with, for which there is
// room for eight commands at most, and which commands there are.
func (t Terminal) overview() page {
	first, all := table{Heading: "GETTING STARTED"}, table{Heading: "ALL COMMANDS, BY GROUP"}
	for _, name := range []string{"demo", "init", "doctor", "next", "claim", "run", "status", "board"} {
		first.Rows = append(first.Rows, [2]string{name, t.descend([]string{name}).verb.Summary})
	}

	for _, v := range t.below("") {
		last := len(all.Rows) - 1
		if last < 0 || all.Rows[last][0] != v.Group {
			all.Rows = append(all.Rows, [2]string{v.Group, v.Name})
		} else {
			all.Rows[last][1] += ", " + v.Name
		}
	}

	return page{
		Title:  program + ": nobody does the same issue twice",
		Usage:  []string{program + " COMMAND [options] [arguments]"},
		Tables: []table{first, all},
		Last: "More: label-state COMMAND --help, label-state help GROUP\n" +
			"Exit: 0 yes, 1 no, 2 called or set up wrongly, 3 could not find out, 4 no work",
	}
}

// pageOf is the help of a verb. The options that are advanced, and what the common ones mean, are
// there with all.
func (t Terminal) pageOf(v Verb, all bool) page {
	out := page{
		Title:    program + " " + v.Name + ": " + v.Summary,
		Usage:    []string{program + " " + v.Usage()},
		About:    v.About,
		Examples: strings.TrimSuffix(v.Examples, "\n"),
	}

	if v.Alias != "" {
		out.Usage = append(out.Usage, strings.Replace(out.Usage[0], v.Name, v.Alias, 1))
	}

	if v.do == nil {
		out.Tables = []table{{"COMMANDS", summaries(t.below(v.Name))}}
		out.Last = "More about each: " + program + " " + v.Name + " COMMAND --help"
		return out
	}

	own, common, more := table{Heading: "OPTIONS"}, table{Heading: "COMMON OPTIONS"}, ""
	for _, p := range v.Params() {
		row := p.Row()
		switch {
		case p.Arg != "" && row[1] == "": // its name says it
		case p.Show == "common":
			common.Rows = append(common.Rows, row)
		case p.Show == "all" && !all:
			more = " and more options"
		default:
			own.Rows = append(own.Rows, row)
		}
	}

	out.Tables = []table{own}
	switch {
	case all:
		out.Tables = append(out.Tables, common)
	case len(common.Rows)+len(more) > 0:
		var names []string
		for _, p := range v.Params() {
			if p.Show == "common" {
				names = append(names, "--"+p.Name)
			}
		}
		out.Last = "Common: " + strings.Join(names, ", ") + "\nWhat they mean" + more + ": " + program + " " +
			v.Name + " --help-all"
	}

	return out
}

func summaries(verbs []Verb) (rows [][2]string) {
	for _, v := range verbs {
		words := v.Words()
		name := words[len(words)-1]
		if v.Alias != "" {
			name += ", " + v.Alias
		}
		rows = append(rows, [2]string{name, v.Summary})
	}

	return rows
}

// Row is how a parameter is typed, and what it means.
func (p Param) Row() [2]string {
	name, means := strings.Trim(p.Arg, "[]."), p.Text
	if p.Arg == "" {
		name = strings.TrimSpace("--" + p.Name + " " + p.Value)
		if p.Short != "" {
			name = "-" + p.Short + ", " + name
		}
	}

	if p.Only != nil && !p.Open {
		means = strings.TrimPrefix(means+": "+strings.Join(p.Only, ", "), ": ")
	}

	return [2]string{name, means}
}
