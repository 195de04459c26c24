package mcp

import (
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/cli"
)

// A tool is a verb as agents see it.
type tool struct {
	cli.Tool
	verb cli.Verb
}

// tools are all tools of the table of verbs.
func (o Options) tools() (all []tool) {
	for _, v := range o.Terminal.Verbs {
		for _, t := range v.Tools {
			all = append(all, tool{t, v})
		}
	}
	return all
}

// offers reports whether the server has the tool at all: what is not offered, no text can talk an
// agent into.
func (o Options) offers(t tool) bool {
	switch t.Set {
	case cli.Operator:
		return o.Operator
	case cli.Approver:
		return o.Operator || o.Approver
	}

	return slices.Contains(o.sets(), t.Set)
}

// sets are the toolsets that are offered.
func (o Options) sets() []cli.Toolset {
	if o.Toolsets == nil {
		return []cli.Toolset{cli.Core, cli.Work} // enough to take work, keep it and end it
	}
	return slices.Clone(o.Toolsets)
}

// An argument is a parameter of the verb as the tool has it.
type argument struct {
	cli.Param
	name string
	need bool
	span bool // a length of time that the call waits; left out, it is as long as a call may
}

// arguments are what the tool takes of the verb's parameters, in its own order.
func (t tool) arguments(params any) (all []argument) {
	known := cli.Params(params)
	for _, name := range strings.Fields(t.Takes) {
		for _, p := range known {
			if p.Name != name {
				continue
			}

			a := argument{
				Param: p,
				name:  strings.ReplaceAll(name, "-", "_"),
				need:  p.Needed() || slices.Contains(strings.Fields(t.Needs), name),
				span:  name == t.Wait,
			}
			if _, is := p.Field().(*cli.Text); is {
				a.name = strings.TrimSuffix(a.name, "_file")
			}
			if a.span {
				a.name, a.Text = "wait", "how long to wait, such as 30s, at most 45s; then it answers waiting: call it again"
			}

			all = append(all, a)
		}
	}

	return all
}

// allowed says which arguments there are.
func (t tool) allowed() string {
	var names []string
	for _, a := range t.arguments(t.verb.NewParams()) {
		names = append(names, a.name)
	}
	return t.Name + " takes " + strings.Join(names, ", ")
}
