// Package localpause keeps the repositories that are paused on this machine only, in one JSON
// file of the user's state folder.
//
// A missing file pauses nothing. A file that cannot be read is an error that names it: whether
// the repository is paused is then unknown, and a claim must not go ahead (PRODUCT ruling 1).
package localpause

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/durable"
)

// name of the file in the state folder.
const name = "paused.json"

// A Pause says since when, by whom and why. Since is the machine's time.
type Pause struct {
	Repo   string    `json:"repo"` // owner/repo, lower case
	Since  time.Time `json:"since"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// A File is the list of one user on one machine.
type File struct{ dir string }

// In returns the list kept in a state folder. It touches nothing; the folder is created by Set.
func In(dir string) File { return File{dir} }

// Path is where the list is kept.
func (f File) Path() string { return filepath.Join(f.dir, name) }

// An UnreadableError names a list that is there and says nothing reliable.
type UnreadableError struct {
	File string
	Err  error
}

func (e *UnreadableError) Error() string { return "read local pauses " + e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// ErrBusy says that another process is writing the list.
var ErrBusy = errors.New("write local pauses: another process is writing them")

// A NameError is a repository name that is not owner/repo.
type NameError struct{ Name string }

func (e *NameError) Error() string { return fmt.Sprintf("repository %q: want owner/repo", e.Name) }

// Get returns the pause of owner/repo in any case, or nil when it is not paused here. An error,
// *NameError or *UnreadableError, means that nobody knows.
func (f File) Get(repo string) (*Pause, error) {
	key, err := normal(repo)
	if err != nil {
		return nil, err
	}
	paused, err := f.load()
	if err != nil {
		return nil, err
	}
	if p, ok := paused[key]; ok {
		return &p, nil
	}
	return nil, nil
}

// All returns every pause of this machine, ordered by repository, or an *UnreadableError.
func (f File) All() ([]Pause, error) {
	paused, err := f.load()
	if err != nil {
		return nil, err
	}
	return sorted(paused), nil
}

// Set pauses a repository; one that is paused already gets the new reason. Errors are *NameError,
// *UnreadableError, ErrBusy, or the file system's.
func (f File) Set(p Pause) error {
	key, err := normal(p.Repo)
	if err != nil {
		return err
	}
	p.Repo, p.Since = key, p.Since.UTC()
	return f.change(func(paused map[string]Pause) { paused[key] = p })
}

// Clear resumes a repository; one that is not paused is a success. Errors are those of Set.
func (f File) Clear(repo string) error {
	key, err := normal(repo)
	if err != nil {
		return err
	}
	return f.change(func(paused map[string]Pause) { delete(paused, key) })
}

// change rewrites the list while no other process does.
func (f File) change(edit func(map[string]Pause)) (err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("write local pauses: %w", err)
	}
	free, err := durable.Hold(f.Path() + ".lock")
	if errors.Is(err, durable.ErrHeld) {
		return ErrBusy
	}
	if err != nil {
		return fmt.Errorf("write local pauses: %w", err)
	}
	defer func() { err = errors.Join(err, free()) }()
	paused, err := f.load()
	if err != nil {
		return err
	}
	edit(paused)
	return f.write(paused)
}

// format is the version of the file; another one is refused.
const format = 1

type file struct {
	Format int     `json:"format"`
	Paused []Pause `json:"paused"`
}

func (f File) write(paused map[string]Pause) error {
	data, err := json.MarshalIndent(file{format, sorted(paused)}, "", "  ")
	if err == nil {
		err = durable.Replace(f.Path(), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write local pauses: %w", err)
	}
	return nil
}

func (f File) load() (map[string]Pause, error) {
	data, err := os.ReadFile(f.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Pause{}, nil
	}
	if err == nil {
		var paused map[string]Pause
		if paused, err = parse(data); err == nil {
			return paused, nil
		}
	}
	return nil, &UnreadableError{f.Path(), err}
}

func parse(data []byte) (map[string]Pause, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	var list file
	if err := d.Decode(&list); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the list")
	}
	if list.Format != format || list.Paused == nil {
		return nil, fmt.Errorf("not a list of format %d", format)
	}
	paused := make(map[string]Pause, len(list.Paused))
	for _, p := range list.Paused {
		key, err := normal(p.Repo)
		if err != nil {
			return nil, err
		}
		p.Repo = key
		paused[key] = p
	}
	return paused, nil
}

func sorted(paused map[string]Pause) []Pause {
	out := make([]Pause, 0, len(paused))
	for _, key := range slices.Sorted(maps.Keys(paused)) {
		out = append(out, paused[key])
	}
	return out
}

// normal is one spelling for all of a repository's: GitHub compares names without case.
func normal(repo string) (string, error) {
	owner, name, ok := strings.Cut(repo, "/")
	if !ok || !claim.IsName(owner) || !claim.IsName(name) {
		return "", &NameError{clip(repo)}
	}
	return strings.ToLower(repo), nil
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
