package claim

import (
	"math"
	"slices"
	"time"
)

// Ended returns the state as it will be once a record written at that moment has ended each of the
// claims, with the outcome that is given for it. Claims that the state does not have, and those that a
// record has ended already, change nothing.
func (s State) Ended(claims []Claim, outcome func(Claim) string, at time.Time) State {
	out := s
	out.Claims, out.Attempts = slices.Clone(s.Claims), slices.Clone(s.Attempts)
	for i := range out.Claims {
		c := &out.Claims[i]
		ends := slices.ContainsFunc(claims, func(e Claim) bool { return e.Record.Worker == c.Record.Worker })
		if !ends || c.End != nil {
			continue
		}
		c.End = &Release{Outcome: outcome(*c), At: at, Rank: Rank{Created: at, ID: math.MaxInt64}}
		if c.failed() {
			out.Attempts = append(out.Attempts, Attempt{c.Record.Worker, *c.End})
		}
	}
	return out
}

// Outdated are the comments that say nothing of today any more, of keys that have ended, in order (About.Aging).
func (s State) Outdated() (out []Comment) {
	for _, e := range s.Log {
		if c, claimed := s.Find(e.Record.Worker); e.Record.Kind.About().Aging && (!claimed || c.End != nil) {
			out = append(out, e.Comment)
		}
	}
	return out
}

// failed reports whether the claim was a hold that ended in a way that counts against the issue.
func (c Claim) failed() bool {
	return c.End != nil && c.Held() && !c.Undone() && CountsAgainst(c.End.Outcome)
}
