package cli

import (
	"strings"

	"github.com/label-state/label-state/internal/printable"
	"github.com/urfave/cli/v2"
)

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
