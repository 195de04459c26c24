package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// largestPage is the size in bytes above which a page is not ours: a plan of a chain may have 8
// MiB.
const largestPage = 64 << 20

// journalFormat is the version of a page. Another one is refused; keys that are not known are not.
const journalFormat = 1

// A Journal keeps what a command is in the middle of, so that the next one can finish or undo it
// after a kill: one JSON file for each undertaking, with a value of type T, in a folder of the
// user's state. Intent is written first. A page is held by one process at a time, and the system
// lets go of it when the process dies.
type Journal[T any] interface {
	// Names returns the names of all pages that have a text, sorted.
	Names() ([]string, error)
	// File is where a page is kept.
	File(name string) string
	// Read returns a page without holding it; ok is false when it has no text. The error is an
	// *UnreadableJournalError.
	Read(name string) (v T, ok bool, err error)
	// Open holds a page, which need not have a text yet, until Close. Errors are *BusyError and the
	// file system's.
	Open(name string) (JournalPage[T], error)
}

// A JournalPage is one undertaking, held by this process.
type JournalPage[T any] interface {
	// Load returns the text; ok is false when there is none. The error is an
	// *UnreadableJournalError.
	Load() (v T, ok bool, err error)
	// Save writes the text and does not return before it is on the disk.
	Save(v T) error
	// Remove forgets the undertaking; none is a success.
	Remove() error
	// Close lets others hold the page.
	Close() error
}

// OpenJournal returns the journal in a folder. It touches nothing; the first Open creates the
// folder.
func OpenJournal[T any](dir string) Journal[T] { return journal[T]{dir} }

// A journal has a file for each page.
type journal[T any] struct{ dir string }

// An UnreadableJournalError names a page that is there and says nothing reliable.
type UnreadableJournalError struct {
	File string
	Err  error
}

func (e *UnreadableJournalError) Error() string { return "read " + e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadableJournalError) Unwrap() error { return e.Err }

// A BusyError is a page that another process holds.
type BusyError struct{ Name string }

func (e *BusyError) Error() string { return "another label-state is at work on " + e.Name }

type envelope[T any] struct {
	Format int `json:"format"`
	State  T   `json:"state"`
}

func (b journal[T]) Names() ([]string, error) {
	entries, err := os.ReadDir(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journal: %w", err)
	}

	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), pageSuffix); ok && checkPageName(name) == nil {
			out = append(out, name)
		}
	}

	slices.Sort(out)
	return out, nil
}

func (b journal[T]) Read(name string) (v T, ok bool, err error) {
	if err := checkPageName(name); err != nil {
		return v, false, err
	}
	return b.read(name)
}

func (b journal[T]) Open(name string) (JournalPage[T], error) {
	if err := checkPageName(name); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}

	free, err := Lock(b.File(name) + ".lock")
	if errors.Is(err, ErrLocked) {
		return nil, &BusyError{name}
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}

	return &journalPage[T]{b, name, free}, nil
}

type journalPage[T any] struct {
	book journal[T]
	name string
	free func() error
}

func (p *journalPage[T]) Load() (v T, ok bool, err error) { return p.book.read(p.name) }

func (p *journalPage[T]) Save(v T) error {
	if err := writeJSON(p.book.File(p.name), envelope[T]{journalFormat, v}); err != nil {
		return fmt.Errorf("write journal %s: %w", p.name, err)
	}

	return nil
}

func (p *journalPage[T]) Remove() error {
	err := os.Remove(p.book.File(p.name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove from journal: %w", err)
	}
	return nil
}

func (p *journalPage[T]) Close() error { return p.free() }

const pageSuffix = ".json"

// File is where the page of a name is kept, for messages.
func (b journal[T]) File(name string) string { return filepath.Join(b.dir, name+pageSuffix) }

// checkPageName keeps a page inside its folder.
func checkPageName(name string) error {
	if name == "" || name[0] == '.' || strings.ContainsAny(name, `/\:`) || !filepath.IsLocal(name) {
		return fmt.Errorf("open journal: %q is not a name", name)
	}
	return nil
}

// read reads a page, whoever holds it.
func (b journal[T]) read(name string) (v T, ok bool, err error) {
	// the format is looked at before the rest is read: that of a later version may look different
	var e envelope[json.RawMessage]
	err = readJSON(b.File(name), largestPage, &e)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return v, false, nil
	case err != nil:
	case e.Format != journalFormat:
		err = fmt.Errorf("format %d, this version reads %d", e.Format, journalFormat)
	default:
		err = json.Unmarshal(e.State, &v)
	}

	if err != nil {
		var zero T
		return zero, false, &UnreadableJournalError{b.File(name), err}
	}

	return v, true, nil
}
