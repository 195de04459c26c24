package githubsim

import (
	"context"
	_ "embed" // the schema is a file, so that it can be laid beside GitHub's own
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

//go:embed schema.graphql
var schemaText string

// graphQL is made once for all servers of a process: it takes longer than most of what tests do
// with a server, and no resolver keeps anything, since the call is in the context.
var graphQL = sync.OnceValues(func() (*executor, error) { return newExecutor(schemaText, &rootResolver{}) })

// rootResolver starts every query and mutation; the call is in the context.
type rootResolver struct{}

// A gqlQuery is the body of a GraphQL request.
type gqlQuery struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
}

// A gqlFault is an error of a field, with GitHub's type of error.
type gqlFault struct{ kind, message string }

func (e *gqlFault) Error() string { return e.message }

// A gqlError is an error as GitHub writes it into the answer.
type gqlError struct {
	Type      string              `json:"type,omitempty"`
	Code      string              `json:"code,omitempty"`
	Path      []any               `json:"path,omitempty"`
	Locations []gqlerror.Location `json:"locations,omitempty"`
	Message   string              `json:"message"`
}

// A gqlAnswer is the body of a GraphQL answer. Errors do not keep the status from being 200.
type gqlAnswer struct {
	Data   json.RawMessage `json:"data,omitempty"`
	Errors []gqlError      `json:"errors,omitempty"`
}

type callKey struct{}

// callOf returns the call that serveGraphQL put into the context.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// serveGraphQL executes one document. The lock is held, so the document sees one state of the
// store.
func (s *Server) serveGraphQL(w http.ResponseWriter, c *call) {
	switch {
	case s.GraphQLOff || c.r.Method != http.MethodPost:
		c.refuse(w, notFound())
		return
	case c.who.account == nil:
		c.refuse(w, &refusal{
			status:  http.StatusUnauthorized,
			message: "This endpoint requires you to be authenticated.",
		})
		return
	}

	var sent gqlQuery
	if err := json.NewDecoder(c.r.Body).Decode(&sent); err != nil {
		c.refuse(w, &refusal{status: http.StatusBadRequest, message: "Problems parsing JSON"})
		return
	}
	if sent.Query == "" {
		c.reply(w, gqlAnswer{Errors: []gqlError{{Message: "A query attribute must be specified and must be a string."}}})
		return
	}

	b := c.who.token.budget("graphql", s.options.RateLimit, s.st.moment)
	doc := s.graphQL.document(sent.Query)
	c.cost = doc.cost
	if b.remaining() < c.cost {
		b.header(c.header, "graphql")
		message := fmt.Sprintf("API rate limit already exceeded for user ID %d.", c.who.account.id)
		c.reply(w, gqlAnswer{Errors: []gqlError{{Type: "RATE_LIMIT", Code: "graphql_rate_limit", Message: message}}})
		return
	}

	if o := doc.operation(sent.OperationName); o != nil && o.Operation == ast.Mutation {
		c.meter.lift()
	} else {
		c.view = c.past
	}

	b.used += c.cost
	b.header(c.header, "graphql")
	answer := s.execute(c, doc, sent)
	if c.meter.timedOut() {
		c.giveUp(w)
		return
	}

	c.reply(w, answer)
}

func (s *Server) execute(c *call, doc *gqlDocument, sent gqlQuery) gqlAnswer {
	ctx := context.WithValue(c.r.Context(), callKey{}, c)
	data, wrong := s.graphQL.execute(ctx, doc, sent)
	out := gqlAnswer{Data: data}
	for _, e := range wrong {
		if errors.Is(e.err, errQueryFault) {
			return gqlAnswer{Errors: []gqlError{{Message: c.queryFault()}}}
		}
		out.Errors = append(out.Errors, fieldError(e))
	}

	return out
}

// errQueryFault is what a resolver refuses and GitHub answers as if it had failed itself: no data,
// no type.
var errQueryFault = errors.New("a fault of GitHub's own, as far as the client is told")

func (c *call) queryFault() string {
	return fmt.Sprintf("Something went wrong while executing your query on %s. Please include `%s` when reporting this issue.",
		timestamp(c.moment), c.header.Get("X-GitHub-Request-Id"))
}

// fieldError gives an error the type that GitHub gives it.
func fieldError(e execError) gqlError {
	out := gqlError{Path: e.path, Locations: e.at, Message: e.text}
	var refused *refusal
	var fault *gqlFault
	switch {
	case errors.As(e.err, &fault):
		out.Type = fault.kind
	case errors.As(e.err, &refused):
		out.Type, out.Message = refused.graphQL()
	}

	return out
}

// graphQL is the type and the message that GraphQL has for a refusal.
func (r *refusal) graphQL() (kind, message string) {
	message = r.message
	if r.absent != "" {
		return "NOT_FOUND", r.absent
	}
	if r.kind != "" {
		return r.kind, message
	}

	for _, e := range r.errors {
		if o, ok := e.(object); ok && o["message"] != nil {
			message = fmt.Sprint(o["message"])
		}
	}

	switch r.status {
	case http.StatusNotFound, http.StatusGone, http.StatusMovedPermanently:
		return "NOT_FOUND", message
	case http.StatusForbidden, http.StatusUnauthorized:
		return "FORBIDDEN", message
	default:
		return "UNPROCESSABLE", message
	}
}

func (c *call) reply(w http.ResponseWriter, a gqlAnswer) {
	text, err := json.Marshal(a)
	if err != nil {
		c.refuse(w, err)
		return
	}

	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(text) // into memory
}

// The scalars of GitHub's schema.
type (
	bigInt      int64
	dateTime    struct{ time.Time }
	uri         string
	gitObjectID string
	gitRefname  string
	globalID    string // of type ID
)

// MarshalJSON writes a BigInt as GitHub does: as a string.
func (b bigInt) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `"%d"`, int64(b)), nil }

// MarshalJSON writes a DateTime with a resolution of one second.
func (t dateTime) MarshalJSON() ([]byte, error) { return json.Marshal(timestamp(t.Time)) }

// moment is a DateTime that may be null.
func moment(t time.Time) *dateTime {
	if t.IsZero() {
		return nil
	}
	return &dateTime{t}
}

// small is a database id for a field of type Int: null when it does not fit.
func small(id int64) *int32 {
	if id > math.MaxInt32 {
		return nil
	}
	fits := int32(id)
	return &fits
}
