package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/label-state/label-state/internal/printable"
)

// A Pause is one repository of a host's pause file.
type Pause struct {
	Repo   string `json:"repo"` // owner/repo
	Reason string `json:"reason"`
}

// A FileError says why a pause file cannot be read. Nothing of it counts then.
type FileError struct {
	File    string
	Line    int // from 1; 0 for the file as a whole
	Problem string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Problem
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// MaxFile is the most bytes that a pause file may have.
const MaxFile = 1 << 20

var repository = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)
})

// Pauses reads a pause file: lines "owner/repo reason", where an empty line and one that begins with
// # say nothing, or a JSON list of names or of objects with repo and reason. A repository that is
// named twice counts once, as it was named first. The error is a *FileError.
func Pauses(file string, data []byte) ([]Pause, error) {
	if len(data) > MaxFile {
		return nil, &FileError{File: file, Problem: "it is larger than a pause file can be"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	read := lines
	if text := bytes.TrimSpace(data); len(text) > 0 && (text[0] == '[' || text[0] == '{') {
		read = list
	}
	all, err := read(file, data)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []Pause
	for _, p := range all {
		if key := strings.ToLower(p.Repo); !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out, nil
}

func lines(file string, data []byte) (all []Pause, err error) {
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		p, problem := pause(name, reason)
		if problem != "" {
			return nil, &FileError{file, n, problem}
		}
		all = append(all, p)
	}
	return all, nil
}

func list(file string, data []byte) ([]Pause, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	at := func() int { return 1 + bytes.Count(data[:d.InputOffset()], []byte("\n")) }
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, &FileError{file, at(), "want a JSON list"}
	}
	var all []Pause
	for d.More() { // a name, or an object with repo and reason
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, &FileError{file, at(), "it is not JSON: " + err.Error()}
		}
		var named Pause
		if json.Unmarshal(raw, &named.Repo) != nil && json.Unmarshal(raw, &named) != nil {
			return nil, &FileError{file, at(), `want "owner/repo", or an object with repo and reason`}
		}
		p, problem := pause(named.Repo, named.Reason)
		if problem != "" {
			return nil, &FileError{file, at(), problem}
		}
		all = append(all, p)
	}
	if _, err := d.Token(); err != nil {
		return nil, &FileError{file, at(), "the JSON list is not closed"}
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &FileError{file, at(), "something follows the JSON list"}
	}
	return all, nil
}

// pause holds a name against what GitHub allows, and makes the reason one line.
func pause(name, reason string) (Pause, string) {
	if !repository().MatchString(name) {
		return Pause{}, fmt.Sprintf("%q: want owner/repo, then perhaps a reason", printable.Clip(name, longest))
	}
	return Pause{Repo: name, Reason: printable.Short(reason, longest)}, ""
}

// longest is how much of a text of the file is shown.
const longest = 80
