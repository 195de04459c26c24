package cli

import (
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/printable"
	"github.com/urfave/cli/v2"
)

// A UsageError is a command line that makes no sense: exit 2.
type UsageError struct {
	problem string
	command string // for the hint; empty is the program itself
}

func (e *UsageError) Error() string { return e.problem }

// Usagef is a wrong call of a command: exit 2, with the command's usage as the hint.
func Usagef(command, format string, args ...any) error {
	return &UsageError{problem: fmt.Sprintf(format, args...), command: command}
}

func unknownCommand(known []*cli.Command, path, name string) error {
	var names []string
	for _, c := range known {
		names = append(names, c.Names()...)
	}
	return Usagef(path, "unknown command %q%s", OneLine(name), meant(printable.Nearest(names, name)))
}

func unknownFlag(known []cli.Flag, path, word string) error {
	word, _, _ = strings.Cut(word, "=")
	var names []string
	for _, f := range known {
		names = append(names, f.Names()...)
	}
	near := printable.Nearest(names, strings.TrimLeft(word, "-"))
	if near != "" {
		near = Dashed(near)
	}
	return Usagef(path, "unknown flag %s%s", OneLine(word), meant(near))
}

func meant(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}
