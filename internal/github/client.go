package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

var (
	_ ledger.Forge = (*Client)(nil)
	_ ledger.Repos = (*Client)(nil)
)

// A Client is one GitHub, seen with one token. It may be used from any goroutine.
type Client struct {
	o         Options
	scheme    labels.Scheme
	transport *transport
	doses     doses
	http      *http.Client
	rest      *gogithub.Client

	mu        sync.Mutex // guards what was learned, below
	viewer    string
	roles     map[string]Role     // by owner/repo and login, lower case
	meddlers  map[revision]string // who of others has edited a record; empty when nobody has
	secretive map[string]bool     // repositories where GitHub tells us no roles
	guessed   string              // that a view went by a guess; empty when it did not
	exists    map[string]bool     // labels seen in a repository, by owner/repo and name, lower case
	nodes     map[string]string   // global ids of issues, and of labels by owner/repo and name, lower case
	leases    atomic.Bool         // snapshots show the references of leases, too
	tips      map[string]shownTip // what they showed, by reference
	along     map[string]*along   // what the first query about a repository brought along; nil when it is under way
	begun     *beginning          // what Begin has read, until it is asked for
	lacks     map[string]bool     // what this server's GraphQL schema does not have
	noQuery   bool                // GraphQL is refused or too old
}

// New returns a client. It sends nothing.
func New(o Options) (*Client, error) {
	o, err := o.settle()
	if err != nil {
		return nil, err
	}
	c := &Client{
		o: o, scheme: o.Scheme, transport: newTransport(o), doses: newDoses(), noQuery: o.GraphQL == "",
		roles: map[string]Role{}, secretive: map[string]bool{}, meddlers: map[revision]string{}, exists: map[string]bool{}, nodes: map[string]string{}, along: map[string]*along{}, tips: map[string]shownTip{}, lacks: map[string]bool{featureBlockers: o.Blockers.NativeOff, featureDependencies: o.Blockers.NativeOff},
	}
	c.http = &http.Client{
		Transport:     c.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.rest = gogithub.NewClient(c.http)
	if c.rest.BaseURL, err = url.Parse(o.REST); err != nil {
		return nil, fmt.Errorf("use REST address: %w", err)
	}
	return c, nil
}

// String names the API root.
func (c *Client) String() string { return "client of " + c.o.REST }

// REST returns go-github on the client's transport, for calls that have no method here. Its
// errors wrap this package's; Cause takes the wrapping off.
func (c *Client) REST() *gogithub.Client { return c.rest }

// Do sends one REST request below the API root, with body as JSON unless nil, and decodes the
// answer into into unless nil. path starts without a slash; parts from outside must be escaped.
// The header is that of the answer, nil with an error.
func (c *Client) Do(ctx context.Context, method, path string, body, into any) (http.Header, error) {
	req, err := c.rest.NewRequest(method, path, body)
	if err != nil {
		return nil, &NetworkError{Err: err, reason: "make request: " + oneLine(err.Error())}
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	resp, err := c.rest.Do(ctx, req, into)
	if err != nil {
		return nil, Cause(err)
	}
	return resp.Header, nil
}

// Cause returns the error of this package that net/http and go-github have wrapped. What they
// add is the request's URL, which belongs in no message. An answer of an unexpected shape is an *AnswerError.
func Cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) {
		return &AnswerError{Status: http.StatusOK, Reason: "field " + oneLine(shape.Field) + " is not what was asked for"}
	}
	return err
}

// repoName is what GitHub accepts; anything else would change the path it is put into.
var repoName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)

// at returns the path of something in a repository, or an error for a name that is none.
func at(owner, repo, format string, args ...any) (string, error) {
	for _, name := range []string{owner, repo} {
		if !repoName.MatchString(name) || strings.Trim(name, ".") == "" {
			return "", &NotFoundError{What: "repository " + oneLine(owner+"/"+repo), Status: http.StatusNotFound, Message: "not a name"}
		}
	}
	return "repos/" + owner + "/" + repo + fmt.Sprintf(format, args...), nil
}

// onIssue returns the path of something of an issue.
func onIssue(i claim.Issue, format string, args ...any) (string, error) {
	if i.Number < 1 {
		return "", &NotFoundError{What: "issue " + oneLine(i.String()), Status: http.StatusNotFound, Message: "not a number"}
	}
	return at(i.Owner, i.Repo, "/issues/%d%s", i.Number, fmt.Sprintf(format, args...))
}

// labelName escapes a label for a path. Dots alone would name the folder above.
func labelName(name string) (string, error) {
	if strings.Trim(name, ".") == "" {
		return "", &NotFoundError{What: fmt.Sprintf("label %q", name), Status: http.StatusNotFound, Message: "not a name"}
	}
	return url.PathEscape(name), nil
}

// missing says what a 404 was about.
func missing(err error, what string) error {
	var e *NotFoundError
	if errors.As(err, &e) && e.What == "" {
		named := *e
		named.What = what
		return &named
	}
	return err
}

func key(parts ...string) string { return strings.ToLower(strings.Join(parts, "\x00")) }
