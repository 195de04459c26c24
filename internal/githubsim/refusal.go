package githubsim

import (
	"cmp"
	"fmt"
)

// A refusal is why GitHub does not do something; REST and GraphQL each have their own words for it.
type refusal struct {
	status  int
	message string
	errors  []any  // REST's details of a 422
	moved   string // where a 301 points, as an API path
	renamed bool   // it is the repository that moved: a write is answered by 307
	absent  string // GraphQL's sentence when the object cannot be resolved
	kind    string // GraphQL's type of error where it is not what the status says
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("%d %s", r.status, r.message)
	for _, e := range r.errors {
		if o, ok := e.(object); ok {
			text += fmt.Sprintf(" (%v: %v)", o["field"], cmp.Or(o["message"], o["code"]))
		}
	}

	return text
}

func notFound() *refusal { return &refusal{status: 404, message: "Not Found"} }

// unresolved is a 404 for REST and names what is missing for GraphQL.
func unresolved(format string, args ...any) *refusal {
	return &refusal{status: 404, message: "Not Found", absent: "Could not resolve to " + fmt.Sprintf(format, args...)}
}

func forbidden(message string) *refusal { return &refusal{status: 403, message: message} }

// archived refuses a write to an archive, which GraphQL does not call forbidden.
func archived() *refusal {
	return &refusal{status: 403, message: "Repository was archived so is read-only.", kind: "UNPROCESSABLE"}
}

func gone(message string) *refusal { return &refusal{status: 410, message: message} }

func conflict(message string) *refusal { return &refusal{status: 409, message: message} }

// unprocessable is a 422 whose message says it all.
func unprocessable(message string) *refusal { return &refusal{status: 422, message: message} }

// invalid is the 422 of a failed validation of one field.
func invalid(resource, field, code string) *refusal {
	return &refusal{status: 422, message: "Validation Failed", errors: []any{
		object{"resource": resource, "field": field, "code": code},
	}}
}

// invalidBecause is the 422 of a failed validation that has its own sentence.
func invalidBecause(resource, field, sentence string) *refusal {
	return &refusal{status: 422, message: "Validation Failed", errors: []any{
		object{"resource": resource, "field": field, "code": "custom", "message": sentence},
	}}
}
