package cli

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/printable"
)

// Again and AgainLonger stand in a hint for the command line that failed, the second with a longer --timeout. Only a terminal knows
// what was typed (Terminal.HintFor).
const (
	Again       = "{again}"
	AgainLonger = "{again, longer}"
)

// HintFor is the next command after an error, as package function HintFor has it, with the command line that failed where the
// hint says to run it again. It is never empty.
func (t Terminal) HintFor(err error) string {
	hint := cmp.Or(HintFor(err), "when its cause is mended: "+Again)
	again, longer := "the same call", "the same call with a longer --timeout" // to a server's tool
	if !t.Env.Server {
		typed := slices.Clone(t.Typed) // with four times its --timeout, a minute at least; what is no length of time stays
		for n, word := range typed {
			if word == "--" {
				break
			}
			name, value, joined := strings.Cut(word, "=")
			if !strings.HasPrefix(name, "-") || strings.TrimLeft(name, "-") != "timeout" {
				continue
			}
			at, before := n, name+"="
			if !joined && n+1 < len(typed) {
				at, before, value = n+1, "", typed[n+1]
			}
			if d, err := time.ParseDuration(value); err == nil {
				typed[at] = before + printable.Exact(max(4*d, time.Minute))
			}
		}
		again, longer = commandLine(t.Typed), commandLine(typed)
	}
	return strings.NewReplacer(Again, again, AgainLonger, longer).Replace(hint)
}

// commandLine is a command line as a shell takes it. What may be a secret is left out: what stands before the @ of a URL, and another
// program's command line, behind --.
func commandLine(typed []string) string {
	words := []string{"label-state"}
	for _, word := range typed[min(1, len(typed)):] {
		if word == "--" {
			return strings.Join(append(words, word, "…"), " ")
		}
		words = append(words, ShellWord(inURL.ReplaceAllString(word, "://")))
	}
	return strings.Join(words, " ")
}

var inURL = regexp.MustCompile(`://.*@`)

// ShellWord is a text as one word of a shell's.
func ShellWord(text string) string {
	if text == "" || notPlain.MatchString(text) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

var notPlain = regexp.MustCompile(`[^\w@%+=:,./#-]|^#`)
