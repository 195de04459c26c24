package githubsim

import (
	"errors"
	"fmt"
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

// ParseFault reads rules for Server.Fault, separated by spaces, commas or semicolons. The first that matches a request
// decides. A rule is
//
//	KIND=[VALUE:]METHOD:PATH:COUNT
//
// and everything after the value may be left out from the right. METHOD is a method or *, PATH a part of the path, COUNT
// a number (only the first so many matching requests) or % and a number (every so manyth). The kinds are
//
//	delay=80ms       wait before serving
//	status=502       answer with that status instead of serving
//	secondary=60     answer 403 as GitHub's secondary rate limit, Retry-After in seconds
//	late=5s          apply so much later, reset the connection now
//	stale=3s         answer as it was so long ago
//	truncate=100     let only so many bytes of the answer through
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
	kind, rest, _ := strings.Cut(word, "=")
	var fields []string
	if rest != "" {
		fields = strings.Split(rest, ":")
	}
	r := &rule{kind: kind}
	if kind != "lose" && kind != "reset" {
		if !slices.Contains([]string{"delay", "status", "secondary", "late", "stale", "truncate"}, kind) {
			return nil, errors.New("want delay, status, secondary, late, stale, truncate, lose or reset")
		}
		if len(fields) == 0 {
			return nil, errors.New("want " + kind + "=VALUE")
		}
		r.value, fields = fields[0], fields[1:]
	}
	if len(fields) > 3 {
		return nil, errors.New("want KIND=[VALUE:]METHOD:PATH:COUNT")
	}
	fields = append(fields, "", "", "")
	if fields[0] != "*" {
		r.method = strings.ToUpper(fields[0])
	}
	r.path = fields[1]
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
		return fmt.Errorf("count %q: want a number from 1, or %% and one", text)
	}
	*into = n
	return nil
}

// matches counts the requests that the rule is for.
func (r *rule) matches(req *http.Request) bool {
	if (r.method != "" && r.method != req.Method) || !strings.Contains(req.URL.Path, r.path) {
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
	case "delay", "late", "stale":
		d, err := time.ParseDuration(r.value)
		if err != nil || d <= 0 {
			return Fault{}, fmt.Errorf("%q is not a duration such as 80ms", r.value)
		}
		return map[string]Fault{"delay": {Delay: d}, "late": {ApplyLate: d}, "stale": {StaleFor: d}}[r.kind], nil
	case "status", "truncate", "secondary":
		n, err := strconv.Atoi(r.value)
		if err != nil || n < 1 || (r.kind == "status" && (n < 100 || n > 999)) {
			return Fault{}, fmt.Errorf("%q is not a number that %s can have", r.value, r.kind)
		}
		return map[string]Fault{"status": {Status: n}, "truncate": {Truncate: n}, "secondary": SecondaryLimit(n)}[r.kind], nil
	}
	return Fault{Reset: true}, nil
}

// SecondaryLimit is the fault of a secondary rate limit. retryAfter is in seconds; 0 leaves the header out, as GitHub
// sometimes does.
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
