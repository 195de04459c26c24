package github

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
)

// refused is a part of errors that mean: the request was certainly not carried out.
type refused struct{}

// Rejected reports true.
func (refused) Rejected() bool { return true }

// uncertain is a part of errors that mean: the request may have been carried out.
type uncertain struct{}

// Rejected reports false.
func (uncertain) Rejected() bool { return false }

// caused is a part of errors that have a cause.
type caused struct{ Err error }

// Unwrap returns the cause.
func (c caused) Unwrap() error { return c.Err }

// A RateLimitError says that GitHub wants us to come back later and that this does not fit the
// caller's deadline, or that waiting did not help.
type RateLimitError struct {
	At         time.Time     // when to come back, by the server's clock; never earlier
	RetryAfter time.Duration // the same, from when the error was made
	Secondary  bool          // too fast, rather than the hourly budget used up
	Message    string        // GitHub's words, or ours when nothing was sent
	refused
}

func (e *RateLimitError) Error() string {
	what := "rate limit"
	if e.Secondary {
		what = "secondary rate limit"
	}
	return fmt.Sprintf("%s reached, come back at %s", what, e.At.UTC().Format("15:04:05 UTC"))
}

// Exhausted reports true: going on with other requests can only do harm.
func (e *RateLimitError) Exhausted() bool { return true }

// An AuthError says that the token is bad, expired or missing (401).
type AuthError struct {
	Message string
	From    string // where the caller found the token; empty where it did not say
	refused
}

func (e *AuthError) Error() string { return withMessage("token refused", 401, e.Message) }

// A PermissionError says that the token is good and not allowed to do this (403, or FORBIDDEN from
// GraphQL). To some writes GitHub answers 404 instead.
type PermissionError struct {
	Status  int // 0 is 403
	Message string
	Codes   []string // of what was refused: unauthorized, …
	Write   bool     // it was asked to change something
	Push    bool     // the login lacks the right to push, whatever its token may do
	// what would have been accepted, as a workflow writes it: "contents: write"; empty when GitHub
	// did not say
	Needs string
	refused
}

func (e *PermissionError) Error() string {
	return withMessage("not permitted", cmp.Or(e.Status, http.StatusForbidden), e.Message)
}

// Forbidden reports true: whose token it is lacks the right.
func (e *PermissionError) Forbidden() bool { return true }

// Denied reports whether the token was made without the right to do this, so that the same kind
// of write fails everywhere: a workflow's or an app's token without a permission.
func (e *PermissionError) Denied() bool {
	return e.Write && e.ofToken()
}

// Archived reports whether the repository is archived, where no permission helps.
func (e *PermissionError) Archived() bool { return strings.Contains(e.Message, "archived") }

// Locked reports whether the conversation is locked, where only those who may push can comment.
func (e *PermissionError) Locked() bool { return strings.Contains(e.Message, "issue is locked") }

// ofToken reports whether the token lacks a permission, rather than its login a role.
func (e *PermissionError) ofToken() bool {
	return strings.HasPrefix(e.Message, "Resource not accessible by")
}

// A NotFoundError says that there is no such thing, or none that the token may see (404), or none
// any more (410).
type NotFoundError struct {
	What    Object // the zero Object when the request named it
	Status  int
	Message string
	Write   bool // it was asked to change something, which the token may also not be allowed
	refused
}

func (e *NotFoundError) Error() string {
	return withMessage(strings.TrimSpace(e.What.String()+" not found"), e.Status, e.Message)
}

// An Object is something of GitHub's, as an error names it. The zero value is something that the
// error does not name.
type Object struct {
	Kind ObjectKind
	Name string // owner/repo#7, owner/repo, …; may be empty
}

// String returns the kind and the name: issue owner/repo#7.
func (o Object) String() string { return strings.TrimSpace(string(o.Kind) + " " + o.Name) }

func repository(r claim.Repo) Object { return Object{RepositoryObject, r.String()} }

func issueObject(i claim.Issue) Object { return Object{IssueObject, i.String()} }

func pullObject(i claim.Issue) Object { return Object{PullObject, i.String()} }

// An ObjectKind is the kind of an Object, in words.
type ObjectKind string

// The kinds of objects that may not be there.
const (
	RepositoryObject ObjectKind = "repository"
	IssueObject      ObjectKind = "issue" // a pull request may have the number
	PullObject       ObjectKind = "pull request"
	CommentObject    ObjectKind = "comment"
	LabelObject      ObjectKind = "label"
	ReferenceObject  ObjectKind = "reference"
	CommitObject     ObjectKind = "commit"
	FileObject       ObjectKind = "file"
	SchemaObject     ObjectKind = "schema"
	QueriedObject    ObjectKind = "what the query names" // any of the above
)

