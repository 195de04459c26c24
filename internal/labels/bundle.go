package labels

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxName is how many characters GitHub allows a label's name.
const maxName = 50

// CheckSlug says why s cannot name a feature or a bundle however long it may be, or returns nil. A
// slug is of a-z, 0-9 and "-" and does not begin with "-": it is safe in a label, a branch and a
// path.
func CheckSlug(s string) error {
	ok := s != "" && s[0] != '-'
	for _, r := range s {
		ok = ok && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	}

	if ok {
		return nil
	}
	return fmt.Errorf("name %q: expected a-z, 0-9 and -, beginning with a letter or digit", Begin(s))
}

// CheckFeature says why s cannot name a feature, or returns nil: it is a slug that fits beside
// others into a branch and a path.
func CheckFeature(s string) error {
	return cmp.Or(CheckSlug(s), fits(s, 63, ""))
}

// Bundle returns the label of a bundle. It refuses a slug that is none, and one with which GitHub
// would not take the label.
func (s Scheme) Bundle(slug string) (string, error) {
	room := maxName - utf8.RuneCountInString(s.BundlePrefix)
	why := fmt.Sprintf(", the label %sNAME at most %d", s.BundlePrefix, maxName)
	if err := cmp.Or(CheckSlug(slug), fits(slug, room, why)); err != nil {
		return "", err
	}
	return s.BundlePrefix + slug, nil
}

// fits refuses a slug of more than most characters, and says why no more.
func fits(slug string, most int, why string) error {
	if len(slug) <= most {
		return nil
	}
	return fmt.Errorf("name %q: %d characters, expected at most %d%s", Begin(slug), len(slug), most, why)
}

// Begin is as much of a name that somebody typed as a message shows: 80 octets at most, cut between
// two characters.
func Begin(s string) string {
	most := 80
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}

	return s[:most] + "…"
}

// BundleOf returns the slug of a bundle's label; ok is false for any other label.
func (s Scheme) BundleOf(name string) (slug string, ok bool) {
	n := len(s.BundlePrefix)
	if len(name) < n || !Same(name[:n], s.BundlePrefix) {
		return "", false
	}
	slug = strings.ToLower(name[n:])
	return slug, CheckSlug(slug) == nil
}

// BundleDefinition is how a bundle's label should exist in a repository.
func (s Scheme) BundleDefinition(slug string) Definition {
	return Definition{
		s.BundlePrefix + slug, "ff6b00",
		"Claimed together with the other issues of its bundle, or not at all",
	}
}

// Was words what an issue shows before a bundle's claim, for the claim's record: the state, and
// "+bundle" when it has the bundle's label already.
func (s Scheme) Was(st State, have []string, slug string) string {
	if Has(have, s.BundlePrefix+slug) {
		return st.String() + "+bundle"
	}
	return st.String()
}

// Before is the projection that Was has worded; ok is false when was says nothing of the kind.
func (s Scheme) Before(was, slug string) (p Projection, ok bool) {
	name, bundled := strings.CutSuffix(was, "+bundle")
	for st := None; st <= Done; st++ {
		if st.String() != name {
			continue
		}
		if label, err := s.Bundle(slug); err == nil && !bundled {
			p.Clear = []string{label}
		}

		p.State = st
		return p, true
	}

	return Projection{}, false
}
