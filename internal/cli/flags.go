package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// AnswerFlags are the flags of every command that answers a question or reports what it did.
func AnswerFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.StringFlag{Name: "config", Usage: "configuration `FILE` (default: .github/label-state.yml of the repository)"},
		&cli.DurationFlag{Name: "timeout", Usage: "give up after this long, such as 30s"},
		&cli.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"},
		&cli.BoolFlag{Name: "verbose", Usage: "say on stderr what is asked of GitHub"},
		&cli.BoolFlag{Name: "no-color", Usage: "plain text"},
	)
}

// RepoFlags are the flags of every command about one repository.
func RepoFlags(more ...cli.Flag) []cli.Flag {
	return AnswerFlags(append(more,
		&cli.StringFlag{Name: "repo", Aliases: []string{"R"}, Usage: "repository `OWNER/NAME` (default: this clone's)"})...)
}

// NamedRepos are the repositories of a command that takes several: its arguments, then --repo.
func NamedRepos(cc *cli.Context) []string {
	return append(cc.Args().Slice(), cc.StringSlice("repo")...)
}

// WriteFlags are common and --dry-run.
func WriteFlags(more ...cli.Flag) []cli.Flag { return RepoFlags(append(more, DryRunFlag())...) }

func DryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Usage: "look and report, write nothing"}
}

// A line is a command line, sorted.
type line struct {
	path, flags, plain []string
	help               bool
}

// Arrange moves flags in front of arguments, because people and agents type them behind ("claim 12
// --ttl 2h") and the library would take them for arguments. Everything after "--" stays. A call for
// help, anywhere, becomes the command help. The error is a *usageError.
func Arrange(commands []*cli.Command, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	at := Descend(commands, args[1:])
	if len(at.Known) > 0 && at.Stray != "" && at.Stray != "help" {
		return nil, unknownCommand(at.Known, strings.Join(at.path, " "), at.Stray)
	}
	l := line{path: at.path}
	err := l.sort(at.Flags, at.Rest)
	switch {
	case len(at.Known) > 0 && at.Stray == "help":
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
	Flags []cli.Flag
	Known []*cli.Command // what could have come next; none behind a command that is complete
	Stray string         // what came instead, unless it was the end
	Rest  []string       // all words but the path
}

// Descend follows command names, skipping flags that stand before them.
func Descend(commands []*cli.Command, words []string) descent {
	at := descent{Flags: []cli.Flag{&cli.BoolFlag{Name: "version"}}, Known: commands}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if IsFlag(word) {
			at.Rest = append(at.Rest, word)
			if i+1 < len(words) && valued(commands, word) {
				i++
				at.Rest = append(at.Rest, words[i])
			}
			continue
		}
		next := FindCommand(at.Known, word)
		if next == nil {
			at.Stray, at.Rest = word, append(at.Rest, words[i:]...)
			return at
		}
		at.path, at.Flags, at.Known = append(at.path, next.Name), next.Flags, next.Subcommands
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
		if !IsFlag(word) {
			l.plain = append(l.plain, word)
			continue
		}
		l.help = l.help || word == "--help" || word == "-help" || word == "-h"
		l.flags = append(l.flags, word)
		flag := FlagOf(known, word)
		value, given := ValueOf(word)
		if flag != nil && TakesValue(flag) && !given && i+1 < len(words) {
			i++
			l.flags = append(l.flags, words[i])
			value, given = words[i], true
		}
		switch {
		case problem != nil:
		case flag == nil:
			problem = unknownFlag(known, path, word)
		case given:
			if want := wanted(flag, value); want != "" {
				problem = Usagef(path, "%s %q: want %s", Dashed(flag.Names()[0]), OneLine(value), want)
			}
		case TakesValue(flag):
			problem = Usagef(path, "%s needs a value", Dashed(flag.Names()[0]))
		}
	}
	return problem
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
	case *cli.Int64Flag:
		var n int64
		n, err = strconv.ParseInt(value, 10, 64)
		if err == nil && strconv.FormatInt(n, 10) != value { // the library would read 010 as eight
			err = strconv.ErrSyntax
		}
		want = "a whole number in decimal digits"
	case *cli.BoolFlag:
		_, err = strconv.ParseBool(value)
		want = "true or false"
	}
	if err == nil {
		return ""
	}
	return want
}

func IsFlag(word string) bool { return strings.HasPrefix(word, "-") && word != "-" && word != "--" }

// Dashed is a flag's name as it is typed.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func ValueOf(word string) (value string, given bool) {
	_, value, given = strings.Cut(word, "=")
	return value, given
}

func FindCommand(known []*cli.Command, name string) *cli.Command {
	i := slices.IndexFunc(known, func(c *cli.Command) bool { return c.HasName(name) })
	if i < 0 {
		return nil
	}
	return known[i]
}

// FlagOf returns the flag that the word names, or nil.
func FlagOf(known []cli.Flag, word string) cli.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	i := slices.IndexFunc(known, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return known[i]
}

func TakesValue(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue()
}

// valued reports whether the word is a flag of any command that wants the next word.
func valued(commands []*cli.Command, word string) bool {
	if _, given := ValueOf(word); given {
		return false
	}
	return slices.ContainsFunc(commands, func(c *cli.Command) bool {
		f := FlagOf(c.Flags, word)
		return f != nil && TakesValue(f) || valued(c.Subcommands, word)
	})
}
