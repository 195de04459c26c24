package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/label-state/label-state/internal/claim"
)

// An api is GitHub's two ways of asking, REST and GraphQL, over one transport, and what was learned
// of this server's.
type api struct {
	transport *transport
	rest      *gogithub.Client
	graphql   string // address; empty for none
	token     Secret

	mu    sync.Mutex
	lacks map[string]bool // what the server does not have, by feature
}

func newAPI(o Options) (*api, error) {
	t := &transport{
		o:        o,
		slots:    make(gate, maxAtOnce),
		most:     maxAnswer,
		large:    make(chan []byte, largeAtOnce),
		writing:  make(gate, 1),
		limits:   &limits{closed: map[string]closure{}},
		posts:    newPacer(),
		endpoint: o.GraphQL,
	}

	for range largeAtOnce {
		t.large <- nil
	}

	for _, address := range []string{o.REST, o.GraphQL} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			t.hosts = append(t.hosts, origin(u))
		}
	}

	a := &api{
		transport: t,
		graphql:   o.GraphQL,
		token:     o.Token,
		lacks:     map[string]bool{featureBlockers: o.Blockers.NativeOff, featureDependencies: o.Blockers.NativeOff},
	}

	a.rest = gogithub.NewClient(&http.Client{Transport: t})
	base, err := url.Parse(o.REST)
	if err != nil {
		return nil, fmt.Errorf("use REST address: %w", err)
	}

	a.rest.BaseURL = base
	return a, nil
}

// String names the API root.
func (a *api) String() string { return "client of " + a.rest.BaseURL.String() }

// Do sends one REST request below the API root, with body as JSON unless nil, and decodes the
// answer into into unless nil. path starts without a slash; parts from outside must be escaped.
// The header is that of the answer, nil with an error.
func (a *api) Do(ctx context.Context, method, path string, body, into any) (http.Header, error) {
	return a.carry(ctx, method, path, "application/vnd.github+json", body, into)
}

// carry sends a request that accepts one kind of answer.
func (a *api) carry(ctx context.Context, method, address, accept string, body, into any) (http.Header, error) {
	req, err := a.rest.NewRequest(method, address, body)
	if err != nil {
		return nil, &NetworkError{caused: caused{err}, reason: "make request: " + oneLine(err.Error())}
	}

	req.Header.Set("Accept", accept)
	resp, err := a.rest.Do(ctx, req, into)
	if err != nil {
		return nil, Cause(err)
	}

	return resp.Header, nil
}

// send is Do for a target.
func (a *api) send(ctx context.Context, method string, to target, body, into any) (http.Header, error) {
	if to.err != nil {
		return nil, to.err
	}
	return a.Do(ctx, method, to.path, body, into)
}

// fetch reads what is at a target.
func fetch[T any](ctx context.Context, a *api, to target) (got T, header http.Header, err error) {
	header, err = a.send(ctx, http.MethodGet, to, nil, &got)
	return got, header, err
}

// Cause returns the error of this package that net/http and go-github have wrapped. What they add
// is the request's URL, which belongs in no message. An answer of an unexpected shape is an
// *AnswerError.
func Cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}

	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) {
		what := "it"
		if shape.Field != "" {
			what = "field " + oneLine(shape.Field)
		}
		return &AnswerError{Reason: what + " is not what was asked for"}
	}

	return err
}

// repoName is what GitHub accepts; anything else would change the path it is put into.
var repoName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })

// A target is the path of something below the API root, or why there can be none.
type target struct {
	path string
	err  error
}

// at is something in a repository.
func at(owner, repo, format string, args ...any) target {
	for _, name := range []string{owner, repo} {
		if !repoName().MatchString(name) || strings.Trim(name, ".") == "" {
			return target{err: &NotFoundError{
				What:   Object{RepositoryObject, oneLine(owner + "/" + repo)},
				Status: http.StatusNotFound, Message: "not a name",
			}}
		}
	}

	return target{path: "repos/" + owner + "/" + repo + fmt.Sprintf(format, args...)}
}

// onIssue is something of an issue.
func onIssue(i claim.Issue, format string, args ...any) target {
	if i.Number < 1 {
		return target{err: &NotFoundError{
			What: Object{IssueObject, oneLine(i.String())}, Status: http.StatusNotFound,
			Message: "not a number",
		}}
	}
	return at(i.Owner, i.Repo, "/issues/%d%s", i.Number, fmt.Sprintf(format, args...))
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

// labelName escapes a label for a path. Dots alone would name the folder above.
func labelName(name string) (string, error) {
	if strings.Trim(name, ".") == "" {
		return "", &NotFoundError{
			What: Object{LabelObject, strconv.Quote(name)}, Status: http.StatusNotFound,
			Message: "not a name",
		}
	}
	return url.PathEscape(name), nil
}

// failed says what was tried, and what a 404 was about; nil stays nil.
func failed(err error, what Object, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, missing(err, what))...)
}

// missing says what a 404 was about.
func missing(err error, what Object) error {
	var e *NotFoundError
	if errors.As(err, &e) && e.What == (Object{}) {
		named := *e
		named.What = what
		return &named
	}

	return err
}

func key(parts ...string) string { return strings.ToLower(strings.Join(parts, "\x00")) }
