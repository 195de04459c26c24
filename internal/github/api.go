package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

// Do sends one REST request below the API root, with body as JSON unless nil, and decodes the
// answer into into unless nil. path starts without a slash; parts from outside must be escaped.
// The header is that of the answer, nil with an error.
func (c *Client) Do(ctx context.Context, method, path string, body, into any) (http.Header, error) {
	return c.carry(ctx, method, path, "application/vnd.github+json", body, into)
}

// carry sends a request that accepts one kind of answer.
func (c *Client) carry(ctx context.Context, method, address, accept string, body, into any) (http.Header, error) {
	req, err := c.rest.NewRequest(method, address, body)
	if err != nil {
		return nil, &NetworkError{caused: caused{err}, reason: "make request: " + oneLine(err.Error())}
	}

	req.Header.Set("Accept", accept)
	resp, err := c.rest.Do(ctx, req, into)
	if err != nil {
		return nil, cause(err)
	}

	return resp.Header, nil
}

// send is Do for a target, which an error says is not found.
func (c *Client) send(ctx context.Context, method string, to target, body, into any) (http.Header, error) {
	if to.err != nil {
		return nil, to.err
	}

	header, err := c.Do(ctx, method, to.path, body, into)
	return header, missing(err, to.what)
}

// fetch reads what is at a target.
func fetch[T any](ctx context.Context, c *Client, to target) (got T, header http.Header, err error) {
	header, err = c.send(ctx, http.MethodGet, to, nil, &got)
	return got, header, err
}

// cause returns the error of this package that net/http and go-github have wrapped. What they add
// is the request's URL, which belongs in no message. An answer of an unexpected shape is an
// *AnswerError.
func cause(err error) error {
	if wrapped, is := errors.AsType[*url.Error](err); is {
		err = wrapped.Err
	}

	if shape, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		what := "it"
		if shape.Field != "" {
			what = "field " + oneLine(shape.Field)
		}
		return unusable(what + " is not what was asked for")
	}

	return err
}

// A target is the path of something below the API root, or why there can be none.
type target struct {
	path string
	what Object // that a 404 is about
	err  error
}

// nowhere is a target whose name leads to no place.
func nowhere(kind ObjectKind, name, message string) target {
	return target{err: &NotFoundError{
		What:    Object{kind, name},
		Status:  http.StatusNotFound,
		Message: message,
	}}
}

// at is something in a repository. A name that GitHub does not give would change the path.
func at(r claim.Repo, format string, args ...any) target {
	if !claim.IsName(r.Owner) || !claim.IsName(r.Name) {
		return nowhere(RepositoryObject, oneLine(r.String()), "not a name")
	}

	return target{path: "repos/" + r.String() + fmt.Sprintf(format, args...), what: repository(r)}
}

// onIssue is something of an issue.
func onIssue(i claim.Issue, format string, args ...any) target {
	if i.Number < 1 || i.Number > math.MaxInt32 { // GitHub gives out no other
		return nowhere(IssueObject, oneLine(i.String()), "not a number")
	}
	return at(i.In(), "/issues/%d%s", i.Number, fmt.Sprintf(format, args...)).about(issueObject(i))
}

// about is the target of which a 404 says that something else is not there.
func (t target) about(what Object) target {
	t.what = what
	return t
}

// where adds a query of key and value pairs, with everything escaped.
func (t target) where(pairs ...string) target {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	t.path += "?" + values.Encode()
	return t
}

// label is a label of what the target is.
func (t target) label(name string) target {
	if dots(name) {
		return nowhere(LabelObject, strconv.Quote(name), "not a name")
	}
	t.path += "/labels/" + url.PathEscape(name)
	return t
}

// dots reports whether part of a path is nothing but dots, which would lead to the folder above.
func dots(part string) bool { return strings.Trim(part, ".") == "" }

// escaped escapes a path part by part. It reports false for one that leads elsewhere.
func escaped(path string) (string, bool) {
	parts := strings.Split(path, "/")
	for n, part := range parts {
		if part != "" && dots(part) {
			return "", false
		}
		parts[n] = url.PathEscape(part)
	}

	return strings.Join(parts, "/"), true
}

// failed says what was tried; nil stays nil.
func failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// missing says what a 404 was about.
func missing(err error, what Object) error {
	if e, is := errors.AsType[*NotFoundError](err); is && e.What == (Object{}) {
		named := *e
		named.What = what
		return &named
	}

	return err
}
