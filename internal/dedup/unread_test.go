package dedup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/dedup"
)

// TestUnread: what a message may say beyond the limits is unknown, and never nothing.
func TestUnread(t *testing.T) {
	names := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "closes #%d\n", i+1)
		}
		return text.String()
	}

	for _, c := range []struct {
		name string
		m    dedup.Message
		want string
	}{
		{"whole", dedup.Message{Text: names(closing.Limit) + "closes #1"}, ""},
		{"cut", dedup.Message{Cut: true}, "the message of 0123456789ab is longer than 1 MiB"},
		{
			"many",
			dedup.Message{Text: names(closing.Limit + 1)},
			"the message of 0123456789ab names more than 1000 issues",
		},
		{
			"both",
			dedup.Message{Text: names(closing.Limit + 1), Cut: true},
			"the message of 0123456789ab is longer than 1 MiB; the message of 0123456789ab names more than 1000 issues",
		},
	} {
		c.m.OID = "0123456789abcdef0123456789abcdef01234567"
		var got []string
		for _, u := range dedup.Unread([]dedup.Message{c.m}, claim.Repo{Owner: "acme", Name: "app"}, "github.com") {
			got = append(got, u.Reason)
		}

		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
