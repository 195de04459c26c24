package mcp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// A param is one argument of a tool: an option of the command, or what the command is about.
type param struct {
	name    string // in the tool; the option has dashes for underscores
	about   string
	kind    kind
	choices []string // empty is any
	option  string   // where it is not the name's
	needed  bool
	bare    bool // not an option
	fed     bool // not an option either: standard input
	span    bool // a length of time that the call waits; left out, it is as long as a call may
	most    int  // bytes; 0 is mostBytes
}

// What no argument is longer than: nothing a person could mean, and not what an agent was talked
// into pasting.
const (
	mostBytes  = 4 << 10
	mostStory  = 256 << 10
	mostValues = 100
)

// A kind is what JSON an argument is.
type kind string

const (
	isText   kind = "string"
	isNumber kind = "integer"
	isFlag   kind = "boolean"
	isTexts  kind = "array"
)

// called names what an argument must be, in errors.
func (p param) called() string {
	if p.span {
		return "a length of time such as 30s"
	}

	return map[kind]string{
		isText:   "a string",
		isNumber: "a whole number above 0",
		isFlag:   "true or false",
		isTexts:  "an array of strings",
	}[p.kind]
}

func params(groups ...[]param) []param { return slices.Concat(groups...) }

func text(name, about string) []param  { return []param{{name: name, about: about, kind: isText}} }
func texts(name, about string) []param { return []param{{name: name, about: about, kind: isTexts}} }
func flag(name, about string) []param  { return []param{{name: name, about: about, kind: isFlag}} }

func choice(name, about string, choices ...string) []param {
	return []param{{
		name:    name,
		about:   about,
		kind:    isText,
		choices: choices,
	}}
}

func needed(group []param) []param {
	group[0].needed = true
	return group
}

// bare makes an argument stand behind the options.
func bare(group []param) []param {
	group[0].bare = true
	return group
}

// waitParam is how long a call waits, as that option of its command.
func waitParam(option string) []param {
	about := "how long to wait, such as 30s, at most 45s; then it answers waiting: call it again"
	return []param{{
		name:   "wait",
		about:  about,
		kind:   isText,
		option: option,
		span:   true,
	}}
}

// issueParam is the issue that a tool is about (cli.md#naming-an-issue).
func issueParam() []param {
	return []param{{
		name:   "issue",
		about:  "owner/repo#7, the issue's URL, or of this repository 7, #7 or github-7",
		kind:   isText,
		needed: true,
		bare:   true,
	}}
}

func repoParam() []param {
	return text("repo", "owner/name; default: the clone's or the server's")
}

func ttlParam() []param {
	return text("ttl", "length of the lease, such as 30m; default: the repository's")
}

func whoParams() []param {
	return params(
		text("codename", "your name as a worker; default: the server's"),
		text("firing_id", "this run's key, as next or claim returned it; inside a clone it is recorded"),
	)
}

func filterParams() []param {
	return []param{
		{name: "label", about: "only items with all of these labels", kind: isTexts},
		{
			name:    "priority",
			about:   "only items of one of these priorities",
			kind:    isTexts,
			choices: []string{"critical", "high", "medium", "low"},
		},
	}
}

func (t tool) input() *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}

	for _, p := range t.params {
		one := &jsonschema.Schema{Type: string(p.kind), Description: p.about}
		s.Properties[p.name] = one
		switch p.kind {
		case isTexts:
			one.Items = &jsonschema.Schema{Type: string(isText)}
			one = one.Items
		case isNumber:
			one.Minimum = jsonschema.Ptr(1.0)
		}

		for _, c := range p.choices {
			one.Enum = append(one.Enum, c)
		}
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		if p.needed {
			s.Required = append(s.Required, p.name)
		}
	}

	return s
}

// flag is the option of the command line.
func (p param) flag() string { return "--" + cmp.Or(p.option, strings.ReplaceAll(p.name, "_", "-")) }
