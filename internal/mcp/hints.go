package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/printable"
)

// problem words a problem for an agent that called t.
func (t tool) problem(p answer.Problem) string {
	if p.Doing == t.verb.Name {
		p.Doing = t.Name
	}
	return printable.Line(strings.ReplaceAll(p.Error(), "\n", "; "))
}

// option is how an option of the verb is called in errors: the tool's argument, or what the server
// is started with.
func (t tool) option(name string) string {
	for _, a := range t.arguments(t.verb.NewParams()) {
		if a.Param.Name == name {
			return a.name
		}
	}

	if slices.Contains([]string{"timeout", "config", "codename", "repo"}, name) {
		return "--" + name + " of the server"
	}

	return "--" + name
}

// hint words what to do next as calls of tools, for an agent that called t and has no shell.
func (o Options) hint(t tool, next []answer.Command) string {
	return printable.Line(cli.WordsWith(next, func(c answer.Command) string { return o.call(t, c) }))
}

// call is a command as the tool that does the same; empty for advice in words alone.
func (o Options) call(t tool, c answer.Command) string {
	words := append(strings.Fields(c.Verb), c.Args...)
	switch {
	case c.Program != "":
		return strings.Join(append([]string{c.Program}, words...), " ")
	case len(words) == 0:
		return ""
	case c.Verb == answer.Again:
		return "the same call" + t.with(c.Args)
	case c.Verb == answer.AgainNewID:
		return "the same call without firing_id"
	case c.Verb == answer.AgainLonger:
		return "the same call with a longer --timeout of the server"
	case slices.Contains(words, "--help"):
		return t.allowed()
	}

	asked, arguments := o.asTool(words)
	switch {
	case arguments != "" && o.offers(asked):
		return asked.Name + " " + arguments
	case asked.decides(), slices.Contains(words, "--force"), words[0] == "repo":
		return aPerson
	case arguments != "":
		return asked.Name + " " + arguments + " (" + o.toOffer(asked) + ")"
	}

	return "label-state " + strings.Join(words, " ") + " (in a shell)"
}

// aPerson is the advice about what no agent is offered unless a person has asked for that.
const aPerson = "a person decides"

// decides reports whether a tool ends other people's work, or decides on it.
func (t tool) decides() bool { return t.Set == cli.Operator || t.Set == cli.Approver }

// toOffer is how the server comes to offer a tool.
func (o Options) toOffer(t tool) string {
	if t.decides() {
		return aPerson
	}

	var sets []string
	for _, s := range append(o.sets(), t.Set) {
		sets = append(sets, string(s))
	}

	return "the user starts the server with --toolset " + strings.Join(sets, ",")
}

// with names the options of a call that is made again, as the tool has them.
func (t tool) with(args []string) string {
	var names []string
	for _, word := range args {
		name, is := strings.CutPrefix(word, "--")
		if !is {
			continue
		}

		option := t.option(name)
		if option == word {
			option += " in a shell"
		}

		names = append(names, option)
	}

	if names == nil {
		return ""
	}
	return " with " + strings.Join(names, ", ")
}

// asTool is the first tool that does what a command line says, and its arguments in JSON; they are
// empty when none does.
func (o Options) asTool(words []string) (asked tool, arguments string) {
	// the error says that this is not a command line
	_ = o.Terminal.Read(words, func(v cli.Verb, params any) error {
		for _, t := range v.Tools {
			one := tool{t, v}
			given, takes := one.given(params)
			data, err := json.Marshal(given)
			if takes && err == nil {
				asked, arguments = one, string(data)
				break
			}
		}
		return nil
	})

	return asked, arguments
}

// given are the parameters that were set, as arguments of the tool; ok is false when it does not
// take one of them, or sets another one itself.
func (t tool) given(params any) (given map[string]any, ok bool) {
	given = map[string]any{}
	arguments, sets := t.arguments(params), strings.Fields(t.With)
	for _, p := range cli.Params(params) {
		name, value := p.Name, plain(p.Field())
		if all, is := p.Field().(*[]string); is && name == "names" { // the repository may be an argument
			name, value = "repo", strings.Join(*all, ",")
		}

		n := slices.IndexFunc(arguments, func(a argument) bool { return a.Param.Name == name })
		switch {
		case slices.Contains(sets, name) != p.Given() && n < 0:
			return nil, false
		case p.Given() && n >= 0:
			given[arguments[n].name] = value
		}
	}

	return given, true
}

// plain is what a field was set to, as an argument in JSON.
func plain(field any) any {
	switch was := field.(type) {
	case *time.Duration:
		return printable.Exact(*was)
	case *cli.Text:
		return was.File
	case *cli.Repos:
		return strings.Join(*was, ",")
	}

	return field
}
