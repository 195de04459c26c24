package local

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/cli"
)

// Each asks the program itself at every completion, so that it cannot go stale.
var (
	//go:embed completion/bash
	bashCompletion string
	//go:embed completion/zsh
	zshCompletion string
	//go:embed completion/fish
	fishCompletion string
	//go:embed completion/powershell
	powershellCompletion string
)

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
		script := map[string]string{
			"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion,
		}
		return c.Answer(nil, script[p.Shell])
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
