package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/smallfile"
	"github.com/label-state/label-state/internal/state"
)

// An InitRecord is what init did in one worktree. The zero value is nothing.
type InitRecord struct {
	Format int        `json:"format"`
	Repo   string     `json:"repo"`           // owner/name
	Files  []InitFile `json:"files"`          // in the order in which they were written
	Hook   *initHook  `json:"hook,omitempty"` // nil when init did not touch git's hook
	Labels []string   `json:"labels"`         // that it created on GitHub
	Dirs   []string   `json:"dirs"`           // folders that it made, outermost first; absolute
}

// An InitFile is a file that init wrote.
type InitFile struct {
	Path    string `json:"path"` // absolute
	Name    string `json:"name"` // as the preview names it
	Existed bool   `json:"existed"`
	Before  []byte `json:"before,omitempty"` // what it was, when it existed
	After   string `json:"after"`            // SHA-256 of what init made of it
}

// An initHook is git's hook, which package hookfile installed.
type initHook struct {
	Before []byte `json:"before,omitempty"` // our older text, when init brought that up to date
}

// initFormat is the format of the record that this version writes and reads.
const initFormat = 1

// initRecordLimit is the size in bytes above which a record is not read.
const initRecordLimit = 8 << 20

// InitRecordFile is where the record of the worktree around dir is, and the top of that worktree; state.ErrNoRepository outside one.
func InitRecordFile(dir string) (file, top string, err error) {
	if top, err = state.Top(dir); err != nil {
		return "", "", err
	}
	git, err := state.GitDir(top, "")
	return filepath.Join(git, "label-state", "init.json"), top, err
}

// A recordError is a record of init that cannot be read or written.
type recordError struct {
	cause
	File string
}

func (e *recordError) Error() string {
	return "the record of what init did, " + e.File + ": " + e.err.Error()
}

// LoadInit reads the record. One that is not there is empty.
func LoadInit(file string) (r InitRecord, err error) {
	text, err := smallfile.Follow(file, initRecordLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return InitRecord{Format: initFormat}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Format != initFormat {
		err = fmt.Errorf("format %d, this version reads %d", r.Format, initFormat)
	}
	if err != nil {
		return r, &recordError{cause{err}, file}
	}
	return r, nil
}

// Save writes the record, or takes it away when there is nothing left in it.
func (r InitRecord) Save(file string) error {
	if len(r.Files) == 0 && r.Hook == nil {
		err := os.Remove(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		_ = os.Remove(filepath.Dir(file)) // one that has something in it stays
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = state.Replace(file, append(text, '\n'), 0o600)
	}
	if err != nil {
		return &recordError{cause{err}, file}
	}
	return nil
}

// AddFile notes that a file is about to get a text.
func (r *InitRecord) AddFile(path, name, text string) error {
	f := InitFile{Path: path, Name: name, After: state.Fingerprint([]byte(text))}
	before, err := smallfile.Follow(path, LargestFile)
	switch {
	case err == nil:
		f.Existed, f.Before = true, before
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	r.Dirs = append(r.Dirs, state.Missing(filepath.Dir(path))...)
	r.Files = append(slices.DeleteFunc(r.Files, func(old InitFile) bool { return old.Path == path }), f)
	return nil
}

// AddHook notes that git's hook is about to be installed, or brought up to date.
func (r *InitRecord) AddHook(found hookfile.State) error {
	r.Hook = &initHook{}
	r.Dirs = append(r.Dirs, state.Missing(filepath.Dir(found.File))...)
	if found.Kind != hookfile.Outdated {
		return nil
	}
	var err error
	r.Hook.Before, err = smallfile.Follow(found.File, LargestFile)
	return err
}

// LargestFile is the size in bytes above which a file that init would write is somebody else's.
const LargestFile = 1 << 20
