package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	backoffBase = time.Second
	// of what may be repeated after 408, 5xx, a fault of GraphQL's or a broken connection, and of what
	// names a thing that was just created
	maxRetries = 3
	maxLimits  = 3 // times one request waits for a rate limit
	maxHops    = 5 // redirects followed by one read
)

// A response is what one try brought: a whole response, or err.
type response struct {
	status int
	header http.Header
	body   []byte
	err    *NetworkError
}

// A step is what to do about an answer.
type step int

const (
	stepDone   step = iota // hand the answer to the caller
	stepFail               // hand the error to the caller
	stepRetry              // wait, then send the same again
	stepLimit              // the same, and everybody else waits too
	stepFollow             // send the same to another address
)

// A decision is a step with what it needs.
type decision struct {
	step step
	wait time.Duration
	err  error // what to return when the step is, or waiting is not possible
	to   *url.URL
}

// traits are what the retry table asks about a request.
type traits struct {
	method  string
	write   bool
	graphql bool
	fresh   bool // the caller has just created what it asks for, or what it names
	same    bool // the caller says that it may be sent twice
	less    bool // what is too much can be asked for in a better way than once more
	url     *url.URL
}

// tally counts what was tried already.
type tally struct{ retries, limits, hops int }

// decide is the one table of retries, for every request (GitHub docs, "Rate limits for the REST
// API"). rand is 0 ≤ x < 1; local is the time to use for an answer without a Date.
func decide(a response, t traits, n tally, rand float64, local time.Time) decision {
	if a.err != nil {
		return again(a.err, t, n, rand)
	}

	if limit := limitOf(a, t, n.limits, local); limit != nil {
		if n.limits >= maxLimits {
			return decision{step: stepFail, err: limit}
		}
		return decision{step: stepLimit, wait: limit.RetryAfter, err: limit}
	}

	switch {
	case a.status >= 200 && a.status < 300:
		if reason := a.unusable(t); reason != "" {
			return decision{step: stepFail, err: &AnswerError{Status: a.status, Reason: reason}}
		}
		if fault := a.queryFault(t); fault != nil {
			return again(fault, t, n, rand)
		}

		return decision{step: stepDone}

	case a.status == http.StatusRequestTimeout || a.status >= 500:
		return again(a.failure(t), t, n, rand)

	case a.status >= 300 && a.status < 400 && a.status != http.StatusNotModified:
		return a.redirect(t, n)

	case t.fresh && (a.status == http.StatusNotFound || a.status == http.StatusUnprocessableEntity):
		t.same = true // it was certainly not carried out
		return again(a.failure(t), t, n, rand)
	}

	return decision{step: stepFail, err: a.failure(t)}
}

// unusable says why a success is not the JSON that it must be; empty when it is.
func (a response) unusable(t traits) string {
	if a.status == http.StatusNoContent || t.method == http.MethodHead {
		return ""
	}
	if len(bytes.TrimSpace(a.body)) == 0 {
		return "it is empty"
	}

	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return "it is not JSON but " + oneLine(fmt.Sprintf("%q", a.header.Get("Content-Type")))
	}
	if !json.Valid(a.body) {
		return "its JSON is cut short or damaged"
	}

	return ""
}

// queryFault is the error of a GraphQL answer that is a 500 in all but its status; nil for any
// other. GitHub gives it no type and no data. An update of references that are not where it says is
// answered in the same way, so a mutation is never repeated because of it.
func (a response) queryFault(t traits) error {
	if !t.graphql {
		return nil
	}
	top, failed := a.queryErrors()
	if !failed || !top.empty() {
		return nil
	}

	first := top.Errors[0]
	if first.Type != "" || !strings.HasPrefix(first.Message, "Something went wrong while executing your query") {
		return nil
	}

	return first.typed()
}

// redirect follows a read on its own host. A write must not follow: net/http would turn it into a
// GET, and its answer would look like success.
func (a response) redirect(t traits, n tally) decision {
	to, err := t.url.Parse(a.header.Get("Location"))
	if err != nil || a.header.Get("Location") == "" {
		return decision{step: stepFail, err: &MovedError{}}
	}
	if t.method == http.MethodGet && n.hops < maxHops && to.Scheme == t.url.Scheme && to.Host == t.url.Host {
		return decision{step: stepFollow, to: to}
	}

	shown := *to
	shown.RawQuery, shown.Fragment, shown.User = "", "", nil
	return decision{step: stepFail, err: &MovedError{To: oneLine(shown.String())}}
}

// again repeats what does no more when it is sent twice, and is an open end for everything else.
// What was too much may be asked for in a better way than once more; a connection that broke says
// nothing about that.
func again(err error, t traits, n tally, rand float64) decision {
	harmless := !t.write || t.same || t.method == http.MethodPut || t.method == http.MethodDelete
	most := maxRetries
	if t.less && tooMuch(err) {
		most = 0
	}

	if lost, is := errors.AsType[*NetworkError](err); is && lost.large { // it would be as large again
		most = 0
	}

	if !harmless || n.retries >= most {
		return decision{step: stepFail, err: err}
	}

	return decision{step: stepRetry, wait: backoff(n.retries, rand), err: err}
}

// backoff is base·2^n with up to 10 % on top.
func backoff(n int, rand float64) time.Duration {
	d := backoffBase << n
	return d + time.Duration(rand*float64(d)/10)
}

// failure is the typed error of a status that means no.
func (a response) failure(t traits) error {
	s := a.says()
	message := oneLine(s.Message)
	switch a.status {
	case http.StatusUnauthorized:
		return &AuthError{Message: message}
	case http.StatusForbidden:
		denied := &PermissionError{Message: message, Codes: s.codes(), Write: t.write}
		if denied.ofToken() {
			denied.Needs = accepted(a.header)
		}
		return denied
	case http.StatusNotFound, http.StatusGone:
		return &NotFoundError{Status: a.status, Message: message, Write: t.write}
	}

	return &StatusError{Status: a.status, Message: oneLine(s.all()), Codes: s.codes()}
}

// date is the server's time, or local when it does not say.
func (a response) date(local time.Time) time.Time {
	t, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return local
	}
	return t
}

// said is the body of a refusal.
type said struct {
	Message string
	Docs    string `json:"documentation_url"`
	Errors  []struct {
		Code    string
		Message string
	}
}

// says reads a refusal's body; pages of HTML say nothing.
func (a response) says() said {
	var s said
	if json.Unmarshal(a.body, &s) != nil {
		// Some endpoints send strings instead of objects under errors, or one string.
		var plain struct {
			Message string
			Errors  any
		}
		_ = json.Unmarshal(a.body, &plain) // no message is a message too
		s = said{Message: plain.Message}
		switch list := plain.Errors.(type) {
		case []any:
			s.Message += ": " + fmt.Sprint(list...)
		case string:
			s.Message += ": " + list
		}
	}

	return s
}

// codes are those of its parts: already_exists, missing_field, …
func (s said) codes() (codes []string) {
	for _, e := range s.Errors {
		codes = append(codes, oneLine(e.Code))
	}
	return codes
}

// all is the message with those of its parts.
func (s said) all() string {
	text := s.Message
	for _, e := range s.Errors {
		if e.Message != "" {
			text += ": " + e.Message
		}
	}

	return text
}
