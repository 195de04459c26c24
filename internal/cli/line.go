package cli

import (
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// arrange is a command line as the words of a verb, and what follows with the options in front of
// the arguments, because people and agents type them after it ("claim 12 --ttl 2h") and the library
// would take them for arguments. Short forms become long ones, and a call for help, anywhere, the
// verb help. The error is a wrong call: the first option that no such verb has, or that lacks its
// value.
func (t Terminal) arrange(words []string) (path, rest []string, err error) {
	at := t.descend(words)
	if at.verb.do == nil && at.stray != "" && at.stray != helpVerb {
		if at.wrong != "" { // no verb has it, so that its value was taken for a command
			return nil, nil, unknownOption(everyParam(at.below), at.verb.Name, at.wrong)
		}
		return nil, nil, unknownCommand(at.below, at.verb.Name, at.stray)
	}

	options, plain := []string{}, []string{"--"}
	var problem error
	var help []string
	for i := 0; i < len(at.rest); i++ {
		word := at.rest[i]
		if word == "--" {
			plain = append(plain, at.rest[i:]...)
			break
		}

		if !isOption(word) {
			plain = append(plain, word)
			continue
		}

		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if more, asks := helpOptions()[name]; asks {
			help = append(help, more)
			continue
		}

		p, known := find(at.params, name)
		switch {
		case !known && problem == nil:
			problem = unknownOption(at.params, at.verb.Name, word)
		case known && p.TakesValue() && !joined && i+1 < len(at.rest):
			i++
			options = append(options, "--"+p.Name+"="+at.rest[i])
		case known && joined:
			options = append(options, "--"+p.Name+"="+value)
		case known && p.TakesValue() && problem == nil:
			problem = Usagef(at.verb.Name, "--%s needs a value", p.Name)
		case known:
			options = append(options, "--"+p.Name)
		}
	}

	path = at.verb.Words()
	switch {
	case help != nil:
		return []string{helpVerb}, slices.Concat(help[:1], []string{"--"}, path), nil
	case problem != nil:
		return nil, nil, problem
	case at.verb.do == nil && len(options) > 0: // the only one without a verb
		return []string{"version"}, nil, nil
	case at.verb.do == nil:
		return []string{helpVerb}, slices.Concat([]string{"--"}, path, plain[min(2, len(plain)):]), nil
	}

	return path, append(options, plain...), nil
}

const helpVerb = "help"

// helpOptions ask for help wherever they stand, as these options of the verb help.
func helpOptions() map[string]string {
	return map[string]string{"help": "--all=false", "h": "--all=false", "help-all": "--all"}
}

// A descent is how far the words of a command line name a verb.
type descent struct {
	verb   Verb    // without what it does where another word must follow
	params []Param // of the verb
	below  []Verb  // what could have come next; none after a verb that is complete
	stray  string  // what came instead, unless it was the end
	rest   []string
	wrong  string // the first option before all that which no verb has
}

// descend follows the names of verbs, over options that stand before them.
func (t Terminal) descend(words []string) descent {
	at := descent{params: []Param{{Name: "version"}}, below: t.below("")}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if isOption(word) {
			name, _, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
			possible := at.params
			if at.verb.do == nil {
				possible = append(possible, everyParam(t.Verbs)...)
			}

			_, helps := helpOptions()[name]
			if _, known := find(possible, name); at.wrong == "" && !known && !helps {
				at.wrong = word
			}

			at.rest = append(at.rest, word)
			takes := slices.ContainsFunc(possible, func(p Param) bool { return p.TakesValue() && p.named(name) })
			if takes && !joined && i+1 < len(words) {
				i++
				at.rest = append(at.rest, words[i])
			}

			continue
		}

		n := slices.IndexFunc(at.below, func(v Verb) bool { return v.named(word) })
		if n < 0 {
			at.stray, at.rest = word, append(at.rest, words[i:]...)
			return at
		}

		at.verb = at.below[n]
		at.params, at.below = at.verb.Params(), t.below(at.verb.Name)
	}

	return at
}

// below are the verbs that are one word longer than the name.
func (t Terminal) below(name string) []Verb {
	depth := len(strings.Fields(name))
	return slices.DeleteFunc(slices.Clone(t.Verbs), func(v Verb) bool {
		words := v.Words()
		return len(words) != depth+1 || strings.Join(words[:depth], " ") != name
	})
}

// everyParam are the parameters of all these verbs.
func everyParam(verbs []Verb) (all []Param) {
	for _, v := range verbs {
		all = append(all, v.Params()...)
	}
	return all
}

// find returns the option of that name, short or long, without its dashes.
func find(params []Param, name string) (Param, bool) {
	n := slices.IndexFunc(params, func(p Param) bool { return p.named(name) })
	if n < 0 {
		return Param{}, false
	}
	return params[n], true
}

// named reports whether the parameter is the option of that name.
func (p Param) named(name string) bool {
	return p.Arg == "" && name != "" && (p.Name == name || p.Short == name)
}

// isOption reports whether a word of the command line is an option, known or not. "-" and "--" are
// none.
func isOption(word string) bool { return strings.HasPrefix(word, "-") && word != "-" && word != "--" }

func unknownCommand(known []Verb, above, name string) error {
	var names []string
	for _, v := range known {
		names = append(names, strings.Fields(v.Name + " " + v.Alias)[len(v.Words())-1:]...)
	}
	return Usagef(above, "unknown command %q%s", OneLine(name), Meant(names, name))
}

func unknownOption(known []Param, verb, word string) error {
	word, _, _ = strings.Cut(word, "=")
	name := strings.TrimLeft(word, "-")
	var names []string
	for _, p := range known {
		switch {
		case p.Arg == "":
			names = append(names, p.Name)
		case p.Name == name:
			return Usagef(verb, "unknown flag %s; %s is given without it", OneLine(word), strings.Trim(p.Arg, "[]."))
		}
	}

	near := printable.Nearest(names, name)
	if near != "" {
		near = "--" + near
	}

	return Usagef(verb, "unknown flag %s%s", OneLine(word), meant(near))
}
