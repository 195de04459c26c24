package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/printable"
)

// Answer says what was found, once or several times: v as JSON where that is asked for, with
// nothing in it that does not show, else the text. nil is nothing in JSON, as is no text elsewhere.
// A front end of another kind takes v as it is.
func (c *Call) Answer(v any, text string) error {
	if one, is := v.(answer.Answer); is {
		one.DryRun = c.DryRun
		v = one
	}

	switch {
	case c.Take != nil:
		if v != nil {
			c.Take(c.warned(v))
		}
		return nil
	case c.JSON && v != nil:
		return c.unwritten(c.write(c.warned(v)))
	case c.JSON || text == "":
		return nil
	}

	_, err := fmt.Fprint(c.Out, text)
	return c.unwritten(err)
}

// unwritten says of an answer that nobody can read that what was done stays.
func (c *Call) unwritten(err error) error {
	if err == nil {
		return nil
	}

	c.Closed = true
	return &answer.Problem{
		Code:  answer.Machine,
		Why:   "the answer could not be written: " + err.Error() + "; what was done is not undone",
		Next:  c.standing(),
		Cause: err,
	}
}

// Tell answers with sentences, which break between words where a person's terminal ends.
func (c *Call) Tell(v any, text string) error {
	return c.Answer(v, Wrap(text, c.Env.Width(c.Out)))
}

// negative is what an error answers, of an issue that may be empty.
func (t Terminal) negative(p *answer.Problem, issue string) answer.Answer {
	a := p.Answer(issue)
	a.Error, a.Next = OneLine(strings.ReplaceAll(a.Error, "\n", "; ")), t.Resolve(a.Next)
	return a
}

// asksJSON reports whether a command line has --json, wherever it stands.
func asksJSON(args []string) bool {
	for _, word := range args {
		if word == "--" {
			return false
		}
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		on, err := strconv.ParseBool(value)
		if isOption(word) && name == "json" && (!given || on && err == nil) {
			return true
		}
	}

	return false
}

// write prints a value as one line of JSON, with nothing in it that does not show.
func (t Terminal) write(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}

	_, err := t.Out.Write(printable.JSON(text.Bytes()))
	return err
}
