package mcp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// inTools is an outcome in the words of tools: a hint or an error of the command line names commands and options, which an agent
// without a shell does not have. The text of a no or of an unknown may be other people's, and stays as it is; its hint is ours.
func (o Options) inTools(t tool, out Outcome) Outcome {
	out.Hint = o.translate(t, out.Hint)
	if out.Code == codeCalled {
		out.Problem = o.translate(t, out.Problem)
	}
	if rest, ok := strings.CutPrefix(out.Problem, strings.Join(verb(t), " ")); ok && (rest == "" || rest[0] == ' ' || rest[0] == ':') {
		out.Problem = t.name + rest
	}
	return out
}

// verb is the command of a tool without its options.
func verb(t tool) []string {
	return slices.DeleteFunc(slices.Clone(t.words), func(w string) bool { return strings.HasPrefix(w, "--") })
}

// commandLine finds a command line, which ends where the sentence goes on.
var commandLine = regexp.MustCompile(`\b(label-state|gh|git) [a-z][^;,()]*`)

// translate writes every command line of ours in text as the call of a tool, and every option outside of command lines as an argument.
func (o Options) translate(t tool, text string) string {
	var b strings.Builder
	for {
		at := commandLine.FindStringIndex(text)
		if at == nil {
			return b.String() + t.flags(text)
		}
		b.WriteString(t.flags(text[:at[0]]))
		b.WriteString(o.command(t, text[at[0]:at[1]]))
		text = text[at[1]:]
	}
}

// command is a command line as the tool that does the same, for an agent that called t.
func (o Options) command(t tool, line string) string {
	program, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	if program != "label-state" {
		return line
	}
	if slices.Contains(words, "--help") {
		return t.allowed()
	}
	var asked tool
	arguments, ok := "", false
	for _, one := range tools() { // the first that takes all of the words
		if given, takes := one.arguments(words); takes && !ok {
			data, err := json.Marshal(given)
			asked, arguments, ok = one, string(data), err == nil
		}
	}
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
		return asked.name + " " + arguments + " (the user starts the server with --toolset " + strings.Join(sets, ",") + ")"
	}
	return line + " (in a shell)"
}

// arguments reads a command line as a call of the tool; ok is false when it is not one.
func (t tool) arguments(words []string) (given map[string]any, ok bool) {
	command := verb(t)
	if len(words) < len(command) || !slices.Equal(words[:len(command)], command) {
		return nil, false
	}
	fixed := slices.DeleteFunc(slices.Clone(t.words), func(w string) bool { return !strings.HasPrefix(w, "--") })
	hasBare := t.param(func(p param) bool { return p.bare }).name != ""
	given, words = map[string]any{}, words[len(command):]
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if n := slices.IndexFunc(fixed, func(f string) bool { return f == word || strings.HasPrefix(f, word+"=") }); n >= 0 {
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

// flags writes every option in text as the argument of the tool, or as what the server is started with.
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
