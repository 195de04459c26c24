package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// An Own is a configuration that the caller named. A repository's configuration decides who counts
// and must be the same for everybody, so it is the one on the default branch. What concerns the
// caller alone may come from a file of theirs: how long their claims and their hook wait, where
// their agents take work from, which repositories they sweep, which variable holds a token
// (docs/decisions/2026-11-22-hostile-repositories.md).
type Own struct {
	Config
	File    string // its name; empty for the zero value
	entries map[string]entryNode
}

// ParseOwn reads the file of a caller. The error is an *Error.
func ParseOwn(name string, data []byte) (Own, error) {
	r := newReader(name)
	own := Own{Config: r.settings(r.document(data)), File: name, entries: r.entries}
	fleet := own.Config
	fleet.Labels = labels.Scheme{} // it may be used on several repositories, whose labels it does not know
	fleet.checkSources(r)
	for _, p := range r.problems {
		p.Named = true
	}

	if err := r.err(); err != nil {
		own.Config = Config{}
		return own, err
	}

	return own, nil
}

// settings reads the settings below the top of a document; nil is an empty one.
func (r *reader) settings(top *yaml.Node) Config {
	c := Default()
	if top != nil {
		f := newFile(&c)
		f.keys().read(r, "", top)
		f.finish(r)
	}

	return c
}

// Has reports whether the file sets a key or anything below it.
func (o Own) Has(path string) bool {
	for set := range o.entries {
		if rest, is := strings.CutPrefix(set, path); is && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

// Over lays what is the caller's own over the configuration of the repository. Whatever else the
// file sets has to be what the repository says; repo names it in errors. The error is an *Error.
func (o Own) Over(c Config, repo string) (Config, error) {
	r := &reader{file: o.File, entries: o.entries}
	for _, s := range settings(&o.Config, &c) {
		switch {
		case !o.Has(s.path):
		case s.own:
			s.theirs.Set(s.mine)
		case s.differs():
			problem := "is " + inWords(s.mine) + ", and on the default branch of " + repo + " it is " +
				inWords(s.theirs)
			r.at(s.path, problem, "what the default branch says, because it must be the same for everybody")
		}
	}

	for _, p := range r.problems {
		p.Everybodys = true
	}

	if err := r.err(); err != nil {
		return Config{}, err
	}

	if o.Has("defaults") || o.Has("agents") { // as a whole: an agent's entry has the defaults in it
		c.Work, c.Agents = o.Work, o.Agents
	}

	return c, nil
}

// Differences are the keys that two configurations have different values for, but for those that
// are each caller's own.
func Differences(a, b Config) []string {
	var out []string
	for _, s := range settings(&a, &b) {
		if s.path != "preset" && !s.own && s.differs() { // a preset is its labels
			out = append(out, s.path)
		}
	}

	return out
}

// A setting is one key of the table, with its values in two configurations.
type setting struct {
	path         string
	own          bool
	mine, theirs reflect.Value
}

func (s setting) differs() bool { return !reflect.DeepEqual(s.mine.Interface(), s.theirs.Interface()) }

// settings are all keys of the table. A value that is set is set in the configuration, except for
// labels, stages and agents, which the file spells in another way.
func settings(mine, theirs *Config) []setting {
	var all []setting
	written(mine).keys().leaves("", func(path string, leaf rule) {
		all = append(all, setting{path: path, own: leaf.own, mine: reflect.ValueOf(leaf.to).Elem()})
	})

	n := 0
	written(theirs).keys().leaves("", func(_ string, leaf rule) {
		all[n].theirs = reflect.ValueOf(leaf.to).Elem()
		n++
	})

	return all
}

// inWords is a value as an error prints it.
func inWords(v reflect.Value) string {
	switch v := v.Interface().(type) {
	case string:
		return quote(v)
	case time.Duration:
		return printable.Exact(v)
	}

	return printable.Short(fmt.Sprint(v.Interface()), 100)
}
