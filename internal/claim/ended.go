package claim

import (
	"math"
	"slices"
	"time"
)

// Ended returns the state as it will be once a record written at that moment has ended each of the
// claims, with the outcome that is given for it. Claims that the state does not have, and those
// that a record has ended already, change nothing.
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

// failed reports whether the claim was a hold that ended in a way that counts against the issue.
func (c Claim) failed() bool {
	if c.End == nil || !c.Held() || c.Undone() {
		return false
	}
	if c.End.Outcome == OutcomeStaleSwept && (c.Person != "" || c.Reset) {
		return false // nobody has tried what a person let run out, and a reset is about what it names
	}

	return CountsAgainst(c.End.Outcome)
}

// A Naming is a pull request that the log names for the issue (spec.md#facts-of-a-pull-request).
type Naming struct {
	PR     string // its address, as the releases have it
	Newest Rank   // of the releases that name it
}

// Named lists the pull requests that the log names, in the order of their newest naming: each by
// the release that ended a claim, unless a record unlinked it. Other releases name none, be they
// copies or of a key without a claim: no unlink could take those back.
func (s State) Named() []Naming {
	var out []Naming
	for _, c := range s.Claims {
		if c.End == nil || c.End.PR == "" || c.End.Unlinked {
			continue
		}
		n := slices.IndexFunc(out, func(o Naming) bool { return o.PR == c.End.PR })
		switch {
		case n < 0:
			out = append(out, Naming{c.End.PR, c.End.Rank})
		case c.End.Rank.Compare(out[n].Newest) > 0:
			out[n].Newest = c.End.Rank
		}
	}

	slices.SortFunc(out, func(a, b Naming) int { return a.Newest.Compare(b.Newest) })
	return out
}
