package work

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/label-state/label-state/internal/printable"
)

// A Priority is how urgent an item is; smaller is more urgent.
type Priority int

// The priorities. An item without any is Medium.
const (
	Critical Priority = iota
	High
	Medium
	Low
)

var priorityNames = [...]string{"critical", "high", "medium", "low"}

// String returns critical, high, medium or low.
func (p Priority) String() string { return priorityNames[p] }

// MarshalText returns what String does.
func (p Priority) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (p *Priority) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePriority(string(text))
	return err
}

// ParsePriority reads a priority's name, in any case; anything else is a *OptionError.
func ParsePriority(name string) (Priority, error) {
	i := slices.Index(priorityNames[:], strings.ToLower(name))
	if i < 0 {
		return Medium, &OptionError{
			"priority",
			fmt.Sprintf("%q: expected %s", printable.Clip(name, 80), strings.Join(priorityNames[:], ", ")),
		}
	}
	return Priority(i), nil
}

// Words say which words of a label mean which priority. Words are lower case.
type Words map[string]Priority

// DefaultWords are the usual ones.
func DefaultWords() Words {
	return Words{
		"critical": Critical, "urgent": Critical, "blocker": Critical, "p0": Critical,
		"high": High, "important": High, "p1": High,
		"medium": Medium, "normal": Medium, "p2": Medium,
		"low": Low, "minor": Low, "trivial": Low, "p3": Low, "p4": Low,
	}
}

// Of returns the most urgent priority that a whole word of any label names, else Medium. Words are
// what is left between characters that are neither letters nor digits; one behind non or not does
// not count (work.md).
func (w Words) Of(labels []string) Priority {
	best, found := Medium, false
	for _, label := range labels {
		before := ""
		for _, word := range strings.FieldsFunc(strings.ToLower(label),
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			p, named := w[word]
			if named && before != "non" && before != "not" && (!found || p < best) {
				best, found = p, true
			}
			before = word
		}
	}

	return best
}
