package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

const redacted = "[redacted]"

// A Secret is a token that cannot be printed: every way of formatting or encoding it shows that
// there is one, and no more, also as a field of something else.
type Secret struct{ reveal func() string }

// NewSecret wraps a token; surrounding white space is dropped.
func NewSecret(token string) Secret {
	token = strings.TrimSpace(token)
	if token == "" {
		return Secret{}
	}
	return Secret{func() string { return token }}
}

// empty reports whether there is no token.
func (s Secret) empty() bool { return s.reveal == nil }

// String returns "[redacted]", or nothing for an empty secret.
func (s Secret) String() string {
	if s.empty() {
		return ""
	}
	return redacted
}

// Format writes what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// leastSecret is how long a token is at least that is hidden. GitHub's have forty characters and
// more; a shorter text may stand in an answer for itself.
const leastSecret = 8

// writings are the token as it is, as JSON writes it, and as addresses do; nil when there is none
// that has to be hidden.
func (s Secret) writings() []string {
	if s.empty() || len(s.reveal()) < leastSecret {
		return nil
	}

	token := s.reveal()
	quoted, _ := json.Marshal(token) // a string is never refused
	inJSON := string(bytes.Trim(quoted, `"`))
	all := []string{token, inJSON, strings.ReplaceAll(token, "/", `\/`), url.QueryEscape(token), url.PathEscape(token)}
	slices.Sort(all)

	return slices.Compact(all)
}

// hide replaces the token wherever it stands in the text.
func (s Secret) hide(text string) string { return redact(text, s.writings()) }

func redact(text string, writings []string) string {
	for _, one := range writings {
		text = strings.ReplaceAll(text, one, redacted)
	}
	return text
}

// hideIn replaces the token wherever it stands in what an answer says about a request, and so in
// whatever is made of it: in the header, and in the body of a refusal or of a query that failed.
// What was asked for is left as it is.
func (s Secret) hideIn(a response) response {
	writings := s.writings()
	if len(writings) == 0 {
		return a
	}

	said := a.header.Clone()
	for _, values := range said {
		for n, value := range values {
			values[n] = redact(value, writings)
		}
	}

	fine := a.status >= 200 && a.status < 300
	if links := a.header["Link"]; fine && links != nil {
		said["Link"] = links // to the other pages of what was asked for
	}

	a.header = said

	if fine && !bytes.Contains(a.body, []byte(`"errors"`)) {
		return a
	}

	for _, one := range writings {
		a.body = bytes.ReplaceAll(a.body, []byte(one), []byte(redacted))
	}

	return a
}

// hideCause is an error that says what err does without the token, and matches what err matches.
func (s Secret) hideCause(err error) error {
	text := s.hide(err.Error())
	if text == err.Error() {
		return err
	}
	return quietError{text, func() error { return err }}
}

// A quietError is an error whose own text holds the token.
type quietError struct {
	text  string
	cause func() error // what no way of formatting shows
}

// Error returns the text without the token.
func (q quietError) Error() string { return q.text }

// Is reports whether the cause is the target.
func (q quietError) Is(target error) bool { return errors.Is(q.cause(), target) }

// As looks for the target in the cause.
func (q quietError) As(target any) bool { return errors.As(q.cause(), target) }
