package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Parse reads a configuration. name is what errors call the file. An empty file is Default. The
// error is an *Error.
func Parse(name string, data []byte) (Config, error) {
	r := newReader(name)
	c := r.settings(r.document(data))
	c.whole(r)
	if err := r.err(); err != nil {
		return Config{}, err
	}

	return c, nil
}

// MaxFile in bytes is far beyond any configuration people write.
const MaxFile = 256 << 10

// A reader collects the problems of one file.
type reader struct {
	file     string
	entries  map[string]entryNode // by their key paths
	problems []*Error
}

// An entryNode is an entry of a mapping.
type entryNode struct{ mapping, key *yaml.Node }

func newReader(name string) *reader { return &reader{file: name, entries: map[string]entryNode{}} }

// problem notes a problem of a line; 0 is none.
func (r *reader) problem(line int, path, problem, allowed string) {
	r.problems = append(r.problems, &Error{
		File:    r.file,
		Line:    line,
		Path:    path,
		Problem: problem,
		Allowed: allowed,
	})
}

// at reports a problem of a key, or of the nearest key above it that the file has.
func (r *reader) at(path, problem, allowed string) {
	line := 1
	if e, there := r.nearest(path); there {
		line = e.key.Line
	}
	r.problem(line, path, problem, allowed)
}

// nearest is the entry of a key, or of the nearest key above it that the file has.
func (r *reader) nearest(path string) (e entryNode, there bool) {
	for path != "" {
		if e, there = r.entries[path]; there {
			return e, true
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}

	return e, false
}

// has reports whether the file names the key.
func (r *reader) has(path string) bool {
	_, ok := r.entries[path]
	return ok
}

// err returns the problems in the order of their lines as an *Error, nil when there are none.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	first := *r.problems[0]
	first.More = r.problems[1:]

	return &first
}

// document returns the top of the only document, nil when it is empty or cannot be read.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > MaxFile {
		r.problem(0, "", "the file is larger than "+strconv.Itoa(MaxFile>>10)+" KiB", "")
		return nil
	}

	if line, no := notText(data); line > 0 {
		r.problem(line, "", no, "")
		return nil
	}

	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		r.syntax(err)
		return nil
	}

	if err := d.Decode(&second); err == nil {
		r.problem(second.Line, "", "a second document", "one document")
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
	}

	if len(doc.Content) != 1 || doc.Content[0].ShortTag() == "!!null" {
		return nil
	}

	return doc.Content[0]
}

// notText returns the first line with what YAML does not take for text, and says what it is; 0 where
// there is none.
func notText(data []byte) (line int, no string) {
	line = 1
	for len(data) > 0 {
		char, size := utf8.DecodeRune(data)
		switch {
		case char == utf8.RuneError && size == 1:
			return line, "the file is not UTF-8 text"
		case char == '\n':
			line++
		case unicode.IsControl(char) && !strings.ContainsRune("\t\r\u0085", char), char == '\ufffe', char == '\uffff':
			return line, fmt.Sprintf("the control character %U", char)
		}
		data = data[size:]
	}

	return 0, ""
}

// syntax reports what the YAML library says. It has the line in its text only. What has none there is
// in the first, but for an alias, which may be anywhere.
func (r *reader) syntax(err error) {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	line := 1
	if m := regexp.MustCompile(`^yaml: (?:line (\d+): )?`).FindStringSubmatch(text); m != nil {
		if at, err := strconv.Atoi(m[1]); err == nil {
			line = at
		}
		text = text[len(m[0]):]
	}

	if strings.HasPrefix(text, "unknown anchor") {
		line = 0
	}

	r.problem(line, "", "not YAML: "+text, "")
}
