package contract

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

const schemaFile = "@octokit/graphql-schema/schema.graphql"

// loadSchema reads GitHub's schema once for all tests.
var loadSchema = sync.OnceValues(func() (*ast.Schema, error) {
	text, err := os.ReadFile("node_modules/" + schemaFile)
	if err != nil {
		return nil, err
	}
	return parseSchema(string(text))
})

func describeGraphQL(t *testing.T) *ast.Schema {
	t.Helper()
	npmFile(t, schemaFile)
	schema, err := loadSchema()
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// parseSchema reads a schema. GitHub's own defines some fields twice, which the parser would refuse: the first one counts.
func parseSchema(text string) (*ast.Schema, error) {
	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Input: text})
	if err != nil {
		return nil, err
	}
	for _, d := range doc.Definitions {
		seen := map[string]bool{}
		d.Fields = slices.DeleteFunc(d.Fields, func(f *ast.FieldDefinition) bool {
			again := seen[f.Name]
			seen[f.Name] = true
			return again
		})
	}
	return validator.ValidateSchemaDocument(doc)
}

// ourSchema is the one that the simulator serves.
func ourSchema(t *testing.T) *ast.Schema {
	t.Helper()
	text, err := os.ReadFile("../internal/githubsim/schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := parseSchema(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestSchema: whatever the simulator's schema declares, GitHub's declares too, and the same way.
func TestSchema(t *testing.T) {
	theirs, ours := describeGraphQL(t), ourSchema(t)
	var findings []finding
	for _, name := range slices.Sorted(maps.Keys(ours.Types)) {
		if d := ours.Types[name]; !d.BuiltIn {
			findings = append(findings, compareTypes(d, theirs.Types[name])...)
		}
	}
	reportAll(t, findings, schemaExceptions)
}

func compareTypes(ours, theirs *ast.Definition) []finding {
	if theirs == nil || ours.Kind != theirs.Kind {
		return []finding{{ours.Name, "is no " + string(ours.Kind)}}
	}
	found := slices.Concat(
		extra(ours.Name, "does not implement", ours.Interfaces, theirs.Interfaces),
		extra(ours.Name, "has no member", ours.Types, theirs.Types),
		extra(ours.Name, "has no value", values(ours), values(theirs)),
	)
	for _, f := range ours.Fields {
		found = append(found, compareFields(ours.Name+"."+f.Name, f, theirs.Fields.ForName(f.Name))...)
	}
	if ours.Kind == ast.InputObject {
		found = append(found, needed(ours, theirs)...)
	}
	return found
}

// extra are the names that ours has and theirs has not.
func extra(where, what string, ours, theirs []string) []finding {
	var found []finding
	for _, name := range ours {
		if !slices.Contains(theirs, name) {
			found = append(found, finding{where, what + " " + name})
		}
	}
	return found
}

func values(d *ast.Definition) []string {
	var names []string
	for _, v := range d.EnumValues {
		names = append(names, v.Name)
	}
	return names
}

func compareFields(where string, ours, theirs *ast.FieldDefinition) []finding {
	if theirs == nil {
		return []finding{{where, "does not exist"}}
	}
	found := differ(where, ours.Type, theirs.Type, ours.DefaultValue, theirs.DefaultValue)
	for _, a := range ours.Arguments {
		at := where + "(" + a.Name + ")"
		same := theirs.Arguments.ForName(a.Name)
		if same == nil {
			found = append(found, finding{at, "does not exist"})
			continue
		}
		found = append(found, differ(at, a.Type, same.Type, a.DefaultValue, same.DefaultValue)...)
	}
	for _, a := range theirs.Arguments {
		if a.Type.NonNull && a.DefaultValue == nil && ours.Arguments.ForName(a.Name) == nil {
			found = append(found, finding{where, "lacks the argument " + a.Name})
		}
	}
	return found
}

func differ(where string, ours, theirs *ast.Type, usual, theirUsual *ast.Value) []finding {
	var found []finding
	if ours.String() != theirs.String() {
		found = append(found, finding{where, fmt.Sprintf("is %s, not %s", theirs, ours)})
	}
	if a, b := usual.String(), theirUsual.String(); a != b {
		found = append(found, finding{where, fmt.Sprintf("is %q by default, not %q", b, a)})
	}
	return found
}

// needed are the fields that GitHub requires of an input and that ours does not have.
func needed(ours, theirs *ast.Definition) []finding {
	var found []finding
	for _, f := range theirs.Fields {
		if f.Type.NonNull && f.DefaultValue == nil && ours.Fields.ForName(f.Name) == nil {
			found = append(found, finding{ours.Name, "lacks the field " + f.Name})
		}
	}
	return found
}
