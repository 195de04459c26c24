package contract

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// A judge knows GitHub's descriptions of both APIs.
type judge struct {
	rest    *description
	graphQL *ast.Schema
}

func newJudge(t *testing.T) judge {
	t.Helper()
	return judge{describeREST(t), describeGraphQL(t)}
}

// all judges exchanges of both kinds.
func (j judge) all(exchanges []exchange) (byREST, documents []finding) {
	for _, e := range exchanges {
		if strings.HasSuffix(e.request.URL.Path, "/graphql") {
			documents = append(documents, judgeDocument(j.graphQL, e)...)
		} else {
			byREST = append(byREST, j.rest.judge(e)...)
		}
	}
	return byREST, documents
}

// judgeDocument holds a GraphQL request, document and variables, against GitHub's schema.
func judgeDocument(schema *ast.Schema, e exchange) []finding {
	var sent struct {
		Query     string
		Variables map[string]any
	}
	if err := json.Unmarshal(e.sent, &sent); err != nil {
		return []finding{{"request", err.Error()}}
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: sent.Query})
	if err != nil {
		return complaints("document", err)
	}
	var found []finding
	for _, err := range validator.ValidateWithRules(schema, doc, rules.NewDefaultRules()) {
		found = append(found, complaints(kindOf(doc), err)...)
	}
	if len(found) == 0 {
		_, err = validator.VariableValues(schema, doc.Operations[0], sent.Variables)
		found = complaints(kindOf(doc)+" variables", err)
	}
	return found
}

func kindOf(doc *ast.QueryDocument) string {
	if len(doc.Operations) == 0 {
		return "document"
	}
	return string(doc.Operations[0].Operation)
}

// complaints leaves out in which line it was: documents are generated.
func complaints(where string, err error) []finding {
	var typed *gqlerror.Error
	switch {
	case errors.As(err, &typed):
		return []finding{{where, typed.Message}}
	case err != nil:
		return []finding{{where, err.Error()}}
	}
	return nil
}
