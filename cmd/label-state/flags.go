package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// answering are the flags of every command that answers a question or reports what it did.
func answering(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.StringFlag{Name: "config", Usage: "configuration `FILE` (default: .github/label-state.yml of the repository)"},
		&cli.DurationFlag{Name: "timeout", Usage: "give up after this long, such as 30s"},
		&cli.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"},
		&cli.BoolFlag{Name: "verbose", Usage: "say on stderr what is asked of GitHub"},
		&cli.BoolFlag{Name: "no-color", Usage: "plain text"},
	)
}

// common are the flags of every command about one repository.
func common(more ...cli.Flag) []cli.Flag {
	return answering(append(more,
		&cli.StringFlag{Name: "repo", Aliases: []string{"R"}, Usage: "repository `OWNER/NAME` (default: this clone's)"})...)
}

// writing are common and --dry-run.
func writing(more ...cli.Flag) []cli.Flag { return common(append(more, dryRun())...) }

func dryRun() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Usage: "look and report, write nothing"}
}

// A line is a command line, sorted.
type line struct {
	path, flags, plain []string
	help               bool
}

// arrange moves flags in front of arguments, because people and agents type them behind ("claim 12
// --ttl 2h") and the library would take them for arguments. Everything after "--" stays. A call for
// help, anywhere, becomes the command help. The error is a *usageError.
func arrange(commands []*cli.Command, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	at := descend(commands, args[1:])
	if len(at.known) > 0 && at.stray != "" && at.stray != "help" {
		return nil, unknownCommand(at.known, strings.Join(at.path, " "), at.stray)
	}
	l := line{path: at.path}
	err := l.sort(at.flags, at.rest)
	switch {
	case len(at.known) > 0 && at.stray == "help":
		return slices.Concat(args[:1], []string{"help"}, l.path, l.plain[1:]), nil
	case l.help:
		return append([]string{args[0], "help"}, l.path...), nil
	case err != nil:
		return nil, err
	case len(l.path) == 0 && len(l.flags) > 0:
		return []string{args[0], "version"}, nil
	}
	return slices.Concat(args[:1], l.path, l.flags, l.plain), nil
}

// A descent is how far the words of a command line name a command.
type descent struct {
	path  []string
	flags []cli.Flag
	known []*cli.Command // what could have come next; none behind a command that is complete
	stray string         // what came instead, unless it was the end
	rest  []string       // all words but the path
}

// descend follows command names, skipping flags that stand before them.
func descend(commands []*cli.Command, words []string) descent {
	at := descent{flags: []cli.Flag{&cli.BoolFlag{Name: "version"}}, known: commands}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if isFlag(word) {
			at.rest = append(at.rest, word)
			if i+1 < len(words) && valued(commands, word) {
				i++
				at.rest = append(at.rest, words[i])
			}
			continue
		}
		next := find(at.known, word)
		if next == nil {
			at.stray, at.rest = word, append(at.rest, words[i:]...)
			return at
		}
		at.path, at.flags, at.known = append(at.path, next.Name), next.Flags, next.Subcommands
	}
	return at
}

// sort puts the words into flags and arguments. The error is the first flag that cannot be.
func (l *line) sort(known []cli.Flag, words []string) (problem error) {
	path := strings.Join(l.path, " ")
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			l.plain = append(l.plain, words[i:]...)
			break
		}
		if !isFlag(word) {
			l.plain = append(l.plain, word)
			continue
		}
		l.help = l.help || word == "--help" || word == "-help" || word == "-h"
		l.flags = append(l.flags, word)
		flag := flagOf(known, word)
		value, given := valueOf(word)
		if flag != nil && takesValue(flag) && !given && i+1 < len(words) {
			i++
			l.flags = append(l.flags, words[i])
			value, given = words[i], true
		}
		switch {
		case problem != nil:
		case flag == nil:
			problem = unknownFlag(known, path, word)
		case given:
			problem = checkValue(path, flag, value)
		case takesValue(flag):
			problem = wrong(path, "%s needs a value", dashed(flag.Names()[0]))
		}
	}
	return problem
}

// checkValue refuses a value that the flag cannot have.
func checkValue(path string, flag cli.Flag, value string) error {
	if want := wanted(flag, value); want != "" {
		return wrong(path, "%s %q: want %s", dashed(flag.Names()[0]), oneLine(value), want)
	}
	return nil
}

// wanted says what a flag's value must be, when it is not.
func wanted(flag cli.Flag, value string) string {
	var err error
	var want string
	switch flag.(type) {
	case *cli.DurationFlag:
		_, err = time.ParseDuration(value)
		want = "a duration such as 30s, 90m or 4h"
	case *cli.Float64Flag:
		_, err = strconv.ParseFloat(value, 64)
		want = "a number"
	case *cli.BoolFlag:
		_, err = strconv.ParseBool(value)
		want = "true or false"
	}
	if err == nil {
		return ""
	}
	return want
}

func isFlag(word string) bool { return strings.HasPrefix(word, "-") && word != "-" && word != "--" }

// dashed is a flag's name as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func valueOf(word string) (value string, given bool) {
	_, value, given = strings.Cut(word, "=")
	return value, given
}

func find(known []*cli.Command, name string) *cli.Command {
	i := slices.IndexFunc(known, func(c *cli.Command) bool { return c.HasName(name) })
	if i < 0 {
		return nil
	}
	return known[i]
}

// flagOf returns the flag that the word names, or nil.
func flagOf(known []cli.Flag, word string) cli.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	i := slices.IndexFunc(known, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return known[i]
}

func takesValue(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue()
}

// valued reports whether the word is a flag of any command that wants the next word.
func valued(commands []*cli.Command, word string) bool {
	if _, given := valueOf(word); given {
		return false
	}
	return slices.ContainsFunc(commands, func(c *cli.Command) bool {
		f := flagOf(c.Flags, word)
		return f != nil && takesValue(f) || valued(c.Subcommands, word)
	})
}
