package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// A queryError is one entry under errors of a GraphQL answer.
type queryError struct {
	Type       string
	Code       string
	Message    string
	Path       []any
	Extensions struct{ Code string }
}

// typed is the package's error for it.
func (e queryError) typed() error {
	switch e.Type {
	case "NOT_FOUND":
		return &NotFoundError{Status: http.StatusNotFound, Message: oneLine(e.Message)}
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		return &PermissionError{Message: oneLine(e.Message)}
	}

	return &QueryError{Type: oneLine(e.Type), Message: oneLine(e.Message)}
}

// part returns an element of the path, empty where it is not a name.
func (e queryError) part(n int) string {
	if n >= len(e.Path) {
		return ""
	}
	name, _ := e.Path[n].(string)
	return name
}

var schemaWords = pattern(`(?i)doesn't exist on type|doesn't accept argument|cannot query field|unknown (argument|type|directive|field)|no such type`)

// schema reports whether the server's schema lacks something that the query uses.
func (e queryError) schema() bool {
	codes := []string{"undefinedField", "undefinedType", "argumentNotAccepted", "undefinedArgument", "fieldConflict"}
	return slices.Contains(codes, e.Extensions.Code) || schemaWords().MatchString(e.Message)
}

// A partial is what GraphQL answered, with the errors of its parts.
type partial struct {
	now    time.Time // Date of the answer; zero when it has none
	errors []queryError
}

// Query sends one GraphQL query or mutation and decodes data into into. Any error GraphQL reports,
// also for a part, is an error here.
func (c *Client) Query(ctx context.Context, text string, variables map[string]any, into any) error {
	got, err := c.askText(ctx, text, variables, into)
	if err != nil {
		return err
	}
	return missing(got.failed(), Object{Kind: QueriedObject})
}

// ask sends a document and accepts that parts of it are not found or not permitted. What can be
// done without is left out once the server's schema turned out to lack it: nothing was carried out
// then.
func (c *Client) ask(ctx context.Context, d *document, into any) (partial, error) {
	for {
		got, err := c.askText(ctx, d.text(c), d.variables, into)
		if !errors.Is(err, errAgain) {
			return got, err
		}
	}
}

// askIn asks a repository for what the document selects there, and decodes what the path leads to
// into into. Only that must be there: the errors of other parts are in the partial.
func (c *Client) askIn(ctx context.Context, r claim.Repo, d *document, into any, path ...string) (partial, error) {
	const alias = "repository"
	selected := d.body.String()
	d.body.Reset()
	d.open(alias, r)
	d.add("%s  }\n", selected)

	var data json.RawMessage
	got, err := c.ask(ctx, d, &data)
	for _, name := range append([]string{alias}, path...) {
		var fields map[string]json.RawMessage
		if err == nil {
			err = cause(json.Unmarshal(data, &fields))
		}
		if data = fields[name]; err == nil && (len(data) == 0 || string(data) == "null") {
			err = got.absence(alias)
			if name == alias {
				err = missing(err, repository(r))
			}
		}
	}

	if err != nil {
		return got, err
	}

	return got, cause(json.Unmarshal(data, into))
}

// askWhole is askIn for a question no part of which may fail.
func (c *Client) askWhole(ctx context.Context, r claim.Repo, d *document, into any, path ...string) error {
	got, err := c.askIn(ctx, r, d, into, path...)
	return cmp.Or(err, got.failed())
}

// askText sends a query. Where GraphQL does not answer the error is a *NoGraphQLError. errAgain
// says that the schema lacks a part that can be done without.
func (c *Client) askText(ctx context.Context, text string, variables map[string]any, into any) (partial, error) {
	if readsOnly(text) {
		ctx = hinted(ctx, reading)
	}
	var body bytes.Buffer
	header, err := c.carry(ctx, http.MethodPost, c.o.GraphQL, "application/json",
		map[string]any{"query": text, "variables": variables}, &body)
	if status, other := errors.AsType[*StatusError](err); is[*NotFoundError](err) || other && status.Rejected() {
		return partial{}, &NoGraphQLError{Cause: err}
	}
	if err != nil {
		return partial{}, err
	}

	var top queryAnswer
	if err := json.Unmarshal(body.Bytes(), &top); err != nil {
		return partial{}, unusable("it is not GraphQL")
	}
	if top.empty() {
		return partial{}, c.nothing(text, top.Errors)
	}

	// An error about GitHub and not about what was asked for is one of the whole answer: out of
	// resources, out of time, out of order. What is null in it may be there, also where no error
	// says so.
	for _, e := range top.Errors {
		if err := e.typed(); tooMuch(err) {
			return partial{}, err
		}
	}

	if err := json.Unmarshal(top.Data, into); err != nil {
		return partial{}, cause(err)
	}

	return partial{now: (response{header: header}).date(time.Time{}), errors: top.Errors}, nil
}

