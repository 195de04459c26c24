package action

import (
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// A command is what the first line of a comment asks for.
type command struct {
	verb, text string
	surplus    bool // there are words where the command takes none
}

const verbApprove = "/approve"

// verbs are the commands, and whether words may follow.
var verbs = [...]struct {
	name  string
	words bool
}{
	{"/claim", false},
	{"/release", true},
	{verbApprove, false},
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
