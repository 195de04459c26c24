package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

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
	if graphql && a.status == http.StatusOK {
		return a.queryLimited()
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

// queryLimited finds the limit that GraphQL reports under status 200. The search for the literal
// saves decoding every answer; a quote in somebody's text is always escaped in JSON.
func (a answer) queryLimited() (message string, yes bool) {
	if !bytes.Contains(a.body, []byte(`"errors"`)) {
		return "", false
	}
	var top struct {
		Data   json.RawMessage
		Errors []queryError
	}
	if json.Unmarshal(a.body, &top) != nil {
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
