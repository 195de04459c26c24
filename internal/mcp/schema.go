package mcp

import (
	"github.com/google/jsonschema-go/jsonschema"
)

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
