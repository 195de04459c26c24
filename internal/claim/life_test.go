package claim_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// personsHold is a person's hold from 2026-05-01 on.
func personsHold(t *testing.T, ttl string, open bool, last time.Time) claim.Claim {
	t.Helper()
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	body := "<!-- agent-claim:codename=rob firing_id=1 nonce=n state=held person=rob by=rob ttl=" + ttl + " -->"
	log := []claim.Comment{{
		ID:      1,
		Created: at,
		Updated: at,
		Author:  "apps[bot]",
		Trusted: true,
		Body:    body,
	}}

	s := claim.Replay(log).Lived(func(login string) (bool, time.Time) {
		if login != "rob" {
			t.Fatalf("asked about %s", login)
		}
		return open, last
	})

	return s.Claims[0]
}

func TestPersonsHoldEnds(t *testing.T) {
	const d = 24 * time.Hour
	start := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, ttl string
		open      bool
		last      time.Time
		nudge     time.Duration
		end, ask  time.Duration // 0 is never
	}{
		{
			name: "a week",
			ttl:  "168h",
			end:  7 * d,
			ask:  5 * d,
		},
		{
			name: "a month is asked about after three quarters",
			ttl:  "672h",
			end:  28 * d,
			ask:  21 * d,
		},
		{
			name: "a day is asked about after half of it",
			ttl:  "24h",
			end:  d,
			ask:  12 * time.Hour,
		},
		{
			name: "an open pull request",
			ttl:  "168h",
			open: true,
			last: start.Add(90 * d),
		},
		{
			name: "a pull request that was closed",
			ttl:  "168h",
			last: start.Add(10 * d),
			end:  17 * d,
			ask:  15 * d,
		},
		{name: "it was open for long", ttl: "168h", last: start.Add(90 * d), end: 97 * d, ask: 95 * d},
		{name: "no end, and nobody asks", ttl: "none"},
		{name: "no end, and asked", ttl: "none", nudge: 14 * d, ask: 14 * d},
		{name: "no end, and at work", ttl: "none", nudge: 14 * d, open: true},
		{name: "no end, and a later sign", ttl: "none", nudge: 14 * d, last: start.Add(3 * d), ask: 17 * d},
	} {
		t.Run(c.name, func(t *testing.T) {
			hold := personsHold(t, c.ttl, c.open, c.last)

			end, ends := hold.Until(claim.DefaultTerms())
			if ends != (c.end > 0) || ends && end.Sub(start) != c.end {
				t.Errorf("ends %v at %s, want after %s", ends, end, c.end)
			}

			ask, asked := hold.AskedAt(claim.DefaultTerms(), c.nudge)
			if asked != (c.ask > 0) || asked && ask.Sub(start) != c.ask {
				t.Errorf("asked %v at %s, want after %s", asked, ask, c.ask)
			}
		})
	}
}
