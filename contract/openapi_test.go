package contract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// A description is GitHub's account of its REST API.
type description struct {
	*openapi3.T
	operations []operation
}

// An operation is one method of one path.
type operation struct {
	method, path string
	pattern      pattern
	item         *openapi3.PathItem
	*openapi3.Operation
}

// loadREST reads the description once for all tests: it is large.
var loadREST = sync.OnceValues(func() (*description, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("node_modules/" + restFile)
	if err != nil {
		return nil, err
	}
	d := &description{T: doc}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			d.operations = append(d.operations, operation{method, path, strings.Split(path, "/"), item, op})
		}
	}
	slices.SortStableFunc(d.operations, func(a, b operation) int {
		return cmp.Or(a.pattern.wild()-b.pattern.wild(), len(b.pattern)-len(a.pattern)) // what says more is meant
	})
	return d, nil
})

const restFile = "@octokit/openapi/generated/api.github.com.json"

func describeREST(t *testing.T) *description {
	t.Helper()
	npmFile(t, restFile)
	d, err := loadREST()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// find returns the operation that a request is for.
func (d *description) find(r *http.Request) (operation, map[string]string, bool) {
	parts := splitPath(r.URL.EscapedPath())
	for _, op := range d.operations {
		if op.method != r.Method {
			continue
		}
		if params, ok := op.pattern.match(parts); ok {
			return op, params, true
		}
	}
	return operation{}, nil, false
}

// judge says in what an exchange differs from the description.
func (d *description) judge(e exchange) []finding {
	op, params, known := d.find(e.request)
	if !known {
		return []finding{{e.request.Method + " " + e.request.URL.Path, "is not described"}}
	}
	found := d.judgeAnswer(op, e)
	if e.status < 400 { // what was refused may have been wrong on purpose
		found = append(found, d.judgeRequest(op, params, e)...)
	}
	return found
}

func (d *description) judgeRequest(op operation, params map[string]string, e exchange) []finding {
	request := e.request.Clone(context.Background())
	request.Body, request.ContentLength = io.NopCloser(strings.NewReader(string(e.sent))), int64(len(e.sent))
	err := openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request: request, PathParams: params,
		Route: &routers.Route{Spec: d.T, Path: op.path, PathItem: op.item, Method: op.method, Operation: op.Operation},
		Options: &openapi3filter.Options{
			MultiError: true, RejectWhenRequestBodyNotSpecified: true, SkipSettingDefaults: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		},
	})
	where := op.OperationID + " request"
	found := list(where, err)
	for name := range e.request.URL.Query() {
		if op.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			found = append(found, finding{where, "unknown query parameter " + name})
		}
	}
	if op.RequestBody != nil && len(e.sent) > 0 {
		found = append(found, strangers(where, e.sent, jsonSchema(op.RequestBody.Value.Content))...)
	}
	return found
}

// judgeAnswer looks at status, type and body. A failure whose body is not described has to have the common one.
func (d *description) judgeAnswer(op operation, e exchange) []finding {
	where := fmt.Sprintf("%s %d", op.OperationID, e.status)
	var found []finding
	content := d.Components.Responses[common(e.status)].Value.Content
	if described := op.Responses.Status(e.status); described == nil {
		found = append(found, finding{where, "status is not described"})
	} else if len(described.Value.Content) > 0 || e.status < 400 {
		content = described.Value.Content
	}
	if len(content) == 0 || e.status == http.StatusNotModified {
		if len(e.got) > 0 {
			found = append(found, finding{where, "has a body"})
		}
		return found
	}
	return append(found, judgeContent(where, e, content)...)
}

// common names what the description shares between operations for a failure.
func common(status int) string {
	if status == http.StatusUnprocessableEntity {
		return "validation_failed"
	}
	return "not_found"
}

func judgeContent(where string, e exchange, content openapi3.Content) []finding {
	kind, _, _ := strings.Cut(e.header.Get("Content-Type"), ";")
	media := content.Get(kind)
	if media == nil {
		return []finding{{where, "is of type " + kind}}
	}
	if kind != "application/json" {
		return nil
	}
	return judgeBody(where, e.got, media.Schema.Value)
}

func jsonSchema(c openapi3.Content) *openapi3.Schema {
	if media := c.Get("application/json"); media != nil && media.Schema != nil {
		return media.Schema.Value
	}
	return nil
}

// judgeBody holds a JSON text against a schema: what is missing or wrong, and what GitHub would not say.
func judgeBody(where string, text []byte, schema *openapi3.Schema) []finding {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return []finding{{where, err.Error()}}
	}
	err := schema.VisitJSON(value, openapi3.MultiErrors(), openapi3.VisitAsResponse(), openapi3.EnableFormatValidation(),
		openapi3.WithStringFormatValidators(formats()))
	return append(list(where, err), strangers(where, text, schema)...)
}

// formats are the formats of the description that carry a rule.
func formats() map[string]openapi3.StringFormatValidator {
	check := func(f func(string) error) openapi3.StringFormatValidator {
		return openapi3.NewCallbackValidator(f)
	}
	return map[string]openapi3.StringFormatValidator{
		"date-time": check(func(s string) error { _, err := time.Parse(time.RFC3339, s); return err }),
		"uri":       check(address),
		"uri-template": check(func(s string) error {
			before, _, _ := strings.Cut(s, "{")
			return address(before)
		}),
	}
}

func address(s string) error {
	u, err := url.Parse(s)
	if err == nil && u.Scheme == "" {
		err = errors.New("not absolute")
	}
	return err
}

// list turns the errors of a judge into findings.
func list(where string, err error) []finding {
	var many openapi3.MultiError
	var one *openapi3.SchemaError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &many) && len(many) > 0:
		var all []finding
		for _, e := range many {
			all = append(all, list(where, e)...)
		}
		return all
	case errors.As(err, &one):
		return []finding{{where, "/" + strings.Join(one.JSONPointer(), "/") + ": " + one.Reason}}
	}
	return []finding{{where, err.Error()}}
}
