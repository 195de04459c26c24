package mcp

import (
	"github.com/google/jsonschema-go/jsonschema"
)

// input is the schema of the tool's arguments.
func (t tool) input() *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}

	for _, a := range t.arguments(t.verb.NewParams()) {
		one := &jsonschema.Schema{Type: "string", Description: a.Text}
		s.Properties[a.name] = one
		s.PropertyOrder = append(s.PropertyOrder, a.name)
		if a.need {
			s.Required = append(s.Required, a.name)
		}

		switch a.Field().(type) {
		case *int64:
			one.Type, one.Minimum = "integer", jsonschema.Ptr(1.0)
		case *bool:
			one.Type = "boolean"
		case *[]string:
			one.Type, one.Items = "array", &jsonschema.Schema{Type: "string"}
			one = one.Items
		}

		for _, value := range a.Only {
			if !a.Open {
				one.Enum = append(one.Enum, value)
			}
		}
	}

	return s
}

// output is the schema of an answer. What is in a result is the command's JSON (docs/cli.md,
// "JSON"), which a tool does not repeat: every client pays for its list of tools in each session.
func (t tool) output() (*jsonschema.Schema, error) {
	out, err := jsonschema.For[result](nil)
	if err != nil {
		return nil, err
	}

	out.AdditionalProperties = nil // new keys may come
	set := out.Properties
	set["answer"].Enum = []any{"yes", "no", "unknown", "waiting", "refused"}
	set["result"] = &jsonschema.Schema{Type: "object"}
	set["results"] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object"}}

	for _, texts := range []string{"notes", "untrusted"} {
		set[texts] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
	}

	if !t.Many {
		delete(set, "results")
	}

	return out, nil
}
