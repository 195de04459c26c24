// Package holdfile keeps the holds that were claimed from a work tree, one JSON file each,
// under that work tree's own git directory.
//
// The pre-push hook reads them to know who pushes. A file that cannot be read is an error that
// names it and never the same as no file: whoever cannot tell its own holds must not guess.
package holdfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/durable"
)

// folder is where the files are, below a work tree's git directory.
const folder = "label-state/holds"

// A Hold is what this work tree remembers of one claim of its own. Times are the server's.
type Hold struct {
	Issue   claim.Issue
	Worker  claim.Worker
	Comment int64         // id of the claim comment
	URL     string        // of the claim comment
	Token   int64         // fencing token
	TTL     time.Duration // claim.NoExpiry never lapses
	Branch  string        // as written in the claim; may be empty
	Until   time.Time     // end of the lease as last known; zero when it never lapses
}

// A Store is the folder of one work tree. It is created by the first Save.
type Store struct{ dir string }

// Open returns the store of the work tree with that git directory (see GitDir). It touches nothing.
func Open(gitDir string) Store { return Store{filepath.Join(gitDir, filepath.FromSlash(folder))} }

// An UnreadableError names a file that is not a hold as Save writes it.
type UnreadableError struct {
	File string
	Err  error
}

func (e *UnreadableError) Error() string { return "read hold " + e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// Save writes the hold, replacing an older one of the same issue. A reader sees the old file or
// the new one, never half of either.
func (s Store) Save(h Hold) error {
	name, err := fileName(h.Issue)
	if err != nil {
		return fmt.Errorf("save hold of %s: %w", h.Issue, err)
	}
	if err := h.check(); err != nil {
		return fmt.Errorf("save hold of %s: %w", h.Issue, err)
	}
	data, err := json.MarshalIndent(toFile(h), "", "  ")
	if err != nil {
		return fmt.Errorf("save hold of %s: %w", h.Issue, err)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("save hold of %s: %w", h.Issue, err)
	}
	if err := durable.Replace(filepath.Join(s.dir, name), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("save hold of %s: %w", h.Issue, err)
	}
	return nil
}

// Load returns the hold of the issue; ok is false when this work tree recorded none.
func (s Store) Load(i claim.Issue) (h Hold, ok bool, err error) {
	name, err := fileName(i)
	if err != nil {
		return Hold{}, false, fmt.Errorf("read hold of %s: %w", i, err)
	}
	h, err = s.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Hold{}, false, nil
	}
	return h, err == nil, err
}

// All returns every hold of this work tree, ordered by issue. The error joins one *UnreadableError
// for each file that could not be read; the holds that could be are returned beside it.
func (s Store) All() ([]Hold, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list holds: %w", err)
	}
	var holds []Hold
	var bad []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		h, err := s.read(e.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since the folder was listed
		case err != nil:
			bad = append(bad, err)
		default:
			holds = append(holds, h)
		}
	}
	slices.SortFunc(holds, func(a, b Hold) int { return a.Issue.Compare(b.Issue) })
	return holds, errors.Join(bad...)
}

// Remove forgets the hold of the issue; none recorded is a success.
func (s Store) Remove(i claim.Issue) error {
	name, err := fileName(i)
	if err != nil {
		return fmt.Errorf("remove hold of %s: %w", i, err)
	}
	err = os.Remove(filepath.Join(s.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove hold of %s: %w", i, err)
	}
	return nil
}

func (s Store) read(name string) (Hold, error) {
	path := filepath.Join(s.dir, name)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Hold{}, err
	}
	if err != nil {
		return Hold{}, &UnreadableError{path, err}
	}
	h, err := parse(data)
	if err != nil {
		return Hold{}, &UnreadableError{path, err}
	}
	if want, err := fileName(h.Issue); err != nil || want != name {
		return Hold{}, &UnreadableError{path, fmt.Errorf("it is about %q", h.Issue)}
	}
	return h, nil
}

// fileName is one name for all spellings of an issue. Letters that could lead out of the folder
// are refused; GitHub has no such names.
func fileName(i claim.Issue) (string, error) {
	if i.Number < 1 || !claim.IsName(i.Owner) || !claim.IsName(i.Repo) {
		return "", fmt.Errorf("%q is not an issue", i)
	}
	return strings.ToLower(i.Owner) + "@" + strings.ToLower(i.Repo) + "@" + strconv.Itoa(i.Number) + ".json", nil
}
