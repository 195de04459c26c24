package mcp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/printable"
)

// problem words a problem for an agent that called t. The text of a no or of an unknown may be
// other people's and stays as it is.
func (t tool) problem(p answer.Problem) string {
	if p.Doing == strings.Join(t.verb(), " ") {
		p.Doing = t.name
	}
	if p.Code.Meaning().Exit == answer.ExitWrong {
		p.Why = t.flags(p.Why)
	}

	return printable.Line(strings.ReplaceAll(p.Error(), "\n", "; "))
}

// verb is the command of a tool without its options.
func (t tool) verb() []string {
	return slices.DeleteFunc(slices.Clone(t.words), func(w string) bool { return strings.HasPrefix(w, "--") })
}

// hint words what to do next as calls of tools, for an agent that called t and has no shell.
func (o Options) hint(t tool, next []answer.Command) string {
	parts := make([]string, len(next))
	for n, c := range next {
		parts[n] = t.flags(c.When)
		if call := o.call(t, c); call != "" {
			parts[n] = strings.TrimPrefix(parts[n]+": "+call, ": ")
		}
	}

	return printable.Line(strings.Join(parts, "; "))
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
		return "the same call"
	case c.Verb == answer.AgainLonger:
		return "the same call with a longer --timeout of the server"
	case slices.Contains(words, "--help"):
		return t.allowed()
	}

	asked, arguments, ok := asTool(words)
	switch {
	case ok && o.offers(asked):
		return asked.name + " " + arguments
	case ok && (asked.operator || asked.approver), slices.Contains(words, "--force"), words[0] == "repo":
		return "a person decides"
	case ok:
		var sets []string
		for _, s := range append(o.sets(), asked.set) {
			sets = append(sets, string(s))
		}
		return asked.name + " " + arguments + " (the user starts the server with --toolset " +
			strings.Join(sets, ",") + ")"
	}

	return "label-state " + strings.Join(words, " ") + " (in a shell)"
}

// asTool is the first tool that takes all words of a command line, and its arguments in JSON; ok is
// false when none does.
func asTool(words []string) (asked tool, arguments string, ok bool) {
	for _, one := range tools() {
		given, takes := one.arguments(words)
		if !takes {
			continue
		}
		data, err := json.Marshal(given)
		return one, string(data), err == nil
	}

	return tool{}, "", false
}

// arguments reads a command line as a call of the tool; ok is false when it is not one.
func (t tool) arguments(words []string) (given map[string]any, ok bool) {
	command := t.verb()
	if len(words) < len(command) || !slices.Equal(words[:len(command)], command) {
		return nil, false
	}

	fixed := slices.DeleteFunc(slices.Clone(t.words), func(w string) bool { return !strings.HasPrefix(w, "--") })
	hasBare := t.param(func(p param) bool { return p.bare }).name != ""
	given, words = map[string]any{}, words[len(command):]
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if n := slices.IndexFunc(fixed,
			func(f string) bool { return f == word || strings.HasPrefix(f, word+"=") }); n >= 0 {
			if strings.Contains(fixed[n], "=") && len(words) > 0 { // a file, in whose place the tool takes the text
				given[t.param(func(p param) bool { return p.fed }).name], words = words[0], words[1:]
			}
			fixed = slices.Delete(fixed, n, n+1)
			continue
		}

		p := t.param(func(p param) bool { return !p.bare && !p.fed && p.flag() == word })
		if !strings.HasPrefix(word, "--") {
			p = t.param(func(p param) bool {
				return p.bare && (given[p.name] == nil || p.kind == isTexts) || p.name == "repo" && !hasBare
			})
			words = slices.Insert(words, 0, word)
		}

		switch {
		case p.name == "" || p.kind != isFlag && len(words) == 0:
			return nil, false
		case p.kind == isFlag:
			given[p.name] = true
		case p.kind == isTexts:
			before, _ := given[p.name].([]string)
			given[p.name], words = append(before, words[0]), words[1:]
		default:
			given[p.name], words = words[0], words[1:]
		}
	}

	return given, len(fixed) == 0
}

// param returns the first argument that fits; the zero param when none does.
func (t tool) param(fits func(param) bool) param {
	if n := slices.IndexFunc(t.params, fits); n >= 0 {
		return t.params[n]
	}
	return param{}
}

// aFlag finds an option.
var aFlag = regexp.MustCompile(`(^|[\s("])(--[a-z][a-z-]*)`)

// ofServer are the options that a server was started with.
var ofServer = []string{"--timeout", "--config", "--codename", "--repo", "--operator", "--approver", "--toolset"}

// flags writes every option in text as the argument of the tool, or as what the server is started
// with.
func (t tool) flags(text string) string {
	return aFlag.ReplaceAllStringFunc(text, func(found string) string {
		before, option := found[:strings.Index(found, "--")], found[strings.Index(found, "--"):]
		p := t.param(func(p param) bool { return !p.bare && !p.fed && p.flag() == option })
		switch {
		case p.name != "":
			return before + p.name
		case slices.Contains(ofServer, option):
			return before + option + " of the server"
		}

		return found
	})
}
