package config

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Parse reads a configuration. name is what errors call the file. An empty file is Default. The
// error is an *Error.
func Parse(name string, data []byte) (Config, error) {
	c, _, err := parse(name, data)
	return c, err
}

// MaxFile in bytes is far beyond any configuration people write.
const MaxFile = 256 << 10

func parse(name string, data []byte) (Config, *reader, error) {
	r := &reader{file: name, lines: map[string]int{}}
	c := Default()
	top, ok := r.document(data)
	if ok && top != nil {
		f := newFile(&c)
		f.keys().read(r, "", top)
		f.finish(r)
	}
	if err := r.err(); err != nil {
		return Config{}, r, err
	}
	return c, r, nil
}

// A reader collects the problems of one file.
type reader struct {
	file     string
	lines    map[string]int // where each key path stands
	problems []*Error
}

func (r *reader) problem(line int, path, problem, allowed string) {
	r.problems = append(r.problems, &Error{File: r.file, Line: line, Path: path, Problem: problem, Allowed: allowed})
}

// at reports a problem of a key, or of the nearest key above it that the file has.
func (r *reader) at(path, problem, allowed string) {
	r.problem(r.lineOf(path), path, problem, allowed)
}

func (r *reader) lineOf(path string) int {
	for {
		if line, ok := r.lines[path]; ok {
			return line
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return 1
		}
		path = path[:i]
	}
}

// has reports whether the file names the key.
func (r *reader) has(path string) bool {
	_, ok := r.lines[path]
	return ok
}

func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	first := *r.problems[0]
	first.More = r.problems[1:]
	return &first
}

// document returns the top of the only document, nil when it is empty.
func (r *reader) document(data []byte) (*yaml.Node, bool) {
	switch {
	case len(data) > MaxFile:
		r.problem(0, "", "the file is larger than "+strconv.Itoa(MaxFile>>10)+" KiB", "")
		return nil, false
	case !utf8.Valid(data):
		r.problem(0, "", "the file is not UTF-8 text", "")
		return nil, false
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, true
	} else if err != nil {
		r.syntax(err)
		return nil, false
	}
	if err := d.Decode(&second); err == nil {
		r.problem(second.Line, "", "a second document", "one document")
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
	}
	if len(doc.Content) != 1 || doc.Content[0].ShortTag() == "!!null" {
		return nil, true
	}
	return doc.Content[0], true
}

// syntax reports what the YAML library says; it has the line in its text only.
func (r *reader) syntax(err error) {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	line := 0
	if m := regexp.MustCompile(`^yaml: (?:line (\d+): )?`).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	r.problem(line, "", "not YAML: "+text, "")
}
