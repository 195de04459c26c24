package claim

import (
	"slices"
	"strings"
	"time"
)

// A Life is what shows, besides the comments of a claim, that the person whose hold it is still
// works on the issue (spec.md#people). The zero value shows nothing.
type Life struct {
	Seen    time.Time // the newest comment of theirs on the issue
	Closed  time.Time // the last end of a pull request of theirs that closes it
	Working bool      // such a pull request is open
}

// lives is how many times its ttl a person's hold lasts at most, whatever is said, without a pull
// request that is open or was closed less than a ttl ago.
const lives = 3

// Lived returns the state with what the pull requests show of the persons whose holds live: those
// that a person has open for the issue, and when the last one of theirs ended. A worker's claims
// have no such life.
func (s State) Lived(pulls func(login string) (open bool, last time.Time)) State {
	out := s
	out.Claims = nil
	for _, c := range s.Claims {
		if c.Person != "" && c.End == nil {
			open, last := pulls(c.Person)
			c.Life = Life{Seen: c.Life.Seen, Closed: Latest(c.Life.Closed, last), Working: open}
		}
		out.Claims = append(out.Claims, c)
	}

	return out
}

// Spoke is when a login wrote its newest comment on the issue that is not a record; zero when it
// wrote none.
func (s State) Spoke(login string) time.Time { return s.Talk[strings.ToLower(login)] }

// LastSeen is the newest sign of life of whoever holds it: the last heartbeat of a worker, and of a
// person what shows besides.
func (c Claim) LastSeen() time.Time { return Latest(c.Updated, c.Life.Seen, c.Life.Closed) }

// endOfPersons is when a person's confirmed hold with a ttl ends; ok is false while a pull request
// of theirs is open.
func (c Claim) endOfPersons() (end time.Time, ok bool) {
	if c.Life.Working {
		return time.Time{}, false
	}
	end = c.LastSeen().Add(c.Record.TTL)
	latest := Latest(c.Created.Add(lives*c.Record.TTL), c.Life.Closed.Add(c.Record.TTL))
	if end.After(latest) {
		end = latest
	}

	return end, true
}

// AskedAt is when the person is asked whether they still work on the issue: two days before the
// end, at the latest when three quarters of the ttl have passed, and not before half of it. Of a
// hold without an end it is nudge after the last sign of life, and never if nudge is 0.
func (c Claim) AskedAt(t Terms, nudge time.Duration) (at time.Time, ok bool) {
	end, ends := c.Until(t)
	switch {
	case c.Person == "" || !c.Held() || c.Life.Working:
		return time.Time{}, false
	case ends:
		ttl := c.Record.TTL
		before := min(max(2*day, ttl/4), ttl/2)
		return end.Add(-before), true
	case nudge > 0:
		return c.LastSeen().Add(nudge), true
	}

	return time.Time{}, false
}

const day = 24 * time.Hour

// Latest is the last of several moments.
func Latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
