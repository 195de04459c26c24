package github

import (
	"fmt"
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

// Empty reports whether there is no token.
func (s Secret) Empty() bool { return s.reveal == nil }

// String returns "[redacted]", or nothing for an empty secret.
func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return redacted
}

// Format writes what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// hide replaces the token wherever it stands in the text.
func (s Secret) hide(text string) string {
	if s.Empty() {
		return text
	}
	return strings.ReplaceAll(text, s.reveal(), redacted)
}
