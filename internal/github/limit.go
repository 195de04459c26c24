package github

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// secondaryWait is how long to stay away when GitHub says "too fast" and not for how long
// (GitHub docs, "Rate limits for the REST API").
const secondaryWait = time.Minute

// lowBudget is how many requests are left when the one warning is given.
const lowBudget = 100

// A limitKind says which of GitHub's rate limits an answer reports.
type limitKind int

const (
	unlimited      limitKind = iota
	primaryLimit             // the hourly budget is used up
	secondaryLimit           // too fast
)

// limitOf returns when to come back if the answer is a rate limit, else nil. waits is how often
// this request has waited for one already; local is the time of an answer without a Date.
func limitOf(a response, t traits, waits int, local time.Time) *RateLimitError {
	kind, message := a.limit(t)
	if kind == unlimited {
		return nil
	}

	now := a.date(local)
	e := &RateLimitError{Secondary: true, Message: message}
	after, told := retryAfter(a.header.Get("Retry-After"), now)

	if reset, known := budgetReset(a.header); known && kind == primaryLimit {
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

// limit reports whether the answer is a rate limit, which one, and GitHub's words for it.
func (a response) limit(t traits) (limitKind, string) {
	if t.graphql && a.status == http.StatusOK {
		return a.queryLimit(t.write)
	}

	switch a.status {
	case http.StatusForbidden, http.StatusTooManyRequests:
	case http.StatusUnprocessableEntity:
		if said := a.says(); said.tooQuick() {
			return secondaryLimit, oneLine(said.all())
		}
		return unlimited, ""
	default:
		return unlimited, ""
	}

	said := a.says()
	kind := said.limit()
	_, known := budgetReset(a.header)
	switch {
	case known && a.header.Get("X-RateLimit-Remaining") == "0":
		kind = primaryLimit
	case kind == unlimited && (a.status == http.StatusTooManyRequests || a.header.Get("Retry-After") != ""):
		kind = secondaryLimit
	}

	return kind, oneLine(said.Message)
}

// queryLimit is limit for an answer of GraphQL, which reports a limit under status 200: by a type,
// by a code, or by words alone. A mutation that has data is no limit: a part of it may have been
// carried out, and all of it would be sent again.
func (a response) queryLimit(mutation bool) (limitKind, string) {
	top, failed := a.queryErrors()
	if !failed || mutation && !top.empty() {
		return unlimited, ""
	}

	for _, e := range top.Errors {
		if e.Type == "RATE_LIMIT" || e.Type == "RATE_LIMITED" || e.Code == "graphql_rate_limit" {
			return primaryLimit, oneLine(e.Message)
		}
		if kind := (said{Message: e.Message}).limit(); kind != unlimited && top.empty() {
			return kind, oneLine(e.Message)
		}
	}

	return unlimited, ""
}

// A queryAnswer is the body of a GraphQL answer.
type queryAnswer struct {
	Data   json.RawMessage
	Errors []queryError
}

// empty reports whether there is no data at all.
func (q queryAnswer) empty() bool { return len(q.Data) == 0 || string(q.Data) == "null" }

// queryErrors reads a GraphQL answer that reports errors; failed is false for any other.
func (a response) queryErrors() (top queryAnswer, failed bool) {
	// The search for the literal saves decoding every answer; a quote in somebody's text is always
	// escaped in JSON.
	if !bytes.Contains(a.body, []byte(`"errors"`)) || json.Unmarshal(a.body, &top) != nil {
		return queryAnswer{}, false
	}
	return top, len(top.Errors) > 0
}

// tooQuick recognises the secondary limit for content, which GitHub also words as a failed
// validation: "was submitted too quickly" (github.com/cli/cli/issues/4801).
func (s said) tooQuick() bool {
	return strings.Contains(strings.ToLower(s.all()), "submitted too quickly")
}

// limit recognises a rate limit by the words and the address in a refusal. GitHub marks a secondary
// limit in no other way.
func (s said) limit() limitKind {
	text := strings.ToLower(s.Message)
	says := func(sign string) bool { return strings.Contains(text, sign) }
	page := func(name string) bool { return strings.Contains(s.Docs, name) }

	switch {
	case says("secondary rate limit"), says("abuse detection"),
		page("secondary-rate-limits"), page("abuse-rate-limits"):
		return secondaryLimit
	case says("rate limit exceeded"), says("rate limit already exceeded"):
		return primaryLimit
	case s.tooQuick():
		return secondaryLimit
	}

	return unlimited
}

// budgetReset returns when the budget is filled again; known is false where GitHub does not say.
func budgetReset(h http.Header) (reset time.Time, known bool) {
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

// warnLowBudget says once in a client's life that few requests are left.
func (c *call) warnLowBudget(h http.Header) {
	most, noMost := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	left, noLeft := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, known := budgetReset(h)
	if noMost != nil || noLeft != nil || !known || left >= lowBudget || c.warned.Swap(true) {
		return
	}

	resource := cmp.Or(oneLine(h.Get("X-RateLimit-Resource")), c.resource())
	until := reset.Format("15:04 UTC")
	c.o.Warn(fmt.Sprintf("%d of %d %s requests left until %s", left, most, resource, until))
}
