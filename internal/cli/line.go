package cli

import (
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// Read finds the verb that a command line without the program's name is of, and hands it on with
// its parameters. Options may stand anywhere, because people and agents type them behind the
// arguments ("claim 12 --ttl 2h"). A call for help, anywhere, is one of the verb help. The error is
// that of do, or a wrong call: first the options that no such verb has, or that lack their value.
func (t Terminal) Read(words []string, do func(v Verb, params any) error) error {
	at := t.descend(words)
	if at.verb.do == nil && at.stray != "" && at.stray != helpVerb {
		if at.wrong != "" { // no verb has it, so that its value was taken for a command
			return unknownOption(everyParam(at.below), at.verb.Name, at.wrong)
		}
		return unknownCommand(at.below, at.verb.Name, at.stray)
	}

	var options []typed
	var plain []string
	var problem error
	var help *helpParams
	for _, w := range at.typed() {
		all, asks := helpOptions()[w.name]
		switch {
		case !w.option:
			plain = append(plain, w.word)
		case asks && help == nil:
			help = &helpParams{All: all, Commands: at.verb.Words()}
		case asks:
		case !w.known && problem == nil:
			problem = unknownOption(at.params, at.verb.Name, w.word)
		case w.open && problem == nil:
			problem = Usagef(at.verb.Name, "--%s needs a value", w.Name)
		default:
			options = append(options, w)
		}
	}

	switch {
	case help != nil:
		return do(t.descend([]string{helpVerb}).verb, help)
	case problem != nil:
		return problem
	case at.verb.do == nil && len(options) > 0: // the only one without a verb
		version := t.descend([]string{"version"}).verb
		return do(version, version.params())
	case at.verb.do == nil:
		path := append(at.verb.Words(), plain[min(1, len(plain)):]...)
		return do(t.descend([]string{helpVerb}).verb, &helpParams{Commands: path})
	}

	for _, o := range options {
		if err := o.Set(o.value); err != nil {
			return Usagef(at.verb.Name, "--%s %s", o.Name, err)
		}
	}

	if err := at.verb.arguments(at.values, plain); err != nil {
		return err
	}
	return do(at.verb, at.values)
}

const helpVerb = "help"

// helpOptions ask for help wherever they stand, and whether for all of it.
func helpOptions() map[string]bool {
	return map[string]bool{"help": false, "h": false, "help-all": true}
}

// A typed is one argument of a command line, or one option with its value.
type typed struct {
	word   string
	option bool
	name   string
	known  bool // the verb has it: Param
	Param
	value string
	open  bool // its value is missing
}

// typed are the words behind the verb; behind "--" all are arguments, as is that itself.
func (at descent) typed() (all []typed) {
	for i := 0; i < len(at.rest); i++ {
		w := typed{word: at.rest[i]}
		if w.word == "--" {
			for _, word := range at.rest[i:] {
				all = append(all, typed{word: word})
			}
			return all
		}

		if w.option = isOption(w.word); w.option {
			joined := false
			w.name, w.value, joined = cutOption(w.word)
			w.Param, w.known = find(at.params, w.name)
			switch {
			case joined:
			case !w.TakesValue():
				w.value = "true"
			case i+1 < len(at.rest):
				i++
				w.value = at.rest[i]
			default:
				w.open = true
			}
		}

		all = append(all, w)
	}

	return all
}

// A descent is how far the words of a command line name a verb.
type descent struct {
	verb   Verb    // without what it does where another word must follow
	values any     // what its parameters are set to
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
			name, _, joined := cutOption(word)
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
		at.params, at.below = nil, t.below(at.verb.Name)
		if at.verb.do != nil {
			at.values = at.verb.params()
			at.params = Params(at.values)
		}
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

// cutOption takes an option apart; joined is whether its value stands in the same word.
func cutOption(word string) (name, value string, joined bool) {
	return strings.Cut(strings.TrimLeft(word, "-"), "=")
}

func unknownCommand(known []Verb, above, name string) error {
	var names []string
	for _, v := range known {
		names = append(names, strings.Fields(v.Name + " " + v.Alias)[len(v.Words())-1:]...)
	}
	return Usagef(above, "unknown command %q%s", OneLine(name), Meant(names, name))
}

func unknownOption(known []Param, verb, word string) error {
	word, _, _ = strings.Cut(word, "=")
	var names []string
	for _, p := range known {
		if p.Arg == "" {
			names = append(names, p.Name)
		}
	}

	near := printable.Nearest(names, strings.TrimLeft(word, "-"))
	if near != "" {
		near = "--" + near
	}

	return Usagef(verb, "unknown flag %s%s", OneLine(word), meant(near))
}