// A MovedError says that a repository was renamed or an issue transferred, where following would
// be wrong: writes lose their method on the way, and another host must not see the token.
type MovedError struct {
	To string
	refused
}

func (e *MovedError) Error() string {
	if e.To == "" {
		return "it has moved"
	}
	return "it has moved to " + e.To
}

// A StatusError is any other status that means failure.
type StatusError struct {
	Status  int
	Message string
	Codes   []string // of a failed validation: already_exists, missing_field, …
}

func (e *StatusError) Error() string {
	if e.Status >= 500 {
		return withMessage("GitHub could not answer", e.Status, e.Message)
	}
	return withMessage("GitHub refused", e.Status, e.Message)
}

// Rejected reports whether the status means that nothing was done; 408 and 5xx do not.
func (e *StatusError) Rejected() bool { return e.Status >= 400 && e.Status < 500 && e.Status != 408 }

// An AnswerError is an answer that says success and cannot be what was asked for: HTML, cut short,
// empty, or without what it must contain. It is never the same as an empty answer.
type AnswerError struct {
	Status int // 0 is 200
	Reason string
	short  bool // a list is longer than what was asked for
	uncertain
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("unusable answer: %s (HTTP %d)", e.Reason, cmp.Or(e.Status, http.StatusOK))
}

// unusable is an answer that is of no use for a reason.
func unusable(reason string) error { return &AnswerError{Reason: reason} }

// short reports whether asking for more may help.
func short(err error) bool {
	unusable, is := errors.AsType[*AnswerError](err)
	return is && unusable.short
}

// A NetworkError says that no whole answer arrived.
type NetworkError struct {
	Sent   bool // the request may have reached GitHub
	reason string
	slow   bool // nothing came within the time for one try
	large  bool // more came than is read of one answer
	caused
}

func (e *NetworkError) Error() string {
	if !e.Sent {
		return "not sent: " + e.reason
	}
	return "no answer: " + e.reason
}

// Rejected reports whether the request certainly never left.
func (e *NetworkError) Rejected() bool { return !e.Sent }

// A QueryError is an error GraphQL reported for the whole query or a part of it.
type QueryError struct {
	Type, Message string
	uncertain
}

func (e *QueryError) Error() string {
	if e.Type == "" {
		return "query failed: " + e.Message
	}
	return "query failed: " + e.Type + ": " + e.Message
}

// A NoGraphQLError says that GraphQL, by which everything about issues is read, does not answer
// here.
type NoGraphQLError struct {
	Old   bool  // it answers, and its schema lacks something that is needed
	Cause error // what it said
	refused
}

func (e *NoGraphQLError) Error() string {
	if e.Old {
		return "GraphQL of this server is too old: " + e.Cause.Error()
	}
	return "GraphQL does not answer: " + e.Cause.Error()
}

// Remedy says what GraphQL is needed for.
func (e *NoGraphQLError) Remedy() string {
	if e.Old {
		return "issues are read by GraphQL alone: use a newer GitHub Enterprise Server"
	}
	return "issues are read by GraphQL alone: check that LABEL_STATE_API_URL is right, and that no proxy keeps " +
		"GraphQL away"
}

func withMessage(what string, status int, message string) string {
	if message == "" {
		return fmt.Sprintf("%s (HTTP %d)", what, status)
	}
	return fmt.Sprintf("%s (HTTP %d: %s)", what, status, message)
}

// is reports whether an error is one of a type, or wraps one.
func is[E error](err error) bool {
	_, yes := errors.AsType[E](err)
	return yes
}

// oneLine makes one short line of what GitHub, or anybody else, said.
func oneLine(text string) string { return printable.Short(text, 200) }

// acceptedHeader names the permissions that an endpoint accepts from a fine-grained token: sets
// with "; " between, of which one is enough, and the permissions of a set with "," (GitHub's REST
// docs, "Troubleshooting the REST API").
const acceptedHeader = "X-Accepted-GitHub-Permissions"

var acceptedPattern = pattern(`^([a-z_]+)=(read|write|admin)$`)

// accepted is what the header says in the words of a workflow: "issues: write or pull-requests:
// write". It is empty where there is nothing that can be read. A set that only adds to one before
// it says nothing new.
func accepted(h http.Header) string {
	var sets []string
	for set := range strings.SplitSeq(h.Get(acceptedHeader), ";") {
		var all []string
		for one := range strings.SplitSeq(set, ",") {
			m := acceptedPattern().FindStringSubmatch(strings.TrimSpace(one))
			if m == nil {
				return ""
			}
			all = append(all, strings.ReplaceAll(m[1], "_", "-")+": "+m[2])
		}

		if text := strings.Join(all, " and "); len(sets) == 0 || !strings.HasPrefix(text, sets[0]+" and ") {
			sets = append(sets, text)
		}
	}

	return strings.Join(sets, " or ")
}
