package github

import (
	"slices"
	"strings"
)

// A link is one of a Link header (RFC 8288).
type link struct {
	target string
	rel    string // relation types with spaces between
}

// is reports whether the link has a relation type; those are compared without regard to case.
func (l link) is(rel string) bool {
	return slices.ContainsFunc(strings.Fields(l.rel), func(one string) bool { return strings.EqualFold(one, rel) })
}

// parseLinks reads the values of Link headers. Links with an anchor are left out: they are not about the answer that they
// came with. whole is false when some of it is no link header.
func parseLinks(values []string) (links []link, whole bool) {
	for _, text := range values {
		r := linkReader{text}
		for r.skip(" \t,"); r.rest != ""; r.skip(" \t,") {
			l, anchored, ok := r.link()
			if !ok {
				return links, false
			}
			if !anchored {
				links = append(links, l)
			}
		}
	}
	return links, true
}

// A linkReader takes one piece after the other off a header's value.
type linkReader struct{ rest string }

func (r *linkReader) skip(chars string) { r.rest = strings.TrimLeft(r.rest, chars) }

// take takes off what comes before the first of the characters, or all.
func (r *linkReader) take(until string) string {
	end := strings.IndexAny(r.rest, until)
	if end < 0 {
		end = len(r.rest)
	}
	text := r.rest[:end]
	r.rest = r.rest[end:]
	return text
}

// eat takes off a character, if it comes next.
func (r *linkReader) eat(char string) bool {
	rest, is := strings.CutPrefix(r.rest, char)
	r.rest = rest
	return is
}

// link reads <target> and its parameters, up to a comma or the end. Of several rel the first counts.
func (r *linkReader) link() (l link, anchored, ok bool) {
	if !r.eat("<") {
		return l, false, false
	}
	l.target = r.take(">")
	if !r.eat(">") {
		return l, false, false
	}
	related := false
	for {
		r.skip(" \t")
		if r.rest == "" || r.rest[0] == ',' {
			return l, anchored, true
		}
		if !r.eat(";") {
			return l, anchored, false
		}
		name, value, ok := r.parameter()
		if !ok {
			return l, anchored, false
		}
		switch {
		case strings.EqualFold(name, "anchor"):
			anchored = true
		case strings.EqualFold(name, "rel") && !related:
			l.rel, related = value, true
		}
	}
}

// parameter reads name, name=token or name="text"; nothing at all between two semicolons is allowed, too.
func (r *linkReader) parameter() (name, value string, ok bool) {
	r.skip(" \t")
	name = r.take(" \t=;,")
	r.skip(" \t")
	if !r.eat("=") {
		return name, "", true
	}
	r.skip(" \t")
	if !r.eat(`"`) {
		return name, r.take(" \t;,"), true
	}
	var text strings.Builder
	for {
		text.WriteString(r.take(`"\\`))
		switch {
		case r.eat(`"`):
			return name, text.String(), true
		case r.eat(`\`) && r.rest != "":
			text.WriteByte(r.rest[0])
			r.rest = r.rest[1:]
		default:
			return name, "", false
		}
	}
}
