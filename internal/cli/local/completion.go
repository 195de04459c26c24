package local

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/cli"
)

// completions are the scripts of the shells. Each asks the program itself at every completion, so
// that it cannot go stale.
//
//go:embed completion
var completions embed.FS

type completionParams struct {
	Shell string   `arg:"SHELL" only:"bash,zsh,fish,powershell"`
	Words []string `arg:"[-- WORD...]"`
}

// Completion prints the script of a shell, and what the script asks for.
func Completion() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "completion",
		Summary: "complete commands, options and values in a shell",
		About: "Prints a script for the shell. With WORD it prints the completions of the last word; the " +
			"script calls it that way.",
		Examples: "source <(label-state completion bash)\n" +
			"label-state completion fish | source\n" +
			"label-state completion powershell | Out-String | Invoke-Expression\n",
	}, complete)
}

func complete(_ context.Context, c *cli.Call, p *completionParams) error {
	if len(p.Words) == 0 {
		script, err := completions.ReadFile("completion/" + p.Shell)
		return errors.Join(err, c.Answer(nil, string(script)))
	}

	text := ""
	for _, row := range c.Suggest(p.Words) {
		word, means := row[0], cli.OneLine(row[1])
		switch p.Shell {
		case "bash":
			text += word + "\n"
		case "zsh":
			text += strings.ReplaceAll(word, ":", `\:`) + ":" + means + "\n"
		default:
			text += fmt.Sprintf("%s\t%s\n", word, means)
		}
	}

	return c.Answer(nil, text)
}
