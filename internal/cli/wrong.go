package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"
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
	return Usagef(path, "unknown command %q%s", OneLine(name), meant(Nearest(names, name)))
}

func unknownFlag(known []cli.Flag, path, word string) error {
	word, _, _ = strings.Cut(word, "=")
	var names []string
	for _, f := range known {
		names = append(names, f.Names()...)
	}
	near := Nearest(names, strings.TrimLeft(word, "-"))
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

// Nearest returns the known word that is one edit from name, or two when name is four letters or longer; the same letters in another
// order are nearest of all. Else it is the first of which name is the beginning, or all behind a dash, when that is three letters or
// longer; else nothing.
func Nearest(known []string, name string) string {
	sorted := func(word string) string { return string(slices.Sorted(slices.Values([]byte(word)))) }
	best, distance := "", min(len(name)/2, 2)+1
	for _, k := range known {
		d := smetrics.WagnerFischer(k, name, 1, 1, 1)
		if sorted(k) == sorted(name) {
			d = 0
		}
		if d < distance {
			best, distance = k, d
		}
	}
	shortened := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, name) || strings.HasSuffix(k, "-"+name) })
	if best == "" && len(name) >= 3 && shortened >= 0 {
		return known[shortened]
	}
	return best
}
