// Package journal keeps what a command is in the middle of, so that the next one can finish or undo
// it after a kill: one JSON file for each undertaking, in a folder of the user's state.
//
// Intent is written first. A page is held by one process at a time, and the system lets go of it when
// the process dies. A reader sees the old text or the new one; a text that cannot be read is an error
// that names the file and never the same as none.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/durable"
)

// format is the version of a page. Another one is refused; keys that are not known are not.
const format = 1

// A Book has pages that hold values of type T.
type Book[T any] interface {
	// Names returns the names of all pages that have a text, sorted.
	Names() ([]string, error)
	// File is where a page is kept.
	File(name string) string
	// Read returns a page without holding it; ok is false when it has no text. The error is an *UnreadableError.
	Read(name string) (v T, ok bool, err error)
	// Open holds a page, which need not have a text yet, until Close. Errors are *BusyError and the file system's.
	Open(name string) (Page[T], error)
}

// A Page is one undertaking, held by this process.
type Page[T any] interface {
	// Load returns the text; ok is false when there is none. The error is an *UnreadableError.
	Load() (v T, ok bool, err error)
	// Save writes the text and does not return before it is on the disk.
	Save(v T) error
	// Remove forgets the undertaking; none is a success.
	Remove() error
	// Close lets others hold the page.
	Close() error
}

// In returns the book in a folder. It touches nothing; the first Open creates the folder.
func In[T any](dir string) Book[T] { return folder[T]{dir} }

// A folder has a file for each page.
type folder[T any] struct{ dir string }

// An UnreadableError names a page that is there and says nothing reliable.
type UnreadableError struct {
	File string
	Err  error
}

func (e *UnreadableError) Error() string { return "read " + e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// A BusyError is a page that another process holds.
type BusyError struct{ Name string }

func (e *BusyError) Error() string { return "another label-state is at work on " + e.Name }

type envelope[T any] struct {
	Format int `json:"format"`
	State  T   `json:"state"`
}

func (b folder[T]) Names() ([]string, error) {
	entries, err := os.ReadDir(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journal: %w", err)
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && checkName(name) == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (b folder[T]) Read(name string) (v T, ok bool, err error) {
	if err := checkName(name); err != nil {
		return v, false, err
	}
	return b.read(name)
}

func (b folder[T]) Open(name string) (Page[T], error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	free, err := durable.Hold(b.File(name) + ".lock")
	if errors.Is(err, durable.ErrHeld) {
		return nil, &BusyError{name}
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return &page[T]{b, name, free}, nil
}

type page[T any] struct {
	book folder[T]
	name string
	free func() error
}

func (p *page[T]) Load() (v T, ok bool, err error) { return p.book.read(p.name) }

func (p *page[T]) Save(v T) error {
	data, err := json.MarshalIndent(envelope[T]{format, v}, "", "  ")
	if err == nil {
		err = durable.Replace(p.book.File(p.name), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write journal %s: %w", p.name, err)
	}
	return nil
}

func (p *page[T]) Remove() error {
	err := os.Remove(p.book.File(p.name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove from journal: %w", err)
	}
	return nil
}

func (p *page[T]) Close() error { return p.free() }

const suffix = ".json"

func (b folder[T]) File(name string) string { return filepath.Join(b.dir, name+suffix) }

// checkName keeps a page inside its folder.
func checkName(name string) error {
	if name == "" || name[0] == '.' || strings.ContainsAny(name, `/\:`) || !filepath.IsLocal(name) {
		return fmt.Errorf("open journal: %q is no name", name)
	}
	return nil
}

func (b folder[T]) read(name string) (v T, ok bool, err error) {
	data, err := os.ReadFile(b.File(name))
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	if err == nil {
		err = parse(data, &v)
	}
	if err != nil {
		var zero T
		return zero, false, &UnreadableError{b.File(name), err}
	}
	return v, true, nil
}

// parse asks for the format before it reads the rest: that of a later version may look different.
func parse(data []byte, into any) error {
	var e envelope[json.RawMessage]
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&e); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the text")
	}
	if e.Format != format {
		return fmt.Errorf("format %d, this version reads %d", e.Format, format)
	}
	return json.Unmarshal(e.State, into)
}
