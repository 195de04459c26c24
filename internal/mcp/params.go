package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/printable"
)

// What no argument is longer than: nothing a person could mean, and not what an agent was talked
// into pasting.
const (
	mostBytes  = 4 << 10
	mostStory  = 256 << 10
	mostValues = 100
)

// read is the verb's parameters as a call gives them. The error says which argument is wrong and
// what is allowed.
func (o Options) read(t tool, raw json.RawMessage) (any, error) {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 && json.Unmarshal(raw, &given) != nil {
		return nil, errors.New("the arguments are not a JSON object")
	}

	params := t.verb.NewParams()
	arguments := t.arguments(params)
	maps.DeleteFunc(given, func(name string, v json.RawMessage) bool {
		return string(v) == "null" || string(v) == `""` && fills(arguments, name)
	})
	if err := o.check(t, arguments, given); err != nil {
		return nil, err
	}

	for _, a := range arguments {
		value, told := given[a.name]
		switch {
		case a.span:
			if err := a.wait(value, o.patience()); err != nil {
				return nil, err
			}
		case told:
			if err := a.read(value); err != nil {
				return nil, err
			}
		}
	}

	return params, o.complete(t, params)
}

// fills reports whether an empty text of that name is as if left out: some agents fill in every
// argument that a tool has. Where it would choose what a call is about, an issue or a label, it is
// refused.
func fills(arguments []argument, name string) bool {
	return slices.ContainsFunc(arguments, func(a argument) bool {
		_, several := a.Field().(*[]string)
		return a.name == name && (a.need || a.Arg == "" && !several)
	})
}

// check looks for what is misspelt, and for what is missing.
func (o Options) check(t tool, arguments []argument, given map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(arguments, func(a argument) bool { return a.name == name }) {
			return fmt.Errorf("unknown argument %q; %s", printable.Clip(name, 80), t.allowed())
		}
	}

	for _, a := range arguments {
		if a.need && given[a.name] == nil {
			return fmt.Errorf("argument %q is missing: %s", a.name, a.Text)
		}
	}

	if t.Worker && o.Codename == "" && given["codename"] == nil {
		return errors.New(`who works? Give codename, or start the server with --codename`)
	}

	return nil
}

// complete adds what the tool sets itself, and what the server was started with.
func (o Options) complete(t tool, params any) error {
	own := map[string]string{"config": o.Config, "repo": o.Repo}
	if strings.Contains(" "+t.Takes+" ", " codename ") {
		own["codename"] = o.Codename
	}
	if t.Wait != "timeout" {
		own["timeout"] = o.Timeout.String()
	}

	for _, name := range strings.Fields(t.With) {
		own[name] = "true"
	}

	for _, p := range cli.Params(params) {
		if p.Arg != "" || own[p.Name] == "" || p.Given() {
			continue
		}
		if err := p.Add(own[p.Name]); err != nil {
			return fmt.Errorf("--%s of the server %w", p.Name, err)
		}
	}

	return nil
}

// patience is how long a call waits for somebody else at most.
func (o Options) patience() time.Duration { return min(longestWait, o.Timeout/2) }

// wait reads how long the call waits; no wait is longer than patience.
func (a argument) wait(value json.RawMessage, patience time.Duration) error {
	if value == nil {
		return a.Add(patience.String())
	}

	var text string
	d, err := time.Duration(0), json.Unmarshal(value, &text)
	if err == nil {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d <= 0 {
		return a.mismatch("a length of time such as 30s", value)
	}

	return a.Add(min(d, patience).String())
}

// read reads the JSON of an argument, strictly, as its kind.
func (a argument) read(value json.RawMessage) error {
	var texts []string
	var n uint32
	most := mostBytes
	if a.name == "issue" || a.name == "issues" {
		value = quoteNumbers(value)
	}

	switch to := a.Field().(type) {
	case *bool:
		if json.Unmarshal(value, to) != nil {
			return a.mismatch("true or false", value)
		}
	case *int64:
		if json.Unmarshal(value, &n) != nil || n == 0 {
			return a.mismatch("a whole number above 0", value)
		}
		texts = []string{strconv.FormatUint(uint64(n), 10)}
	case *[]string:
		if json.Unmarshal(value, &texts) != nil {
			return a.mismatch("an array of strings", value)
		}
	default:
		texts = make([]string, 1)
		if json.Unmarshal(value, &texts[0]) != nil {
			return a.mismatch("a string", value)
		}
	}

	if len(texts) > mostValues {
		return fmt.Errorf("argument %q: %d values, at most %d are allowed", a.name, len(texts), mostValues)
	}

	text, long := a.Field().(*cli.Text)
	if long {
		most = mostStory
	}

	for _, one := range texts {
		if len(one) > most {
			return fmt.Errorf("argument %q: %d bytes, at most %d are allowed", a.name, len(one), most)
		}
		if long {
			text.Text = one
			continue
		}
		if err := a.Add(one); err != nil {
			return fmt.Errorf("%s %s", a.name, printable.Clip(err.Error(), 240))
		}
	}

	return nil
}

// quoteNumbers makes texts of issues that were given as numbers, alone or in an array. What is
// neither stays as it is.
func quoteNumbers(value json.RawMessage) json.RawMessage {
	var n uint32
	var several []json.RawMessage
	switch {
	case json.Unmarshal(value, &n) == nil:
		return json.RawMessage(strconv.Quote(strconv.FormatUint(uint64(n), 10)))
	case json.Unmarshal(value, &several) != nil:
		return value
	}

	for k, one := range several {
		if json.Unmarshal(one, &n) == nil {
			several[k] = quoteNumbers(one)
		}
	}
	quoted, err := json.Marshal(several)
	if err != nil {
		return value
	}

	return quoted
}

func (a argument) mismatch(want string, value json.RawMessage) error {
	return fmt.Errorf("argument %q: expected %s, got %s", a.name, want, printable.Clip(string(value), 80))
}
