package action

import (
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// A command is what the first line of a comment asks for.
type command struct {
	verb, text string
	surplus    bool // there are words where the command takes none
}

// verbs are the commands, and whether words may follow.
var verbs = [...]struct {
	name  string
	words bool
}{
	{"/claim", false},
	{"/release", true},
	{"/approve", false},
	{"/reject", true},
	{"/hold", false},
	{"/unhold", false},
	{"/requeue", false},
}

const wordsLimit = 300 // characters of a reason that are kept

// parseCommand reads the first line of a comment. ok is false for ordinary talk and for other
// tools' commands.
func parseCommand(body string) (c command, ok bool) {
	line, _, _ := strings.Cut(strings.TrimPrefix(body, "\ufeff"), "\n")
	words := strings.Fields(line)
	if len(words) == 0 {
		return c, false
	}
	for _, v := range verbs {
		if words[0] == v.name {
			text := plain(printable.Short(strings.Join(words[1:], " "), wordsLimit))
			return command{v.name, text, text != "" && !v.words}, true
		}
	}
	return c, false
}

// answered reports whether one of our reactions says that a command was dealt with.
func answered(reactions []string) bool {
	return slices.Contains(reactions, reactYes) || slices.Contains(reactions, reactNo)
}

// How a command is acknowledged.
const (
	reactYes = "+1"
	reactNo  = "confused"
)
