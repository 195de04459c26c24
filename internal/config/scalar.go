package config

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/label-state/label-state/internal/printable"
)

// scalar returns the text of a value of one of the tags.
func (r *reader) scalar(path string, n *yaml.Node, allowed string, tag string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != tag {
		r.wrongType(path, n, allowed)
		return "", false
	}
	return n.Value, true
}

// badValue reports a value of the right type that is not allowed.
func (r *reader) badValue(path string, n *yaml.Node, allowed string) {
	problem := quote(n.Value)
	if n.Value == "" {
		problem = "empty"
	}
	r.problem(n.Line, path, "is "+problem, allowed)
}

// A form is what a text must look like.
type form struct {
	allowed string
	pattern string
	longest int // characters
	also    func(string) bool
}

// fits reports whether a text has the form.
func (f form) fits(s string) bool {
	return utf8.RuneCountInString(s) <= f.longest &&
		regexp.MustCompile(f.pattern).MatchString(s) &&
		(f.also == nil || f.also(s))
}

// label is a label name. GitHub allows 50 characters; a comma separates labels wherever they are
// listed.
func label() form {
	return form{
		allowed: "a label: 1 to 50 characters, no comma, no space at either end",
		pattern: `^[^,\s]([^,]*[^,\s])?$`,
		longest: 50,
		also: func(s string) bool {
			return s == strings.TrimSpace(s) && !strings.ContainsFunc(s, unicode.IsControl)
		},
	}
}

func login() form {
	return form{allowed: "a GitHub login", pattern: `^[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?$`, longest: 100}
}

func repository() form {
	return form{
		allowed: "owner/name",
		pattern: `^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$`,
		longest: 140,
		also:    func(s string) bool { return !strings.HasSuffix(s, "/.") && !strings.HasSuffix(s, "/..") },
	}
}

// slug is the name of a GitHub App.
func slug() form {
	return form{
		allowed: "the slug of a GitHub App, without [bot]",
		pattern: `^[A-Za-z0-9][A-Za-z0-9-]*$`,
		longest: 100,
	}
}

// codename is what claim.Worker accepts as one.
func codename() form {
	return form{
		allowed: "a codename: letters, digits and . _ / -",
		pattern: `^[A-Za-z0-9][A-Za-z0-9._/-]*$`,
		longest: 64,
	}
}

// slackID is an id of Slack's that begins with one of the letters.
func slackID(allowed, letters string) form {
	return form{allowed: allowed, pattern: `^[` + letters + `][A-Z0-9]+$`, longest: 40}
}

func variable() form {
	return form{allowed: "the name of an environment variable", pattern: `^[A-Za-z_][A-Za-z0-9_]*$`, longest: 200}
}

// text is a text of that form.
func text(to *string, f form) rule {
	s := schema{"type": "string", "pattern": f.pattern, "maxLength": f.longest}
	if *to != "" {
		s["default"] = *to
	}

	read := func(r *reader, path string, n *yaml.Node) {
		v, ok := r.scalar(path, n, f.allowed, "!!str")
		switch {
		case !ok:
		case !f.fits(v):
			r.badValue(path, n, f.allowed)
		default:
			*to = v
		}
	}

	return rule{schema: s, read: read, to: to}
}

// texts is a list of texts of that form.
func texts(to *[]string, f form) rule {
	return list(to, func(s *string) rule { return text(s, f) })
}

// word is one of these words.
func word(to *string, words ...string) rule {
	allowed := strings.Join(words, ", ")
	s := schema{"type": "string", "enum": words, "default": cmp.Or(*to, words[0])}

	read := func(r *reader, path string, n *yaml.Node) {
		v, ok := r.scalar(path, n, allowed, "!!str")
		switch {
		case !ok:
		case !slices.Contains(words, v):
			r.badValue(path, n, allowed)
		default:
			*to = v
		}
	}

	return rule{schema: s, read: read, to: to}
}

// truth is true or false, not yes or on.
func truth(to *bool) rule {
	read := func(r *reader, path string, n *yaml.Node) {
		if v, ok := r.scalar(path, n, "true or false", "!!bool"); ok {
			*to = strings.EqualFold(v, "true")
		}
	}
	return rule{schema: schema{"type": "boolean", "default": *to}, read: read, to: to}
}

// count is a whole decimal number from least to most.
func count(to *int, least, most int) rule {
	allowed := "a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
	if least == most {
		allowed = strconv.Itoa(least)
	}

	s := schema{
		"type":    "integer",
		"minimum": least,
		"maximum": most,
		"default": *to,
	}

	read := func(r *reader, path string, n *yaml.Node) {
		v, ok := r.scalar(path, n, allowed, "!!int")
		if !ok {
			return
		}

		i, err := strconv.Atoi(v)
		if err != nil || i < least || i > most {
			r.badValue(path, n, allowed)
			return
		}

		*to = i
	}

	return rule{schema: s, read: read, to: to}
}

// ParseSpan reads a duration, in which a day has 24 hours: 90s, 4h, 7d.
func ParseSpan(s string) (time.Duration, error) {
	days, rest, found := strings.Cut(s, "d")
	if !found {
		return time.ParseDuration(s)
	}

	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil || rest == "" {
		return time.Duration(n) * day, err
	}

	d, err := time.ParseDuration(rest)
	return time.Duration(n)*day + d, err
}

// none is what a span may say that is 0.
const none = "none"

// span is a duration from least to most: 90s, 30m, 4h, 1h30m, 7d.
func span(to *time.Duration, least, most time.Duration) rule {
	return spanOr(to, least, most, "")
}

// spanOr is a span, or the word, which is 0; an empty word is none.
func spanOr(to *time.Duration, least, most time.Duration, word string) rule {
	const short = `([0-9]+(\.[0-9]+)?(ms|s|m|h))`
	forms := short + `+|[0-9]+d` + short + `*`
	allowed := "a duration from " + printable.Exact(least) + " to " + printable.Exact(most) +
		", such as 90s, 30m, 4h or 7d"
	if word != "" {
		forms = word + `|` + forms
		allowed += ", or " + word
	}

	pattern := `^(` + forms + `)$`
	s := schema{"type": "string", "pattern": pattern, "maxLength": longestSpan}
	if *to != 0 {
		s["default"] = printable.Exact(*to)
	} else if word != "" {
		s["default"] = word
	}

	read := func(r *reader, path string, n *yaml.Node) {
		v, ok := r.scalar(path, n, allowed, "!!str")
		if !ok {
			return
		}
		if word != "" && v == word {
			*to = 0
			return
		}

		d, err := ParseSpan(v)
		if err != nil || len(v) > longestSpan || !regexp.MustCompile(pattern).MatchString(v) || d < least || d > most {
			r.badValue(path, n, allowed)
			return
		}

		*to = d
	}

	return rule{schema: s, read: read, to: to}
}

const longestSpan = 40
