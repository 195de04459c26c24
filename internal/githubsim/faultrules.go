package githubsim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A rule is one fault with the requests that it is for.
type rule struct {
	kind   string
	value  string
	method string // empty: any
	path   string // part of the path; empty: any
	first  int64  // only so many requests; 0: all
	every  int64  // only each so manyth request; 0: all
	seen   atomic.Int64
}

// ParseFault reads rules for Server.Fault, separated by spaces, commas or semicolons. The first
// that matches a request decides. A rule is
//
//	KIND=[VALUE:]METHOD:PATH:COUNT
//
// or, without a value, KIND:METHOD:PATH:COUNT, and everything after the value may be left out from
// the right. METHOD is a method or *, PATH a part of the path, COUNT a number (only the first so
// many matching requests) or % and a number N (every Nth). The METHOD mutation is a GraphQL
// request that changes something, and its PATH a part of the document. The kinds are
//
//	delay=80ms       wait before serving
//	status=502       answer with that status instead of serving
//	secondary=60     answer 403 as GitHub's secondary rate limit, Retry-After in seconds; secondary=60/429 with the other status
//	limit=600        answer GraphQL as GitHub does when the hour's points are used up, with their reset in so many seconds
//	late=5s          apply so much later, reset the connection now
//	stale=3s         answer as it was so long ago
//	nodes=5000       let a GraphQL query read so many nodes and refuse the rest as RESOURCE_LIMITS_EXCEEDED
//	connections=200  the same for connections
//	timeout=5000     answer 502 to a GraphQL query that reads more nodes than that; timeout=5000/504 with another status
//	truncate=100     let only so many bytes of the answer through
//	unseen           answer as if the tree or the commit that is named had not been stored yet
//	too-quickly      answer 422 as GitHub does to content that was submitted too quickly
//	lose             apply, then reset the connection
//	reset            reset the connection without applying
//
// as in delay=80ms, status=502:POST:/comments or lose=POST:/comments:1.
func ParseFault(text string) (func(*http.Request) *Fault, error) {
	var rules []*rule
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\t\n", r) }) {
		r, err := parseRule(word)
		if err != nil {
			return nil, fmt.Errorf("read fault %q: %w", word, err)
		}
		rules = append(rules, r)
	}

	return func(req *http.Request) *Fault {
		for _, r := range rules {
			if r.matches(req) {
				f, _ := r.fault() // it was tried when it was read
				return &f
			}
		}

		return nil
	}, nil
}

func parseRule(word string) (*rule, error) {
	kind, rest, valued := strings.Cut(word, "=")
	if !valued { // those without a value may do without the sign
		kind, rest, _ = strings.Cut(word, ":")
	}

	var fields []string
	if rest != "" {
		fields = strings.Split(rest, ":")
	}

	r := &rule{kind: kind}
	if !slices.Contains([]string{"unseen", "too-quickly", "lose", "reset"}, kind) {
		if !slices.Contains([]string{
			"delay", "status", "secondary", "limit", "late", "stale", "nodes", "connections",
			"timeout", "truncate",
		}, kind) {
			return nil, errors.New("expected delay, status, secondary, limit, late, stale, nodes, connections, timeout, truncate, unseen, too-quickly, lose or reset")
		}
		if !valued || len(fields) == 0 {
			return nil, errors.New("expected " + kind + "=VALUE")
		}

		r.value, fields = fields[0], fields[1:]
	}

	if len(fields) > 3 {
		return nil, errors.New("expected KIND=[VALUE:]METHOD:PATH:COUNT")
	}
	fields = append(fields, "", "", "")
	if fields[0] != "*" {
		r.method = strings.ToUpper(fields[0])
	}
	if !slices.Contains([]string{"", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", mutation}, r.method) {
		return nil, fmt.Errorf("method %q: expected GET, HEAD, POST, PUT, PATCH, DELETE, mutation or *", fields[0])
	}

	r.path = fields[1]
	if kind == "limit" && r.path == "" {
		r.path = "/graphql"
	}

	if err := r.count(fields[2]); err != nil {
		return nil, err
	}
	_, err := r.fault()

	return r, err
}

func (r *rule) count(text string) error {
	if text == "" {
		return nil
	}
	into := &r.first
	if rest, every := strings.CutPrefix(text, "%"); every {
		text, into = rest, &r.every
	}

	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("count %q: expected a number from 1, or %% and one", text)
	}

	*into = n
	return nil
}

// mutation is the method of rules for GraphQL requests that change something.
const mutation = "MUTATION"

// mutates returns the body of a GraphQL request that changes something.
func mutates(req *http.Request) (body string, changes bool) {
	if req.Body == nil {
		return "", false
	}
	data, err := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(data))
	return string(data), err == nil && strings.HasPrefix(operation(req, data), "mutation")
}

