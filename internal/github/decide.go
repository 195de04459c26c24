package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
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
		// A success is accepted only if it is the JSON it must be.
		kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
		reason := ""
		switch {
		case a.status == http.StatusNoContent || t.method == http.MethodHead:
		case len(bytes.TrimSpace(a.body)) == 0:
			reason = "it is empty"
		case err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json"):
			reason = "it is not JSON but " + oneLine(fmt.Sprintf("%q", a.header.Get("Content-Type")))
		case !json.Valid(a.body):
			reason = "its JSON is cut short or damaged"
		}
		if reason != "" {
			return decision{step: stepFail, err: &AnswerError{Status: a.status, Reason: reason}}
		}
		return decision{step: stepDone}
	case a.status == http.StatusRequestTimeout || a.status >= 500:
		return again(a.failure(), t, n, rand)
	case a.status >= 300 && a.status < 400 && a.status != http.StatusNotModified:
		// A read is followed on its own host. A write must not follow: net/http would turn it into a GET, and its answer would look like success.
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

// limitOf returns when to come back if the answer is a rate limit, else nil. waits is how often
// this request has waited for one already.
func limitOf(a answer, graphql bool, waits int, local time.Time) *RateLimitError {
	message, limited := a.limited(graphql)
	if !limited {
		return nil
	}
	now := a.date(local)
	e := &RateLimitError{Secondary: true, Message: message}
	after, told := retryAfter(a.header.Get("Retry-After"), now)
	if reset, exhausted := budgetReset(a.header); exhausted {
		e.Secondary = told
		after = max(after, reset.Sub(now)+time.Second, time.Second)
		told = true
	}
	if !told {
		after = secondaryWait << waits
	}
	e.RetryAfter, e.At = after, now.Add(after)
	return e
}

// limited reports whether the answer is a rate limit of any kind, with GitHub's words.
func (a answer) limited(graphql bool) (message string, yes bool) {
	if graphql && a.status == http.StatusOK { // GraphQL reports one under status 200
		var top struct {
			Data   json.RawMessage
			Errors []queryError
		}
		// The search for the literal saves decoding every answer; a quote in somebody's text is always escaped in JSON.
		if !bytes.Contains(a.body, []byte(`"errors"`)) || json.Unmarshal(a.body, &top) != nil {
			return "", false
		}
		for _, e := range top.Errors {
			nothing := len(top.Data) == 0 || string(top.Data) == "null"
			if e.Type == "RATE_LIMITED" || nothing && (said{Message: e.Message}).limited() {
				return oneLine(e.Message), true
			}
		}
		return "", false
	}
	said := a.says()
	switch a.status {
	case http.StatusForbidden, http.StatusTooManyRequests:
	case http.StatusUnprocessableEntity:
		return oneLine(said.all()), said.tooQuick()
	default:
		return "", false
	}
	_, exhausted := budgetReset(a.header)
	yes = a.status == http.StatusTooManyRequests || exhausted || a.header.Get("Retry-After") != "" || said.limited()
	return oneLine(said.Message), yes
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
func (a answer) says() said {
	var s said
	if json.Unmarshal(a.body, &s) != nil {
		// Some endpoints send strings instead of objects under errors, or one string.
		var plain struct {
			Message string
			Errors  any
		}
		_ = json.Unmarshal(a.body, &plain) // no message is a message too
		s = said{Message: plain.Message}
		if list, is := plain.Errors.([]any); is {
			plain.Errors = fmt.Sprint(list...)
		}
		if text, is := plain.Errors.(string); is && text != "" {
			s.Message += ": " + text
		}
	}
	return s
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

// tooQuick recognises the secondary limit for content, which GitHub also words as a failed validation: "was submitted too
// quickly" (github.com/cli/cli/issues/4801).
func (s said) tooQuick() bool {
	return strings.Contains(strings.ToLower(s.all()), "submitted too quickly")
}

// limited recognises a secondary limit by its words; GitHub marks it in no other way.
func (s said) limited() bool {
	text := strings.ToLower(s.Message)
	for _, sign := range []string{"secondary rate limit", "rate limit exceeded", "abuse detection"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return s.tooQuick() || strings.Contains(s.Docs, "secondary-rate-limits") || strings.Contains(s.Docs, "abuse-rate-limits")
}

// budgetReset returns when a used-up budget is filled again.
func budgetReset(h http.Header) (reset time.Time, exhausted bool) {
	if h.Get("X-RateLimit-Remaining") != "0" {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return time.Time{}, false
	}
	return time.Unix(seconds, 0).UTC(), true
}

// retryAfter reads seconds or a date; nonsense counts as a minute.
func retryAfter(text string, now time.Time) (wait time.Duration, told bool) {
	if text == "" {
		return 0, false
	}
	seconds, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	if err == nil {
		return max(time.Duration(seconds)*time.Second, time.Second), true
	}
	at, err := http.ParseTime(text)
	if err != nil || !at.After(now) {
		return time.Minute, true
	}
	return at.Sub(now), true
}
