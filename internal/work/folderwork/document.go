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
	head    string // front matter without its bars
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
	d := document{file: file}
	info, err := os.Stat(file)
	if err != nil {
		return d, err
	}
	text, err := smallfile.Follow(file, maxFile)
	if err != nil {
		return d, errors.New(smallfile.Reason(err))
	}
	var found bool
	if d.head, d.body, found = split(string(text)); !found {
		return d, errors.New("want front matter between two lines with ---")
	}
	in := yaml.NewDecoder(strings.NewReader(d.head))
	in.KnownFields(true)
	if err := in.Decode(&d); err != nil {
		return d, fmt.Errorf("front matter: %s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if d.State == "" {
		d.State = stateOpen
	}
	d.changed = info.ModTime().UTC()
	return d, nil
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

var stateLine = regexp.MustCompile(`(?m)^state:.*$`)

// close writes the file anew with state: closed. It is replaced in one step.
func (d document) close() error {
	if d.State == stateClosed {
		return nil
	}
	head := stateLine.ReplaceAllLiteralString(d.head, "state: "+stateClosed)
	if head == d.head {
		head += "state: " + stateClosed + "\n"
	}
	if err := state.Replace(d.file, []byte("---\n"+head+"---\n\n"+d.body), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(d.file), printable.Cause(err))
	}
	return nil
}
