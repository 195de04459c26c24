package local

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// Each asks the program itself at every completion, so that it cannot go stale.
var (
	//go:embed completion/bash
	bashCompletion string
	//go:embed completion/zsh
	zshCompletion string
	//go:embed completion/fish
	fishCompletion string
)

// A shell is what completes: its script, and how a word and what it means are one line for it.
type shell struct {
	script string
	line   func(word, means string) string
}

func shells() map[string]shell {
	return map[string]shell{
		"bash": {bashCompletion, func(word, _ string) string { return word }},
		"zsh": {zshCompletion, func(word, means string) string {
			return strings.ReplaceAll(word, ":", `\:`) + ":" +
				means
		}},
		"fish": {fishCompletion, func(word, means string) string { return word + "\t" + means }},
	}
}

// NewCompletionCommand makes the command completion.
func NewCompletionCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "completion",
		Usage:     "complete commands and options in a shell",
		ArgsUsage: "bash|zsh|fish [-- WORD...]",
		Description: "Prints a script for the shell. Behind -- it prints what could complete the last of the words; the script asks so.\n\n" +
			"   source <(label-state completion bash)\n   label-state completion fish | source",
		Action: func(cc *urfave.Context) error { return runCompletion(t, cc) },
	}
}

func runCompletion(t cli.Terminal, cc *urfave.Context) error {
	args := cc.Args().Slice()
	if len(args) == 0 {
		return cli.Usagef("completion", "completion: want bash, zsh or fish")
	}

	sh, known := shells()[args[0]]
	switch {
	case !known:
		return cli.Usagef("completion", "completion %q: want one of %s", cli.OneLine(args[0]),
			strings.Join(slices.Sorted(maps.Keys(shells())), ", "))
	case len(args) == 1:
		_, err := fmt.Fprint(t.Out, sh.script)
		return err
	case args[1] != "--" || len(args) == 2:
		return cli.Usagef("completion", "completion: words to complete stand behind --")
	}

	for _, row := range suggest(cc.App.Commands, args[2:]) {
		if _, err := fmt.Fprintln(t.Out, sh.line(row[0], cli.OneLine(row[1]))); err != nil {
			return err
		}
	}

	return nil
}

// suggest returns what could stand for the last word of a command line, with its meaning. Nothing
// means that it is not ours to say: a file, an issue, another program's words.
func suggest(commands []*urfave.Command, words []string) [][2]string {
	before, current := words[:len(words)-1], words[len(words)-1]
	if slices.Contains(before, "--") {
		return nil
	}

	if len(before) > 0 && before[0] == "help" {
		before = before[1:]
	}
	at := cli.Descend(commands, before)
	if n := len(at.Rest); n > 0 && cli.IsFlag(at.Rest[n-1]) {
		f := cli.FlagOf(at.Flags, at.Rest[n-1])
		if f != nil && cli.TakesValue(f) && !strings.Contains(at.Rest[n-1], "=") {
			return nil // the word is this option's value
		}
	}

	var rows [][2]string
	switch {
	case strings.HasPrefix(current, "-"):
		for _, f := range at.Flags {
			if doc, ok := f.(urfave.DocGenerationFlag); ok {
				_, usage := cli.Unquoted(doc)
				rows = append(rows, [2]string{cli.Dashed(f.Names()[0]), usage})
			}
		}

		rows = append(rows, [2]string{"--help", "what the command does"})

	case at.Stray == "":
		for _, c := range at.Known {
			rows = append(rows, [2]string{c.Name, c.Usage})
		}
	}

	return slices.DeleteFunc(rows, func(row [2]string) bool { return !strings.HasPrefix(row[0], current) })
}
