package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A line is a command line and its standard input.
type line struct {
	words []string
	input string
}

// line is the command line of a call. What an agent gives is always the value of an option, the
// input, or stands behind "--", so that no text of it becomes an option. The error says which
// argument is wrong and what is allowed.
func (o Options) line(t tool, raw json.RawMessage) (l line, err error) {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 && json.Unmarshal(raw, &given) != nil {
		return line{}, errors.New("the arguments are not a JSON object")
	}

	// as if left out
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return string(v) == "null" || string(v) == `""` })
	if err := o.check(t, given); err != nil {
		return line{}, err
	}

	l.words = append(slices.Clone(t.words), "--json")
	// The options that every command has, but for a repository where it is about several.
	if t.param(func(p param) bool { return p.option == "timeout" }).name == "" {
		l.words = append(l.words, "--timeout="+o.Timeout.String())
	}

	if o.Config != "" {
		l.words = append(l.words, "--config="+o.Config)
	}

	if o.Repo != "" && given["repo"] == nil && !t.anywhere {
		l.words = append(l.words, "--repo="+o.Repo)
	}
	patience := min(longestWait, o.Timeout/2) // how long the call waits for somebody else at most
	var plain []string
	for _, p := range t.params {
		value, ok := given[p.name]
		own := "" // what the server has in its place
		switch {
		case ok:
		case p.name == "codename":
			own = o.Codename
		case p.span:
			own = patience.String()
		}

		if own != "" {
			value, err = json.Marshal(own)
		}

		if err != nil || value == nil {
			continue
		}
		words, err := p.words(value, patience)
		switch {
		case err != nil:
			return line{}, err
		case p.fed:
			l.input = words[0]
		case p.bare:
			plain = append(plain, words...)
		default:
			l.words = append(l.words, words...)
		}
	}

	if len(plain) > 0 {
		l.words = append(append(l.words, "--"), plain...)
	}

	return l, nil
}

// check looks for what is misspelt, and for what is missing.
func (o Options) check(t tool, given map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(t.params, func(p param) bool { return p.name == name }) {
			return fmt.Errorf("unknown argument %q; %s", clip(name), t.allowed())
		}
	}

	for _, p := range t.params {
		if p.needed && given[p.name] == nil {
			return fmt.Errorf("argument %q is missing: %s", p.name, p.about)
		}
	}

	if t.worker && o.Codename == "" && given["codename"] == nil {
		return errors.New(`who works? Give codename, or start the server with --codename`)
	}

	return nil
}

func (t tool) allowed() string {
	var names []string
	for _, p := range t.params {
		names = append(names, p.name)
	}
	return t.name + " takes " + strings.Join(names, ", ")
}

// words are one argument on the command line. No wait is longer than patience.
func (p param) words(value json.RawMessage, patience time.Duration) ([]string, error) {
	option := p.flag()
	values, err := p.values(value)
	if err == nil && p.span {
		var wait time.Duration
		wait, err = time.ParseDuration(values[0])
		if err == nil && wait <= 0 {
			err = errors.New("no time")
		}
		values = []string{min(wait, patience).String()}
	}

	switch {
	case err != nil:
		return nil, fmt.Errorf("argument %q: want %s, got %s", p.name, p.called(), clip(string(value)))
	case len(values) > mostValues:
		return nil, fmt.Errorf("argument %q: %d values, allowed are %d", p.name, len(values), mostValues)
	case p.kind == isFlag && values[0] == "false":
		return nil, nil
	case p.kind == isFlag:
		return []string{option}, nil
	}

	var out []string
	for _, v := range values {
		if len(v) > cmp.Or(p.most, mostBytes) {
			return nil, fmt.Errorf("argument %q: %d bytes, allowed are %d", p.name, len(v), cmp.Or(p.most, mostBytes))
		}
		if len(p.choices) > 0 && !slices.Contains(p.choices, v) {
			return nil, fmt.Errorf("argument %q: %q is none of %s", p.name, clip(v), strings.Join(p.choices, ", "))
		}

		if p.bare || p.fed {
			out = append(out, v)
		} else {
			out = append(out, option+"="+v)
		}
	}

	return out, nil
}

// values reads an argument as its kind, strictly.
func (p param) values(value json.RawMessage) ([]string, error) {
	switch p.kind {
	case isTexts:
		var all []string
		err := json.Unmarshal(value, &all)
		return all, err

	case isFlag:
		var on bool
		err := json.Unmarshal(value, &on)
		return []string{strconv.FormatBool(on)}, err

	case isNumber:
		var n uint32
		err := json.Unmarshal(value, &n)
		if err == nil && n == 0 {
			err = errors.New("zero")
		}
		return []string{strconv.FormatUint(uint64(n), 10)}, err
	}

	var s string
	err := json.Unmarshal(value, &s)
	return []string{s}, err
}

// clip keeps an error short, whatever was sent.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
