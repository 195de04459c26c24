package claim

import (
	"fmt"
	"slices"
	"strings"
)

// A Worker is one run of an agent or a person: the kind it is and this firing of it.
// The pair is the key of a claim; it is used once for an issue (spec-writing.md#claim).
type Worker struct{ Codename, FiringID string }

// String returns codename:firing_id, the form in which records name another worker.
func (w Worker) String() string { return w.Codename + ":" + w.FiringID }

// IsZero reports whether w names nobody.
func (w Worker) IsZero() bool { return w == Worker{} }

// Validate reports why a new claim cannot be made in the name of w, or nil. Codenames and firing
// ids are 1 to 64 of A-Z a-z 0-9 . _ / - (a firing id may also hold a colon) and start with a
// letter or digit. Records under other names are read all the same.
func (w Worker) Validate() error {
	if err := checkName("codename", w.Codename, "._/-"); err != nil {
		return err
	}
	return checkName("firing id", w.FiringID, "._/-:")
}

// checkName reports why s is not a codename or firing id; what names it in the error, punctuation
// is what else it may hold, but not begin with.
func checkName(what, s, punctuation string) error {
	if s == "" || len(s) > 64 {
		return fmt.Errorf("%s %q: expected 1 to 64 characters", what, clip(s))
	}

	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if letter || i > 0 && strings.ContainsRune(punctuation, r) {
			continue
		}
		return fmt.Errorf("%s %q: expected letters, digits and %s, starting with a letter or digit", what, clip(s),
			punctuation)
	}

	return nil
}

// clip cuts a text of somebody else for an error.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// SameLogin compares two logins as GitHub does: without case.
func SameLogin(a, b string) bool { return strings.EqualFold(a, b) }

// HasLogin reports whether all contains the login, as SameLogin compares.
func HasLogin(all []string, login string) bool {
	return slices.ContainsFunc(all, func(one string) bool { return SameLogin(one, login) })
}