// matches counts the requests that the rule is for.
func (r *rule) matches(req *http.Request) bool {
	if r.method == mutation {
		if document, changes := mutates(req); !changes || !strings.Contains(document, r.path) {
			return false
		}
	} else if (r.method != "" && r.method != req.Method) || !strings.Contains(req.URL.Path, r.path) {
		return false
	}

	n := r.seen.Add(1)
	switch {
	case r.first > 0:
		return n <= r.first
	case r.every > 0:
		return n%r.every == 0
	}

	return true
}

// fault is what the rule does to a request.
func (r *rule) fault() (Fault, error) {
	switch r.kind {
	case "lose":
		return Fault{ApplyThenFail: true}, nil
	case "unseen":
		return Fault{Unseen: true}, nil
	case "too-quickly":
		return TooQuickly(), nil
	case "delay", "late", "stale":
		d, err := time.ParseDuration(r.value)
		if err != nil || d <= 0 {
			return Fault{}, fmt.Errorf("%q is not a duration such as 80ms", r.value)
		}
		return map[string]Fault{"delay": {Delay: d}, "late": {ApplyLate: d}, "stale": {StaleFor: d}}[r.kind], nil

	case "status", "truncate", "nodes", "connections":
		n, err := strconv.Atoi(r.value)
		if err != nil || n < 1 || (r.kind == "status" && !isStatus(n)) {
			return Fault{}, fmt.Errorf("%q is not a number that %s can have", r.value, r.kind)
		}

		return map[string]Fault{
			"status": {Status: n}, "truncate": {Truncate: n},
			"nodes": {QueryNodes: n}, "connections": {QueryConnections: n},
		}[r.kind], nil

	case "timeout":
		n, status, err := r.withStatus(http.StatusBadGateway, "a number of nodes, nor NODES/STATUS")
		return Fault{QueryTimeout: n, Status: status}, err

	case "limit":
		n, err := strconv.Atoi(r.value)
		if err != nil || n < 1 {
			return Fault{}, fmt.Errorf("%q is not a number of seconds", r.value)
		}
		return QueryLimit(time.Duration(n) * time.Second), nil

	case "secondary":
		n, status, err := r.withStatus(http.StatusForbidden, "a number of seconds, nor SECONDS/STATUS")
		f := SecondaryLimit(n)
		f.Status = status
		return f, err
	}

	return Fault{Reset: true}, nil
}

// withStatus reads a number that may have a status behind it.
func (r *rule) withStatus(usual int, want string) (n, status int, err error) {
	number, code, named := strings.Cut(r.value, "/")
	if !named {
		code = strconv.Itoa(usual)
	}

	n, err1 := strconv.Atoi(number)
	status, err2 := strconv.Atoi(code)
	if err1 != nil || err2 != nil || n < 1 || !isStatus(status) {
		return 1, usual, fmt.Errorf("%q is not %s", r.value, want)
	}

	return n, status, nil
}

func isStatus(n int) bool { return n >= 100 && n <= 999 }

// TooQuickly is the fault of content that came faster than GitHub's limits on content allow, in the
// form that looks like a failed validation: only the message of the error says that it is a limit,
// and no header says for how long.
func TooQuickly() Fault {
	return Fault{
		Status: http.StatusUnprocessableEntity,
		Body: `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"custom","field":"body",` +
			`"message":"body was submitted too quickly"}],"documentation_url":"https://docs.github.com/rest","status":"422"}`,
	}
}

// QueryLimit is the fault of used-up points of GraphQL, which are there again after a while. GitHub
// sends it also while the header shows that some are left.
func QueryLimit(reset time.Duration) Fault {
	return Fault{
		Status: http.StatusOK,
		Header: http.Header{
			"X-Ratelimit-Remaining": {"4000"},
			"X-Ratelimit-Reset":     {strconv.FormatInt(time.Now().Add(reset).Unix(), 10)},
			"X-Ratelimit-Resource":  {"graphql"},
		},
		Body: `{"errors":[{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"API rate limit already exceeded for user ID 7."}]}`,
	}
}

// SecondaryLimit is the fault of a secondary rate limit. retryAfter is in seconds; 0 leaves the
// header out, as GitHub sometimes does.
func SecondaryLimit(retryAfter int) Fault {
	f := Fault{
		Status: http.StatusForbidden,
		Header: http.Header{},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",` +
			`"documentation_url":"https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`,
	}

	if retryAfter > 0 {
		f.Header.Set("Retry-After", strconv.Itoa(retryAfter))
	}

	return f
}
