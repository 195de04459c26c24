package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
)

// A Verb is one thing that label-state does: its name, its words, its parameters and what carries
// it out. The command line and the MCP server read one table of them.
type Verb struct {
	Name     string // as it is typed, such as "claim" or "repo pause"
	Alias    string // another name
	Group    string // by which the help lists it; of those of one word
	Summary  string // one line
	About    string // paragraphs, with an empty line between two
	Examples string // command lines, each with its line break; a remark begins with #
	Shows    bool   // nobody starts or ends work by what it says about whose records count
	Stays    bool   // --timeout is for each of its requests, and not for all of it
	Tools    []Tool // as which the MCP server offers it

	params func() any
	do     func(ctx context.Context, c *Call, params any) error // nil where another word must follow
}

// An Action carries out a verb with its parameters, and answers by c.Answer.
type Action[P any] func(ctx context.Context, c *Call, p *P) error

// Do is a verb that do carries out with the parameters in P, a struct whose fields have the tags of
// a Param.
func Do[P any](v Verb, do Action[P]) Verb {
	v.params = func() any { return new(P) }
	v.do = func(ctx context.Context, c *Call, p any) error { return do(ctx, c, p.(*P)) }
	return v
}

// OnIssue opens the session of a verb about one issue, with --agent as that agent of the
// configuration. Without an issue it is the one that the environment names, else the one that this
// worktree holds.
func OnIssue[P any](do func(context.Context, *Call, claim.Issue, *P) error) Action[P] {
	return func(ctx context.Context, c *Call, p *P) error {
		o := c.Options()
		o.Ref = cmp.Or(c.Issue, c.Env.Issue())
		o.Within = c.Repo != "" && !c.Env.Server // a server's own --repo is for calls that name none
		if o.Ref == "" {
			held, err := c.onlyHold()
			if err != nil {
				return err
			}
			o.Ref = held.String()
		}

		c.Subject.Issue = WithoutURL(o.Ref)
		open := c.Open
		if c.Agent != "" {
			open = c.OpenForAgent
		}
		err := open(ctx, o)
		switch {
		case err == nil:
		case c.Issue == "" && c.Env.Issue() != "" && ProblemOf(err).Code == answer.Usage:
			return fmt.Errorf("LABEL_STATE_ISSUE: %w", err)
		default:
			return err
		}

		return c.orParent(ctx, do(ctx, c, c.Session.Issue, p))
	}
}

// InRepo opens the session of a verb about one repository: the one that is named, or this clone's.
func InRepo[P any](do Action[P]) Action[P] {
	return func(ctx context.Context, c *Call, p *P) error {
		if err := c.Open(ctx, c.Options()); err != nil {
			return err
		}
		return do(ctx, c, p)
	}
}

// InRepos carries a verb out in each of the repositories that are named, or in this clone's. One
// that fails does not keep the others from being done.
func InRepos[P any](do Action[P]) Action[P] {
	return func(ctx context.Context, c *Call, p *P) error { return InEach(ctx, c, c.Named(), InRepo(do), p) }
}

// Words are the words of the verb's name.
func (v Verb) Words() []string { return strings.Fields(v.Name) }

// NewParams is a pointer to a struct of the verb's parameters, with none set.
func (v Verb) NewParams() any { return v.params() }

// Does reports whether the verb does something: no other word must follow.
func (v Verb) Does() bool { return v.do != nil }

// Params are the parameters of the verb, unset; none where another word must follow.
func (v Verb) Params() []Param {
	if v.do == nil {
		return nil
	}
	return Params(v.params())
}

// named reports whether a word is the last of the verb's name, or its alias.
func (v Verb) named(word string) bool {
	words := v.Words()
	return word != "" && (word == words[len(words)-1] || word == v.Alias)
}

// Usage is how the verb is typed after the program's name: "claim [options] ISSUE".
func (v Verb) Usage() string {
	if v.do == nil {
		return v.Name + " COMMAND [options]"
	}

	usage, options := "", ""
	for _, p := range v.Params() {
		if p.Arg == "" {
			options = " [options]"
		} else {
			usage += " " + p.Arg
		}
	}

	return v.Name + options + usage
}

// arguments reads what stands behind the options into the verb's parameters.
func (v Verb) arguments(params any, words []string) error {
	var places []Param
	for _, p := range Params(params) {
		if p.Arg != "" {
			places = append(places, p)
		}
	}

	plain, rest := words, []string(nil)
	if n := slices.Index(words, "--"); n >= 0 {
		plain, rest = words[:n], words[n+1:]
		if !slices.ContainsFunc(places, Param.Rest) {
			plain, rest = slices.Concat(plain, rest), nil
		}
	}

	given, complete, wants := len(plain)+len(rest), true, ""
	for _, p := range places {
		from := &plain
		if p.Rest() {
			from = &rest
		}

		n := min(1, len(*from))
		if strings.Contains(p.Arg, "...") {
			n = len(*from)
		}

		for _, word := range (*from)[:n] {
			if err := p.Set(word); err != nil {
				return Usagef(v.Name, "%s: %s %s", v.Name, strings.Trim(p.Arg, "[]."), err)
			}
		}

		*from = (*from)[n:]
		complete = complete && (n > 0 || !p.Needed())
		wants += " " + p.Arg
		if p.Only != nil {
			wants += " (" + strings.Join(p.Only, ", ") + ")"
		}
	}

	if complete && len(plain)+len(rest) == 0 {
		return nil
	}

	instead := ""
	for _, what := range []string{"repository --repo", "feature --feature"} {
		noun, option, _ := strings.Cut(what, " --")
		if p, is := find(Params(params), option); is && !p.Given() && (places == nil || strings.HasPrefix(wants, " [-- ")) {
			instead = "; a " + noun + " is named with --" + option
		}
	}
	if places == nil {
		return Usagef(v.Name, "%s takes no arguments%s", v.Name, instead)
	}

	return Usagef(v.Name, "%s: expected%s, got %s%s", v.Name, wants, printable.Count(given, "argument", "arguments"), instead)
}
