package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// AnswerFlags are the flags of every command that answers a question or reports what it did.
func AnswerFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.StringFlag{
			Name:  "config",
			Usage: "configuration `FILE` (default: .github/label-state.yml of the repository)",
		},
		&cli.DurationFlag{Name: "timeout", Usage: "give up after this long, such as 30s"},
		&cli.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"},
		&cli.BoolFlag{Name: "verbose", Usage: "say on stderr what is asked of GitHub"},
		&cli.BoolFlag{Name: "no-color", Usage: "plain text"},
	)
}

// RepoFlags are the flags of every command about one repository.
func RepoFlags(more ...cli.Flag) []cli.Flag {
	return AnswerFlags(append(more,
		&cli.StringFlag{
			Name: "repo", Aliases: []string{"R"},
			Usage: "repository `OWNER/NAME` (default: this clone's)",
		})...)
}

// SeveralFlags are the flags of every command about one repository or several.
func SeveralFlags(more ...cli.Flag) []cli.Flag {
	return AnswerFlags(append(more, &cli.StringSliceFlag{
		Name: "repo", Aliases: []string{"R"},
		Usage: "repository `OWNER/NAME` (default: this clone's); may be repeated, or several with commas",
	})...)
}

// NamedRepos are the repositories of a command that takes several: its arguments, then --repo. Each
// may be several, with commas between.
func NamedRepos(cc *cli.Context) []string {
	var names []string
	for _, name := range append(cc.Args().Slice(), cc.StringSlice("repo")...) {
		names = append(names, strings.Split(name, ",")...)
	}
	return names
}

// WriteFlags are common and --dry-run.
func WriteFlags(more ...cli.Flag) []cli.Flag { return RepoFlags(append(more, DryRunFlag())...) }

// DryRunFlag is for every command that writes. The transport keeps the promise: a request that
// writes is not sent.
func DryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Usage: "look and report, write nothing"}
}

// Arrange moves flags in front of arguments, because people and agents type them behind ("claim 12
// --ttl 2h") and the library would take them for arguments. Everything after "--" stays. A call for
// help, anywhere, becomes the command help. The error is a *usageError: the first flag that is
// unknown or has a wrong value.
func Arrange(commands []*cli.Command, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	at := Descend(commands, args[1:])
	path := strings.Join(at.path, " ")
	if len(at.Known) > 0 && at.Stray != "" && at.Stray != "help" {
		if at.wrong != "" { // no command has it, so that its value was taken for a command
			return nil, unknownFlag(everyFlag(at.Known), path, at.wrong)
		}
		return nil, unknownCommand(at.Known, path, at.Stray)
	}

	var flags, plain []string
	var problem error
	help := false
	for i := 0; i < len(at.Rest); i++ {
		word := at.Rest[i]
		if word == "--" {
			plain = append(plain, at.Rest[i:]...)
			break
		}
		if !IsFlag(word) {
			plain = append(plain, word)
			continue
		}

		help = help || slices.Contains(helpFlags, word)
		flags = append(flags, word)
		flag := FlagOf(at.Flags, word)
		_, value, given := strings.Cut(word, "=")
		if flag != nil && TakesValue(flag) && !given && i+1 < len(at.Rest) {
			i++
			flags = append(flags, at.Rest[i])
			value, given = at.Rest[i], true
		}

		switch {
		case problem != nil:
		case flag == nil:
			problem = unknownFlag(at.Flags, path, word)
		case given:
			if want := wanted(flag, value); want != "" {
				problem = Usagef(path, "%s %s", Dashed(flag.Names()[0]), want)
			}
		case TakesValue(flag):
			problem = Usagef(path, "%s needs a value", Dashed(flag.Names()[0]))
		}
	}

	switch {
	case len(at.Known) > 0 && at.Stray == "help":
		return slices.Concat(args[:1], []string{"help"}, at.path, plain[1:]), nil
	case help:
		return append([]string{args[0], "help"}, at.path...), nil
	case problem != nil:
		return nil, problem
	case len(at.path) == 0 && len(flags) > 0:
		return []string{args[0], "version"}, nil
	}

	return slices.Concat(args[:1], at.path, flags, plain), nil
}

// A descent is how far the words of a command line name a command.
type descent struct {
	path  []string
	Flags []cli.Flag
	Known []*cli.Command // what could have come next; none behind a command that is complete
	Stray string         // what came instead, unless it was the end
	Rest  []string       // all words but the path
	wrong string         // the first flag before all that which no command has
}

// Descend follows command names, skipping flags that stand before them.
func Descend(commands []*cli.Command, words []string) descent {
	at, all := descent{Flags: []cli.Flag{&cli.BoolFlag{Name: "version"}}, Known: commands}, everyFlag(commands)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if IsFlag(word) {
			at.Rest = append(at.Rest, word)
			if at.wrong == "" && FlagOf(all, word) == nil && !slices.Contains(helpFlags, word) && word != "--version" {
				at.wrong = word
			}

			given := strings.Contains(word, "=")
			takes := slices.ContainsFunc(all,
				func(f cli.Flag) bool { return TakesValue(f) && FlagOf([]cli.Flag{f}, word) != nil })
			if i+1 < len(words) && takes && !given {
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

// wanted says of a flag's value what it must be, when it is not; else it is empty.
func wanted(flag cli.Flag, value string) string {
	var err error
	var want string
	switch flag.(type) {
	case *cli.DurationFlag:
		var d time.Duration
		d, err = time.ParseDuration(value)
		want = "want a duration such as 30s, 90m or 4h"

		switch grace := flag.Names()[0] == GraceFlag().Names()[0]; {
		case err == nil && d < 0 && grace:
			return value + ": must not be negative"
		case err == nil && d <= 0 && !grace:
			return value + ": must be positive, for example 30m"
		}

	case *cli.StringFlag:
		if value == "" && flag.Names()[0] != "reason" { // a reason may be left open
			return "is empty; give a value, or leave it out"
		}

	case *cli.Float64Flag:
		_, err = strconv.ParseFloat(value, 64)
		want = "want a number"

	case *cli.Int64Flag:
		var n int64
		n, err = strconv.ParseInt(value, 10, 64)
		if err == nil && strconv.FormatInt(n, 10) != value { // the library would read 010 as eight
			err = strconv.ErrSyntax
		}
		want = "want a whole number in decimal digits"

	case *cli.BoolFlag:
		_, err = strconv.ParseBool(value)
		want = "want true or false"
	}

	if err == nil {
		return ""
	}

	return fmt.Sprintf("%q: %s", OneLine(value), want)
}

// IsFlag reports whether a word of the command line is an option, known or not. "-" and "--" are
// none.
func IsFlag(word string) bool { return strings.HasPrefix(word, "-") && word != "-" && word != "--" }

// Dashed is a flag's name as it is typed.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// FindCommand returns the command that has the name, or the alias; nil if none has.
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

// TakesValue reports whether the next word belongs to the option when it has no "=".
func TakesValue(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue()
}

// helpFlags are the words that ask for help wherever they stand.
var helpFlags = []string{"--help", "-help", "-h"}

// everyFlag are the flags of all commands.
func everyFlag(commands []*cli.Command) (out []cli.Flag) {
	for _, c := range commands {
		out = append(append(out, c.Flags...), everyFlag(c.Subcommands)...)
	}
	return out
}
