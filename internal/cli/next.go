package cli

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/printable"
)

// Hint words what to do about an error for a person at a shell.
func (t Terminal) Hint(err error) string { return Words(t.Resolve(ProblemOf(err).Next)) }

// Words are commands as a person at a shell types them, with what each is for.
func Words(next []answer.Command) string { return WordsWith(next, commandLine) }

// WordsWith are commands as call words them, with what each is for; what it has no words for is
// advice alone.
func WordsWith(next []answer.Command, call func(answer.Command) string) string {
	parts := make([]string, len(next))
	for n, c := range next {
		switch line := call(c); {
		case line == "":
			parts[n] = c.When
		case c.When == "":
			parts[n] = line
		default:
			parts[n] = c.When + ": " + line
		}
	}

	return strings.Join(parts, "; ")
}

// commandLine is a command as a shell takes it; empty for advice in words alone.
func commandLine(c answer.Command) string {
	if c.Program == "" && c.Verb == "" && len(c.Args) == 0 {
		return ""
	}
	words := []string{"label-state"}
	if c.Program != "" {
		words[0] = c.Program
	}

	if c.Verb != "" {
		words = append(words, c.Verb)
	}

	for _, arg := range c.Args {
		words = append(words, printable.ShellWord(arg))
	}

	return strings.Join(words, " ")
}

// Resolve puts the command line that was typed in the place of the call that failed, or a server's
// words for it. What may be a secret is left out: what stands before the @ of a URL, and another
// program's command line, after --.
func (t Terminal) Resolve(next []answer.Command) []answer.Command {
	own := t.Typed[min(1, len(t.Typed)):]
	var rest []string
	if n := slices.Index(own, "--"); n >= 0 {
		own, rest = own[:n], []string{"--", leftOut}
	}

	out := slices.Clone(next)
	for n, c := range out {
		typed := slices.Clone(own)
		switch c.Verb {
		case answer.Again:
		case answer.AgainLonger:
			lengthen(typed)
		case answer.AgainNewID:
			typed = without(typed, "firing-id")
		default:
			continue
		}

		if t.Same != nil {
			out[n] = answer.Advice(t.Same(c))
			continue
		}

		typed = append(typed, c.Args...)
		for k, word := range typed {
			typed[k] = inURL.ReplaceAllString(word, "://")
		}

		at := t.descend(typed)
		out[n].Verb, out[n].Args = at.verb.Name, append(at.rest, rest...)
	}

	return out
}

// without leaves out an option and its value.
func without(typed []string, option string) (out []string) {
	for n := 0; n < len(typed); n++ {
		before, _, joined := joinedTo(typed[n], option)
		if before == "" {
			out = append(out, typed[n])
		} else if !joined {
			n++
		}
	}

	return out
}

// joinedTo reads a word that is an option, with the value that is joined to it, if there is one.
// before is what stands before that value, and empty where the word is not that option.
func joinedTo(word, option string) (before, value string, joined bool) {
	name, value, joined := strings.Cut(word, "=")
	if !strings.HasPrefix(name, "-") || strings.TrimLeft(name, "-") != option {
		return "", "", false
	}
	return name + "=", value, joined
}

// lengthen makes the value of --timeout four times as long, a minute at least. What is not a length
// of time stays.
func lengthen(typed []string) {
	for n, word := range typed {
		before, value, joined := joinedTo(word, "timeout")
		if before == "" {
			continue
		}

		at := n
		if !joined && n+1 < len(typed) {
			at, before, value = n+1, "", typed[n+1]
		}

		if d, err := config.ParseSpan(value); err == nil {
			typed[at] = before + printable.Exact(max(4*d, time.Minute))
		}
	}
}

// leftOut is in the place of another program's command line.
const leftOut = "…"

var inURL = regexp.MustCompile(`://.*@`)
