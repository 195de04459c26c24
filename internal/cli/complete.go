package cli

import (
	"slices"
	"strings"
)

// Suggest returns what could stand for the last word of a command line, with what it means. None
// means that it is not ours to say: a file, a number, another program's words.
func (t Terminal) Suggest(words []string) [][2]string {
	before, current := words[:len(words)-1], words[len(words)-1]
	if slices.Contains(before, "--") {
		return nil
	}
	if len(before) > 0 && before[0] == helpVerb {
		before = before[1:]
	}

	at := t.descend(before)
	open, plain := at.places()
	name, _, joined := strings.Cut(current, "=")
	valued, _ := find(at.params, strings.TrimLeft(name, "-"))
	var rows [][2]string

	switch {
	case open.TakesValue(): // the word is this option's value
		rows = valuesOf(open, "")
	case joined && valued.TakesValue():
		rows = valuesOf(valued, name+"=")
	case strings.HasPrefix(current, "-"):
		for _, p := range at.params {
			if p.Arg == "" {
				rows = append(rows, [2]string{"--" + p.Name, p.Text})
			}
		}
		rows = append(rows, [2]string{"--help", "what the command does"})
	case at.verb.do == nil && at.stray == "":
		for _, v := range at.below {
			words := v.Words()
			rows = append(rows, [2]string{words[len(words)-1], v.Summary})
		}
	case at.verb.do != nil:
		rows = t.suggestArgument(at.verb, plain)
	}

	return slices.DeleteFunc(rows, func(row [2]string) bool { return !strings.HasPrefix(row[0], current) })
}

// places are the option at the end that waits for its value, if there is one, and how many
// arguments stand before.
func (at descent) places() (open Param, plain int) {
	for i := 0; i < len(at.rest); i++ {
		open = Param{}
		if !isOption(at.rest[i]) {
			plain++
			continue
		}

		p, _ := find(at.params, strings.TrimLeft(at.rest[i], "-"))
		if p.TakesValue() {
			open, i = p, i+1
		}

		if i < len(at.rest) {
			open = Param{}
		}
	}

	return open, plain
}

func valuesOf(p Param, prefix string) (rows [][2]string) {
	for _, value := range p.Only {
		rows = append(rows, [2]string{prefix + value, p.Text})
	}
	return rows
}

// suggestArgument returns the values of an argument; of an issue, those that this worktree holds.
func (t Terminal) suggestArgument(v Verb, place int) (rows [][2]string) {
	params := slices.DeleteFunc(v.Params(), func(p Param) bool { return p.Arg == "" || p.Rest() })
	if len(params) == 0 {
		return nil
	}

	p := params[min(place, len(params)-1)]
	if place >= len(params) && !strings.Contains(p.Arg, "...") {
		return nil
	}
	if p.Name != "issue" && p.Name != "issues" {
		return valuesOf(p, "")
	}

	store, err := t.Env.Holds()
	if err != nil {
		return nil // not in a clone
	}

	all, _ := store.All() // what cannot be read is not offered
	for _, h := range all {
		rows = append(rows, [2]string{h.Issue.String(), "held here by " + h.Worker.Codename})
	}

	return rows
}
