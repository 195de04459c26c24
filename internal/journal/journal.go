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
)

// format is the version of a page. Another one is refused; keys that are not known are not.
const format = 1

// A Book is a folder of pages that hold values of type T.
type Book[T any] struct{ dir string }

// In returns the book in a folder. It touches nothing; the first Open creates the folder.
func In[T any](dir string) Book[T] { return Book[T]{dir} }

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

// Names returns the names of all pages, sorted.
func (b Book[T]) Names() ([]string, error) {
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

// Read returns a page without holding it; ok is false when there is none. The error is an *UnreadableError.
func (b Book[T]) Read(name string) (v T, ok bool, err error) {
	if err := checkName(name); err != nil {
		return v, false, err
	}
	return b.read(name)
}

// Open holds a page, which need not have a text yet, until Close. Errors are *BusyError and the file system's.
func (b Book[T]) Open(name string) (*Page[T], error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	held, err := hold(filepath.Join(b.dir, name+".lock"))
	if errors.Is(err, errBusy) {
		return nil, &BusyError{name}
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return &Page[T]{book: b, name: name, lock: held}, nil
}

// A Page is one undertaking, held by this process.
type Page[T any] struct {
	book Book[T]
	name string
	lock *lock
}

// Load returns the text; ok is false when there is none. The error is an *UnreadableError.
func (p *Page[T]) Load() (v T, ok bool, err error) { return p.book.read(p.name) }

// Save writes the text and does not return before it is on the disk.
func (p *Page[T]) Save(v T) error {
	data, err := json.MarshalIndent(envelope[T]{format, v}, "", "  ")
	if err == nil {
		err = replace(p.book.file(p.name), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write journal %s: %w", p.name, err)
	}
	return nil
}

// Remove forgets the undertaking; none is a success.
func (p *Page[T]) Remove() error {
	err := os.Remove(p.book.file(p.name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove from journal: %w", err)
	}
	return nil
}

// Close lets others hold the page.
func (p *Page[T]) Close() error { return p.lock.free() }

const suffix = ".json"

func (b Book[T]) file(name string) string { return filepath.Join(b.dir, name+suffix) }

// checkName keeps a page inside its folder.
func checkName(name string) error {
	if name == "" || name[0] == '.' || strings.ContainsAny(name, `/\:`) || !filepath.IsLocal(name) {
		return fmt.Errorf("open journal: %q is no name", name)
	}
	return nil
}

func (b Book[T]) read(name string) (v T, ok bool, err error) {
	data, err := os.ReadFile(b.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	var e envelope[T]
	if err == nil {
		err = parse(data, &e)
	}
	if err == nil && e.Format != format {
		err = fmt.Errorf("format %d, this version reads %d", e.Format, format)
	}
	if err != nil {
		var zero T
		return zero, false, &UnreadableError{b.file(name), err}
	}
	return e.State, true, nil
}

func parse(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the text")
	}
	return nil
}

// replace writes a file beside the final one and renames it.
func replace(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".page-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
