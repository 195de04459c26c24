package claim

import (
	"cmp"
	"slices"
	"strings"
)

// A person's claim is a claim like any other, with a record that names the person. Whoever knows
// nothing of the name reads an ordinary claim without time limit.

// appSuffix ends the login of every app.
const appSuffix = "[bot]"

// IsApp reports whether a login is an app's. An app is not a person.
func IsApp(login string) bool { return strings.HasSuffix(strings.ToLower(login), appSuffix) }

// personOf returns whose hold a claim comment makes, empty for an agent's run. A login names nobody
// but itself. An app that counts may name the person who gave it the order, and then it must sign
// with the same name.
func personOf(e Entry) string {
	named := e.Record.Person
	switch {
	case IsApp(named):
		return ""
	case SameLogin(named, e.Author):
		return e.Author
	case IsApp(e.Author) && SameLogin(e.Record.By, named):
		return named
	}

	return ""
}

// IsOf reports whether the claim is the hold of the person with that login.
func (c Claim) IsOf(login string) bool { return c.Person != "" && SameLogin(c.Person, login) }

// Holder is what people call the claim's holder: the person, else the worker's codename and run.
func (c Claim) Holder() string {
	if c.Person != "" {
		return c.Person
	}
	return c.Record.Worker.Codename + " (run " + c.Record.Worker.FiringID + ")"
}

// HolderKey is who holds the claim in one word: the person, else the worker's key.
func (c Claim) HolderKey() string { return cmp.Or(c.Person, c.Record.Worker.String()) }

// HeldBy returns the live claim of a person: a confirmed one first.
func (s State) HeldBy(login string) (Claim, bool) {
	live := slices.DeleteFunc(s.Live(), func(c Claim) bool { return !c.IsOf(login) })
	return State{Claims: live}.Holder()
}

// Worked reports whether a worker has claimed the issue with that login.
func (s State) Worked(login string) bool {
	return slices.ContainsFunc(s.Claims, func(c Claim) bool { return c.Person == "" && SameLogin(c.Author, login) })
}

// CutShort reports whether the claim was a person's hold that time or a maintainer ended, and no
// reset came after that end or names what ran out.
func (s State) CutShort(c Claim) bool {
	if c.Person == "" || !c.Held() || c.End == nil || c.End.Rank.Compare(s.Reset) <= 0 {
		return false
	}
	return c.End.Outcome == OutcomeStaleSwept && !c.Reset || c.End.Outcome == OutcomeForced
}

// LastPerson returns the confirmed claim of a person that a record ended last.
func (s State) LastPerson() (Claim, bool) {
	return s.LastEnded(func(c Claim) bool { return c.Held() && c.Person != "" })
}