// nothing is the error of an answer without data to the query.
func (c *Client) nothing(query string, reported []queryError) error {
	if len(reported) == 0 {
		return unusable("the data is missing")
	}

	first := reported[0]
	if !slices.ContainsFunc(reported, queryError.schema) {
		return missing(first.typed(), Object{Kind: QueriedObject})
	}
	if c.learn(query, reported) {
		return errAgain
	}

	return &NoGraphQLError{Old: true, Cause: missing(first.typed(), Object{Kind: SchemaObject})}
}

// errAgain says that the same question, asked again, leaves out what the schema lacks.
var errAgain = errors.New("the server's schema is older than the query")

// The parts of a query that can be done without.
const (
	featureBlockers   = "blockedBy"
	featureDuplicates = "enableDuplicate"
	featureActors     = "assignedActors"
)

// learn notes which optional parts of a query the schema lacks. It reports false when something is
// missing that is not optional.
func (c *Client) learn(query string, all []queryError) bool {
	for _, e := range all {
		optional := false
		for _, f := range []string{featureBlockers, featureDuplicates, featureActors} {
			if strings.Contains(e.Message, f) && strings.Contains(query, f) {
				c.lack(f)
				optional = true
			}
		}

		if !optional {
			return false
		}
	}

	return true
}

// tooOld reports whether the server's schema lacks something that a query cannot do without.
func tooOld(err error) bool {
	none, is := errors.AsType[*NoGraphQLError](err)
	return is && none.Old
}

// A bigInt is an integer that GraphQL sends as a string.
type bigInt int64

// UnmarshalJSON implements json.Unmarshaler for "123" and 123.
func (b *bigInt) UnmarshalJSON(raw []byte) error {
	var n json.Number
	if err := json.Unmarshal([]byte(strings.Trim(string(raw), `"`)), &n); err != nil {
		return fmt.Errorf("read id: %w", err)
	}

	id, err := n.Int64()
	*b = bigInt(id)
	return err
}

// A connection is a page of a GraphQL list. Nodes that are null could not be read.
type connection[T any] struct {
	TotalCount int
	PageInfo   struct {
		HasNextPage     bool
		HasPreviousPage bool
		StartCursor     string
		EndCursor       string
	}
	Nodes []*T
}

// shown are the nodes that could be read; a connection that is missing has none.
func (c *connection[T]) shown() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for k := 0; c != nil && k < len(c.Nodes); k++ {
			if c.Nodes[k] != nil && !yield(c.Nodes[k]) {
				return
			}
		}
	}
}

// all returns the nodes, or an error if some are missing.
func (c *connection[T]) all(what string) ([]*T, error) {
	switch {
	case c == nil:
		return nil, unusable(what + " are missing")
	case slices.Contains(c.Nodes, nil):
		return nil, unusable("some " + what + " are missing")
	case len(c.Nodes) < c.TotalCount:
		return nil, &AnswerError{
			Reason: fmt.Sprintf("%d of %d %s are missing", c.TotalCount-len(c.Nodes), c.TotalCount, what), short: true,
		}
	}

	return c.Nodes, nil
}

// first returns the first error about what is at a path, about anything below it, or about what it
// is a part of; nil where there is none.
func (p partial) first(path ...any) *queryError {
	for n := range p.errors {
		e := &p.errors[n]
		both := min(len(e.Path), len(path))
		if slices.Equal(e.Path[:both], path[:both]) {
			return e
		}
	}
	return nil
}

// failed is the package's error for the first one; of whatever part, where no path is named.
func (p partial) failed(path ...any) error {
	if e := p.first(path...); e != nil {
		return e.typed()
	}
	return nil
}

// absence is why there is nothing under an alias.
func (p partial) absence(alias string) error { return cmp.Or(p.failed(alias), absent()) }

// absent is the error of an answer that does not speak of what was asked for.
func absent() error { return unusable("something that was asked for is missing") }
