package folderwork

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
	"github.com/label-state/label-state/internal/state"
	"go.yaml.in/yaml/v3"
)

const (
	stateOpen   = "open"
	stateClosed = "closed"
	maxFile     = 1 << 20
)

// A document is one file.
type document struct {
	ID      string    `yaml:"id"`
	Title   string    `yaml:"title"`
	Labels  []string  `yaml:"labels"`
	State   string    `yaml:"state"` // open, closed; left out is open
	Created time.Time `yaml:"created"`

	file    string
	text    string // all of the file, byte for byte
	body    string
	changed time.Time
}

// idName is what is safe as a file's name everywhere.
var idName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// read reads one file strictly.
func read(file string) (document, error) {
	name := filepath.Base(file)
	d, err := load(file)
	if err != nil {
		return d, fmt.Errorf("read %s: %w", name, printable.Cause(err))
	}
	switch {
	case !idName.MatchString(d.ID):
		return d, fmt.Errorf("read %s: id %q: allowed are a to z, 0 to 9 and - inside, at most 64", name, d.ID)
	case strings.TrimSpace(d.Title) == "":
		return d, fmt.Errorf("read %s: title is empty", name)
	case d.State != stateOpen && d.State != stateClosed:
		return d, fmt.Errorf("read %s: state %q: allowed are open, closed", name, d.State)
	}
	return d, nil
}

func load(file string) (document, error) {
	info, err := os.Stat(file)
	if err != nil {
		return document{}, err
	}
	text, err := smallfile.Follow(file, maxFile)
	if err != nil {
		return document{}, errors.New(smallfile.Reason(err))
	}
	d, err := parse(string(text))
	d.file, d.changed = file, info.ModTime().UTC()
	return d, err
}

// parse reads the text of a file.
func parse(text string) (document, error) {
	d := document{text: text}
	head, body, found := split(text)
	if !found {
		return d, errors.New("want front matter between two lines with ---")
	}
	d.body = body
	in := yaml.NewDecoder(strings.NewReader(head))
	in.KnownFields(true)
	if err := in.Decode(&d); err != nil {
		return d, fmt.Errorf("front matter: %s", inWords(err))
	}
	if d.State == "" {
		d.State = stateOpen
	}
	return d, nil
}

// inWords says what is wrong with front matter without the types of Go.
func inWords(err error) string {
	if at, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Sprintf("created %q: want a time such as 2026-05-01T14:05:00Z", at.Value)
	}
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
	kinds := map[string]string{
		"string": "text", "[]string": "a list of texts", "time.Time": "a time such as 2026-05-01T14:05:00Z", "folderwork.document": "keys with values",
	}
	var all []string
	for _, text := range wrong.Errors { // "line 1: field x not found in type T", "line 1: cannot unmarshal !!seq into T"
		at, _, mistyped := strings.Cut(text, "cannot unmarshal")
		if kind := kinds[text[strings.LastIndexByte(text, ' ')+1:]]; mistyped && kind != "" {
			text = at + "want " + kind
		}
		all = append(all, strings.ReplaceAll(text, "not found in type folderwork.document", "is none of id, title, labels, state, created"))
	}
	return strings.Join(all, "; ")
}

// split cuts a file into front matter and text.
func split(text string) (head, body string, found bool) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, found := strings.CutPrefix(text, "---\n")
	if !found {
		return "", "", false
	}
	head, body, found = strings.Cut(rest, "\n---\n")
	if !found {
		head, found = strings.CutSuffix(rest, "\n---")
	}
	return head + "\n", strings.TrimPrefix(body, "\n"), found
}

func (d document) has(label string) bool {
	return slices.ContainsFunc(d.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}

var (
	bar       = regexp.MustCompile(`(?m)^---\r?$`)
	stateLine = regexp.MustCompile(`(?m)^["']?state["']?[ \t]*:([ \t]*["']?)(open)?`)
)

// close changes the state in the file, and nothing else of it. The file is replaced in one step.
func (d document) close() error {
	if d.State == stateClosed {
		return nil
	}
	failed := func(err error) error {
		return fmt.Errorf("write %s: %w", filepath.Base(d.file), printable.Cause(err))
	}
	text, mark := strings.CutPrefix(d.text, "\ufeff")
	bars := bar.FindAllStringIndex(text, 2) // split has found them
	end := bars[1][0]
	head, rest := text[:end], text[end:]
	switch at := stateLine.FindStringSubmatchIndex(head); {
	case at == nil && strings.HasSuffix(head, "\r\n"):
		head += "state: " + stateClosed + "\r\n"
	case at == nil:
		head += "state: " + stateClosed + "\n"
	case at[4] < 0: // a key without a value
		head = head[:at[2]] + " " + stateClosed + head[at[2]:]
	default:
		head = head[:at[4]] + stateClosed + head[at[5]:]
	}
	text = head + rest
	if mark {
		text = "\ufeff" + text
	}
	after, err := parse(text)
	if err != nil || after.State != stateClosed || after.ID != d.ID || after.Title != d.Title || after.body != d.body {
		return failed(errors.New("its front matter cannot be changed; write state: closed there"))
	}
	file, err := filepath.EvalSymlinks(d.file)
	if err != nil {
		return failed(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return failed(err)
	}
	if err := state.Replace(file, []byte(text), info.Mode().Perm()); err != nil {
		return failed(err)
	}
	return nil
}
