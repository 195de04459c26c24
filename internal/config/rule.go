package config

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/label-state/label-state/internal/printable"
)

// A schema is a piece of the JSON schema.
type schema map[string]any

// A rule is how one value is read and how the schema describes it.
type rule struct {
	schema schema
	read   func(r *reader, path string, n *yaml.Node)
}

// A key is one entry of a mapping with fixed keys.
type key struct {
	name, about string
	rule
}

// object is a mapping with exactly these keys, each of which may be left out.
func object(keys ...key) rule {
	properties := schema{}
	for _, k := range keys {
		described := schema{"description": k.about}
		maps.Copy(described, k.schema)
		properties[k.name] = described
	}
	return rule{
		schema{"type": "object", "additionalProperties": false, "properties": properties},
		func(r *reader, path string, n *yaml.Node) {
			r.mapping(path, n, "a mapping", func(name string, at string, line int, value *yaml.Node) {
				i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
				if i < 0 {
					names := make([]string, len(keys))
					for n, k := range keys {
						names[n] = k.name
					}
					r.problem(line, at, "unknown key", strings.Join(names, ", "))
					return
				}
				keys[i].read(r, at, value)
			})
		},
	}
}

// mapping calls entry for every key of a mapping, and remembers where each stands.
func (r *reader) mapping(path string, n *yaml.Node, allowed string, entry func(name, at string, line int, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.wrongType(path, n, allowed)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := join(path, k.Value)
		switch {
		case k.Kind != yaml.ScalarNode:
			r.problem(k.Line, path, "a key that is not a word", "")
		case r.has(at):
			r.problem(k.Line, at, "written twice, first in line "+strconv.Itoa(r.lines[at]), "once")
		default:
			r.lines[at] = k.Line
			entry(k.Value, at, k.Line, v)
		}
	}
}

// join appends a key to a path. A key that is not a plain word is quoted: it is somebody's text.
func join(path, name string) string {
	if !regexp.MustCompile(`^[A-Za-z0-9_/-]{1,64}$`).MatchString(name) {
		name = quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// each is a mapping from names to values of one kind.
func each(name form, item func(name string) rule) rule {
	return rule{
		schema{"type": "object", "additionalProperties": item("").schema},
		func(r *reader, path string, n *yaml.Node) {
			r.mapping(path, n, "a mapping", func(k, at string, line int, value *yaml.Node) {
				if !name.fits(k) {
					r.problem(line, at, "not a name", name.allowed)
				}
				item(k).read(r, at, value)
			})
		},
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
	return rule{s, func(r *reader, path string, n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			r.wrongType(path, n, "a list")
			return
		}
		*to = make([]T, len(n.Content))
		for i, el := range n.Content {
			item(&(*to)[i]).read(r, path+"["+strconv.Itoa(i)+"]", el)
		}
	}}
}

// after is a rule with a check of the value as a whole.
func after(inner rule, check func(r *reader, path string)) rule {
	return rule{inner.schema, func(r *reader, path string, n *yaml.Node) {
		inner.read(r, path, n)
		check(r, path)
	}}
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
