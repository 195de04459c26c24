package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/label-state/label-state/internal/printable"
)

// A schema is a piece of the JSON schema.
type schema map[string]any

// A rule is how one value is read, how the schema describes it, and whose it is.
type rule struct {
	schema schema
	read   func(r *reader, path string, n *yaml.Node)
	to     any   // pointer to where the value is read; nil for a mapping with fixed keys
	keys   []key // of a mapping with fixed keys
	own    bool  // each caller decides it; else the default branch does, for everybody
}

// A key is one entry of a mapping with fixed keys.
type key struct {
	name, about string
	rule
}

// own is a rule for what each caller decides.
func own(r rule) rule {
	r.own = true
	return r
}

// object is a mapping with exactly these keys, each of which may be left out. They are read in this
// order, whatever the file's is.
func object(keys ...key) rule {
	properties := schema{}
	names := make([]string, len(keys))
	for n, k := range keys {
		described := schema{"description": k.about}
		maps.Copy(described, k.schema)
		properties[k.name] = described
		names[n] = k.name
	}

	read := func(r *reader, path string, n *yaml.Node) {
		values := map[string]*yaml.Node{}
		r.mapping(path, n, func(name, at string, line int, value *yaml.Node) {
			if !slices.Contains(names, name) {
				problem, allowed := "unknown key", strings.Join(names, ", ")
				if near := printable.Nearest(names, name); near != "" {
					problem, allowed = problem+"; did you mean "+quote(near)+"?", "" // more would hide it
				}
				r.problem(line, at, problem, allowed)
				return
			}

			values[name] = value
		})

		for _, k := range keys {
			if value, set := values[k.name]; set {
				k.read(r, join(path, k.name), value)
			}
		}
	}

	return rule{
		schema: schema{"type": "object", "additionalProperties": false, "properties": properties},
		read:   read,
		keys:   keys,
	}
}

// described are the keys below a rule that have a value, by their paths, and what each means.
func (u rule) described(path string) (rows [][2]string) {
	for _, k := range u.keys {
		at := join(path, k.name)
		if k.keys == nil {
			rows = append(rows, [2]string{at, k.about})
		}
		rows = append(rows, k.described(at)...)
	}

	return rows
}

// leaves calls visit for each key below a rule that has a value, with its path and whose it is.
func (u rule) leaves(path string, visit func(path string, leaf rule)) {
	if u.keys == nil {
		visit(path, u)
		return
	}

	for _, k := range u.keys {
		k.own = k.own || u.own
		k.leaves(join(path, k.name), visit)
	}
}

// mapping calls entry for every key of a mapping, and remembers where each stands.
func (r *reader) mapping(path string, n *yaml.Node, entry func(name, at string, line int, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.wrongType(path, n, "a mapping")
		return
	}

	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := join(path, k.Value)
		switch {
		case k.Kind != yaml.ScalarNode:
			r.problem(k.Line, path, "a key that is not a word", "")
		case r.has(at):
			r.problem(k.Line, at, "written twice, first in line "+strconv.Itoa(r.entries[at].key.Line), "once")
		default:
			r.entries[at] = entryNode{n, k}
			entry(k.Value, at, k.Line, v)
		}
	}
}

// join appends a key to a path. A key that is not a plain word is quoted: it is somebody's text.
func join(path, name string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/-"
	if name == "" || len(name) > 64 || strings.Trim(name, plain) != "" {
		name = quote(name)
	}

	if path == "" {
		return name
	}

	return path + "." + name
}

// each is a mapping from names to values of one kind, each made by item when its rule is; the name
// "" only describes what one looks like.
func each[T any](to *map[string]T, name form, item func(name string) rule) rule {
	read := func(r *reader, path string, n *yaml.Node) {
		r.mapping(path, n, func(k, at string, line int, value *yaml.Node) {
			if !name.fits(k) {
				r.problem(line, at, "not a name", name.allowed)
			}
			item(k).read(r, at, value)
		})
	}

	return rule{
		schema: schema{"type": "object", "additionalProperties": item("").schema},
		read:   read,
		to:     to,
	}
}

// list is a list of values of one kind; it replaces the default.
func list[T any](to *[]T, item func(*T) rule) rule {
	var zero T
	s := schema{"type": "array", "items": item(&zero).schema}
	if len(*to) > 0 {
		values := make([]any, len(*to)) // as people would write them
		for i, v := range *to {
			values[i] = v
			if d, ok := any(v).(time.Duration); ok {
				values[i] = printable.Exact(d)
			}
		}

		s["default"] = values
	}

	read := func(r *reader, path string, n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			r.wrongType(path, n, "a list")
			return
		}

		*to = make([]T, len(n.Content))
		for i, el := range n.Content {
			item(&(*to)[i]).read(r, path+"["+strconv.Itoa(i)+"]", el)
		}
	}

	return rule{schema: s, read: read, to: to}
}

// after is a rule with a check of the value as a whole.
func after(inner rule, check func(r *reader, path string)) rule {
	read := inner.read
	inner.read = func(r *reader, path string, n *yaml.Node) {
		read(r, path, n)
		check(r, path)
	}
	return inner
}

// wrongType says what a value is instead of what it should be.
func (r *reader) wrongType(path string, n *yaml.Node, allowed string) {
	is := "tagged " + quote(n.ShortTag())
	switch tag := n.ShortTag(); {
	case n.Kind == yaml.MappingNode:
		is = "a mapping"
	case n.Kind == yaml.SequenceNode:
		is = "a list"
	case n.Kind == yaml.AliasNode:
		is = "an alias; write the value itself"
	case tag == "!!null":
		is = "empty"
	case tag == "!!bool":
		is = "true or false"
	case tag == "!!int", tag == "!!float":
		is = "a number"
	case tag == "!!str":
		is = "text"
	}

	r.problem(n.Line, path, "is "+is, allowed)
}
