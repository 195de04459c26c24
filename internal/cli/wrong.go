package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A UsageError is a command line that makes no sense: exit 2.
type UsageError struct {
	problem string
	command string // for the hint; empty is the program itself
}

func (e *UsageError) Error() string { return e.problem }

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

// Nearest returns the known word that is one edit from name, or two when name is four letters or
// longer; else nothing. The same letters in another order are nearest of all.
func Nearest(known []string, name string) string {
	best, distance := "", min(len(name)/2, 2)+1
	for _, k := range known {
		d := edits(k, name)
		if sorted(k) == sorted(name) {
			d = 0
		}
		if d < distance {
			best, distance = k, d
		}
	}
	return best
}

// sorted is the letters of a word in their order: a slip of the fingers changes nothing in it.
func sorted(word string) string {
	letters := []byte(word)
	slices.Sort(letters)
	return string(letters)
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
