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

// scalar is a value with that tag of YAML's which parse takes.
func scalar[T any](to *T, s schema, tag, allowed string, parse func(text string) (value T, ok bool)) rule {
	read := func(r *reader, path string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != tag {
			r.wrongType(path, n, allowed)
			return
		}

		value, ok := parse(n.Value)
		switch {
		case ok:
			*to = value
		case n.Value == "":
			r.problem(n.Line, path, "is empty", allowed)
		default:
			r.problem(n.Line, path, "is "+quote(n.Value), allowed)
		}
	}

	return rule{schema: s, read: read, to: to}
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

	return scalar(to, s, "!!str", f.allowed, func(v string) (string, bool) { return v, f.fits(v) })
}

// texts is a list of texts of that form.
func texts(to *[]string, f form) rule {
	return list(to, func(s *string) rule { return text(s, f) })
}

// word is one of these words.
func word(to *string, words ...string) rule {
	s := schema{"type": "string", "enum": words, "default": cmp.Or(*to, words[0])}
	return scalar(to, s, "!!str", strings.Join(words, ", "),
		func(v string) (string, bool) { return v, slices.Contains(words, v) })
}

// truth is true or false, not yes or on.
func truth(to *bool) rule {
	return scalar(to, schema{"type": "boolean", "default": *to}, "!!bool", "true or false",
		func(v string) (bool, bool) { return strings.EqualFold(v, "true"), true })
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

	return scalar(to, s, "!!int", allowed, func(v string) (int, bool) {
		i, err := strconv.Atoi(v)
		return i, err == nil && i >= least && i <= most
	})
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
	allowed := "a duration from " + printable.Exact(least) + " to " + printable.Exact(most) + suchAs(least, most)
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

	return scalar(to, s, "!!str", allowed, func(v string) (time.Duration, bool) {
		if word != "" && v == word {
			return 0, true
		}

		d, err := ParseSpan(v)
		fits := len(v) <= longestSpan && regexp.MustCompile(pattern).MatchString(v)
		return d, err == nil && fits && d >= least && d <= most
	})
}

const longestSpan = 40

// suchAs are examples of durations from least to most.
func suchAs(least, most time.Duration) string {
	all := []string{"90s", "30m", "4h", "7d"}
	all = slices.DeleteFunc(all, func(text string) bool {
		d, err := ParseSpan(text)
		return err != nil || d < least || d > most
	})

	last := len(all) - 1
	switch {
	case last < 0:
		return ", such as 2s"
	case last == 0:
		return ", such as " + all[0]
	}

	return ", such as " + strings.Join(all[:last], ", ") + " or " + all[last]
}
