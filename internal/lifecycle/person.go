package lifecycle

import (
	"cmp"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// personHolds reports whether the claim that counts is a person's.
func personHolds(s claim.State) bool {
	c, held := s.Holder()
	return held && c.Person != ""
}

// HeldNow returns the hold of a person that is confirmed and has not expired.
func (r Rules) HeldNow(f Facts, login string) (mine claim.Claim, held bool) {
	mine, _ = f.Log.HeldBy(login)
	return mine, mine.Held() && !mine.Expired(r.Terms, f.Now)
}

// beside reports whether a stranger opened the pull request while another person holds the issue:
// it says nothing of that person's work.
func (f Facts) beside(p PR) bool {
	c, held := f.Log.Holder()
	return held && c.Person != "" && p.Stranger && !claim.SameLogin(c.Person, p.Author)
}

// withoutRivals is the state without the claims that stand behind a person's: none of them is a
// hold.
func withoutRivals(s claim.State) claim.State {
	if !personHolds(s) {
		return s
	}
	out := s
	out.Claims = nil

	for _, c := range s.Claims {
		if !c.Live() || c.Person != "" {
			out.Claims = append(out.Claims, c)
		}
	}

	return out
}

// leftHold reports whether the label of a person's hold is what a hold that has ended left behind:
// it was put on before that end, or in the same second by who recorded the hold. One that was put
// on later, or of which it is not known when, is a person's own doing.
func (f Facts) leftHold() bool {
	last, ended := f.Log.LastPerson()
	if !ended || personHolds(f.Log) || f.HoldAt.IsZero() {
		return false
	}

	by := cmp.Or(f.HoldBy, f.HoldApp)
	return f.HoldAt.Before(last.End.At) || f.HoldAt.Equal(last.End.At) && claim.SameLogin(by, last.Author)
}

// BareHold reports whether a label holds the issue for a person without any record.
func (r Rules) BareHold(f Facts) bool {
	return labels.Has(f.Labels, r.Scheme.Hold) && !personHolds(f.Log) && !f.leftHold()
}

// personsLabel is the projection with the label of a person's hold in line with the log. A label
// without a record stays.
func personsLabel(s labels.Scheme, f Facts, want labels.Projection, why string) (labels.Projection, string) {
	switch {
	case f.Open && personHolds(f.Log):
		want.Set = append(want.Set, s.Hold)
		person, _ := f.Log.Holder()
		held := "held by " + person.Person
		if want.State == labels.PROpen || want.State == labels.Done { // which no hold explains
			held = why + "; " + held
		}
		why = held
	case f.leftHold():
		want.Clear = append(want.Clear, s.Hold)
	}

	return want, why
}

// Lived returns the facts with what the pull requests show of the persons whose holds live: whoever
// has one open that closes the issue still works on it, and the end of one is a sign of life.
func (f Facts) Lived() Facts {
	f.Log = f.Log.Lived(f.working)
	return f
}

// working is what the pull requests that close the issue show of a login: whether one of theirs is
// open, and when the last one ended.
func (f Facts) working(login string) (open bool, last time.Time) {
	for _, p := range f.PRs {
		if p.Sibling || p.Bare || !claim.SameLogin(p.Author, login) {
			continue
		}
		open = open || p.State == PROpened
		last = claim.Latest(last, p.ClosedAt)
	}

	return open, last
}
