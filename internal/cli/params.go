package cli

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/config"
)

// A Param is one parameter of a verb: a field of its struct, and what the field's tags say of it.
// The command line makes an option of it (option.go), and the MCP server a property of a schema.
//
//	flag:"repo,R"       the option and its short form
//	arg:"[ISSUE]"       or its place behind them: "ISSUE", "[ISSUE]", "[ISSUE]...", "-- COMMAND..."
//	value:"OWNER/NAME"  what its value is called
//	text:"..."          what it means
//	only:"low,high"     the values that are allowed; "low,..." are examples
//	split:","           a value may be several
//	show:"common"       nearly all verbs have it; "all": advanced, only --help-all shows it
type Param struct {
	Name  string // such as "firing-id"
	Short string
	Arg   string // empty for an option
	Value string
	Text  string
	Show  string
	Only  []string
	Open  bool // Only are examples

	split string
	field reflect.Value
}

// A Text is other people's or one's own, too long for a command line: there it is the name of a
// file, "-" for standard input. A tool gives the text itself.
type Text struct {
	File, Text string
}

// Repos are repositories; a tool names one.
type Repos []string

// Params are the parameters in a verb's struct, which of points to, in its order.
func Params(of any) []Param {
	var all []Param
	v := reflect.ValueOf(of).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Anonymous {
			continue
		}

		p := Param{
			Arg:   f.Tag.Get("arg"),
			Text:  f.Tag.Get("text"),
			Value: f.Tag.Get("value"),
			Show:  f.Tag.Get("show"),
			split: f.Tag.Get("split"),
			field: v.FieldByIndex(f.Index),
		}
		p.Name, p.Short, _ = strings.Cut(f.Tag.Get("flag"), ",")
		if p.Arg != "" {
			p.Name = strings.ToLower(f.Name)
		}

		if only := f.Tag.Get("only"); only != "" {
			only, p.Open = strings.CutSuffix(only, ",...")
			p.Only = strings.Split(only, ",")
		}

		if p.Value == "" && p.Arg == "" {
			p.Value = p.usualValue()
		}

		all = append(all, p)
	}

	return all
}

// usualValue is what the value of an option is called by its kind; empty where it takes none.
func (p Param) usualValue() string {
	switch p.Field().(type) {
	case *bool:
		return ""
	case *time.Duration, **time.Duration:
		return "DURATION"
	}

	return "TEXT"
}

// Field is a pointer to the field, to tell its kind and to read what it was set to.
func (p Param) Field() any { return p.field.Addr().Interface() }

// Needed reports whether it is an argument that may not be left out.
func (p Param) Needed() bool { return p.Arg != "" && p.Arg[0] != '[' }

// Given reports whether the field was set.
func (p Param) Given() bool { return !p.field.IsZero() }

// Given is the first parameter of these names that was set in a verb's struct, which of points to.
func Given(of any, names ...string) (Param, bool) {
	all := Params(of)
	n := slices.IndexFunc(all, func(p Param) bool { return p.Given() && slices.Contains(names, p.Name) })
	if n < 0 {
		return Param{}, false
	}
	return all[n], true
}

// Set reads a value as it was typed, which may be several. The error says what is wrong with it, to
// stand behind the name.
func (p Param) Set(text string) error {
	if p.split == "" {
		return p.Add(text)
	}

	for one := range strings.SplitSeq(text, p.split) {
		if err := p.Add(strings.TrimSpace(one)); err != nil {
			return err
		}
	}

	return nil
}

// Add is Set for one value.
func (p Param) Add(text string) error {
	if _, may := p.Field().(**string); text == "" && !may && !p.Rest() {
		return errors.New("is empty; give a value, or leave it out")
	}
	if p.TakesValue() && p.Given() && p.field.Kind() != reflect.Slice {
		return errors.New("is given twice; give it once")
	}
	text, err := p.allowed(text)
	if err != nil {
		return err
	}

	switch to := p.Field().(type) {
	case *string:
		*to = text
	case **string: // may be empty
		*to = &text
	case *Text:
		to.File = text
	case *[]string:
		*to = append(*to, text)
	case *Repos:
		*to = append(*to, text)
	case *bool:
		on, err := strconv.ParseBool(text)
		*to = on
		return wrong(text, "true or false", err)
	case *int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && (n < 1 || strconv.FormatInt(n, 10) != text) { // 010 is not a number
			err = strconv.ErrSyntax
		}
		*to = n
		return wrong(text, "a whole number above 0, in decimal digits", err)
	case *float64:
		x, err := strconv.ParseFloat(text, 64)
		if err == nil && !(x > 0) { // nor NaN
			err = strconv.ErrRange
		}
		*to = x
		return wrong(text, "a number above 0", err)
	case *time.Duration:
		d, err := config.ParseSpan(text)
		if err == nil && d <= 0 {
			return fmt.Errorf("%s: must be positive, for example 30m", text)
		}
		*to = d
		return wrong(text, aDuration, err)
	case **time.Duration: // may be nothing
		d, err := config.ParseSpan(text)
		if err == nil && d < 0 {
			return fmt.Errorf("%s: must not be negative", text)
		}
		*to = &d
		return wrong(text, aDuration, err)
	}

	return nil
}

const aDuration = "a duration such as 30s, 90m, 4h or 7d"

func wrong(text, want string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q: expected %s", OneLine(text), want)
}

// allowed is one of the values that there are, in any case. One that is none of them is refused,
// and the error says which was meant.
func (p Param) allowed(text string) (string, error) {
	if p.Only == nil || p.Open {
		return text, nil
	}

	for _, value := range p.Only {
		if strings.EqualFold(value, text) {
			return value, nil
		}
	}

	return "", fmt.Errorf("%q: expected %s%s", OneLine(text), strings.Join(p.Only, ", "),
		Meant(p.Only, text))
}

// TakesValue reports whether the next word belongs to the option when it has no "=".
func (p Param) TakesValue() bool { return p.Value != "" }

// Names are the names of the option.
func (p Param) Names() []string {
	if p.Short == "" {
		return []string{p.Name}
	}
	return []string{p.Name, p.Short}
}

// Rest reports whether the argument is what stands behind "--".
func (p Param) Rest() bool { return strings.Contains(p.Arg, "-- ") }
