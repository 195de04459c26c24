package labels

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxName is how many characters GitHub allows a label's name.
const maxName = 50

// CheckSlug says why s cannot name a feature or a bundle, or returns nil. A slug is 1 to 63 of a-z,
// 0-9 and "-" and does not begin with "-": it is safe in a label, a branch and a path.
func CheckSlug(s string) error {
	ok := s != "" && len(s) <= 63 && s[0] != '-'
	for _, r := range s {
		ok = ok && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	}

	if ok {
		return nil
	}
	const most = 80
	shown := s
	if len(shown) > most {
		shown = shown[:most] + "…"
	}

	return fmt.Errorf("name %q: expected 1 to 63 of a-z, 0-9 and -, beginning with a letter or digit", shown)
}

// Bundle returns the label of a bundle. It refuses a slug that is none, and a label that GitHub
// would not take.
func (s Scheme) Bundle(slug string) (string, error) {
	if err := CheckSlug(slug); err != nil {
		return "", err
	}
	name := s.BundlePrefix + slug
	if n := utf8.RuneCountInString(name); n > maxName {
		return "", fmt.Errorf("name %q: label %s has %d characters, GitHub allows %d", slug, name, n, maxName)
	}

	return name, nil
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
