package contract

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// strangers finds the fields of a JSON text that a schema does not know. The schema allows them; a program that reads them
// from the simulator would miss them at GitHub.
func strangers(where string, text []byte, schema *openapi3.Schema) []finding {
	var value any
	if schema == nil || json.Unmarshal(text, &value) != nil {
		return nil
	}
	return strange(where, "", value, []*openapi3.Schema{schema})
}

// strange looks at one value, of which any of the schemas may be true.
func strange(where, at string, value any, schemas []*openapi3.Schema) []finding {
	s := shape{fields: map[string][]*openapi3.Schema{}, seen: map[*openapi3.Schema]bool{}}
	for _, one := range schemas {
		s.add(one)
	}
	var found []finding
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			found = append(found, strange(where, at+"/*", item, s.items)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			known := s.fields[name]
			switch {
			case known != nil:
				found = append(found, strange(where, at+"/"+name, value[name], known)...)
			case !s.open():
				found = append(found, finding{where, "unknown field " + at + "/" + name})
			}
		}
	}
	return found
}

// A shape is what schemas say together of an object's fields and a list's items.
type shape struct {
	fields map[string][]*openapi3.Schema
	items  []*openapi3.Schema
	free   bool // other fields are described
	seen   map[*openapi3.Schema]bool
}

// open reports whether any field is as good as another.
func (s *shape) open() bool { return s.free || len(s.fields) == 0 }

func (s *shape) add(schema *openapi3.Schema) {
	if schema == nil || s.seen[schema] {
		return
	}
	s.seen[schema] = true
	for name, field := range schema.Properties {
		s.fields[name] = append(s.fields[name], field.Value)
	}
	if schema.Items != nil {
		s.items = append(s.items, schema.Items.Value)
	}
	more := schema.AdditionalProperties
	if more.Schema != nil || (more.Has != nil && *more.Has) {
		s.free = true
	}
	for _, group := range []openapi3.SchemaRefs{schema.AllOf, schema.AnyOf, schema.OneOf} {
		for _, part := range group {
			s.add(part.Value)
		}
	}
}
