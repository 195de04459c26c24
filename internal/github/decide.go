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
	backoffCap  = 30 * time.Second
	maxRetries  = 3 // of what may be repeated after 408, 5xx or a broken connection
	maxFresh    = 2 // of a 404 for a thing just created
	maxLimits   = 3 // times one request waits for a rate limit
	maxHops     = 5 // redirects followed by one read

	// secondaryWait is how long to stay away when GitHub says "too fast" and not for how long
	// (GitHub docs, "Rate limits for the REST API").
	secondaryWait = time.Minute
)

// An answer is what one try brought: a whole response, or err.
type answer struct {
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
	fresh   bool // the caller has just created what it asks for
	same    bool // the caller says that it may be sent twice
	url     *url.URL

	repetitions int // after 408, 5xx, a broken connection or none
}

// tally counts what was tried already.
type tally struct{ retries, fresh, limits, hops int }

// decide is the retry table (GitHub docs, "Rate limits for the REST API"). rand is 0 ≤ x < 1; local is the
// time to use for an answer without a Date.
func decide(a answer, t traits, n tally, rand float64, local time.Time) decision {
	if a.err != nil {
		return again(a.err, t, n, rand)
	}
	if limit := limitOf(a, t.graphql, n.limits, local); limit != nil {
		if n.limits >= maxLimits {
			return decision{step: stepFail, err: limit}
		}
		return decision{step: stepLimit, wait: limit.RetryAfter, err: limit}
	}
	switch {
	case a.status >= 200 && a.status < 300:
		return whole(a, t)
	case a.status == http.StatusRequestTimeout || a.status >= 500:
		return again(a.failure(), t, n, rand)
	case a.status >= 300 && a.status < 400 && a.status != http.StatusNotModified:
		return redirect(a, t, n)
	case a.status == http.StatusNotFound && t.fresh && n.fresh < maxFresh:
		return decision{step: stepRetry, wait: backoff(n.fresh, rand), err: a.failure()}
	default:
		err := a.failure()
		if denied, is := errors.AsType[*PermissionError](err); is {
			denied.Write = t.write
		}
		return decision{step: stepFail, err: err}
	}
}

// again repeats what does no more when it is sent twice, and is an open end for everything else.
func again(err error, t traits, n tally, rand float64) decision {
	harmless := !t.write || t.same || t.method == http.MethodPut || t.method == http.MethodDelete
	if !harmless || n.retries >= t.repetitions {
		return decision{step: stepFail, err: err}
	}
	return decision{step: stepRetry, wait: backoff(n.retries, rand), err: err}
}

// backoff is base·2^n with up to 10 % on top, capped after that.
func backoff(n int, rand float64) time.Duration {
	d := backoffBase << min(n, 10)
	return min(d+time.Duration(rand*float64(d)/10), backoffCap)
}

// redirect follows a read on its own host. A write must not follow: net/http would turn it into
// a GET, and its answer would look like success.
func redirect(a answer, t traits, n tally) decision {
	to, err := t.url.Parse(a.header.Get("Location"))
	if err != nil || a.header.Get("Location") == "" {
		return decision{step: stepFail, err: &MovedError{}}
	}
	shown := *to
	shown.RawQuery, shown.Fragment, shown.User = "", "", nil
	if t.method != http.MethodGet || n.hops >= maxHops || to.Scheme != t.url.Scheme || to.Host != t.url.Host {
		return decision{step: stepFail, err: &MovedError{To: oneLine(shown.String())}}
	}
	return decision{step: stepFollow, to: to}
}

// whole accepts a success only if it is the JSON it must be.
func whole(a answer, t traits) decision {
	if a.status == http.StatusNoContent || t.method == http.MethodHead {
		return decision{step: stepDone}
	}
	reason := ""
	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	switch {
	case len(bytes.TrimSpace(a.body)) == 0:
		reason = "it is empty"
	case err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		reason = "it is not JSON but " + oneLine(fmt.Sprintf("%q", a.header.Get("Content-Type")))
	case !json.Valid(a.body):
		reason = "its JSON is cut short or damaged"
	default:
		return decision{step: stepDone}
	}
	return decision{step: stepFail, err: &AnswerError{Status: a.status, Reason: reason}}
}

// failure is the typed error of a status that means no.
func (a answer) failure() error {
	s := a.says()
	message := oneLine(s.Message)
	switch a.status {
	case http.StatusUnauthorized:
		return &AuthError{Message: message}
	case http.StatusForbidden:
		denied := &PermissionError{Message: message}
		if denied.ofToken() {
			denied.Needs = accepted(a.header)
		}
		return denied
	case http.StatusNotFound, http.StatusGone:
		return &NotFoundError{Status: a.status, Message: message}
	}
	e := &StatusError{Status: a.status, Message: oneLine(s.all())}
	for _, one := range s.Errors {
		e.Codes = append(e.Codes, one.Code)
	}
	return e
}

// date is the server's time, or local when it does not say.
func (a answer) date(local time.Time) time.Time {
	t, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return local
	}
	return t
}
