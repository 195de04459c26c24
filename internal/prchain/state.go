package prchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/label-state/label-state/internal/claim"
)

// version of the state file; a newer one is refused.
const version = 1

// A State is how far a plan was carried out.
type State struct {
	Plan  Plan
	Parts []Progress // one for each part of the plan
}

// Progress is how far one part is.
type Progress struct {
	Base   string `json:"base,omitempty"`   // the branch it is for, once that is known
	Intent bool   `json:"intent,omitempty"` // it was about to be opened: there may be one already
	Number int    `json:"number,omitempty"` // of the pull request; 0 is not known
	URL    string `json:"url,omitempty"`
}

type stateFile struct {
	Version int        `json:"version"`
	Plan    Plan       `json:"plan"`
	Parts   []Progress `json:"parts"`
}

// ID is the pull request of a part, counted from 0; its Number is 0 when it is not known.
func (s State) ID(part int) claim.Issue {
	i, _ := parseIssue(s.Plan.Parts[part].Repo + "#0") // the plan was checked
	i.Number = s.Parts[part].Number
	return i
}

// Region is what the body of a part, counted from 0, should say.
func (s State) Region(part int) Region {
	r := Region{Feature: s.Plan.Feature, Parent: s.Plan.Parent, Closes: s.Plan.Closes, Part: part + 1}
	for n := range s.Parts {
		r.PRs = append(r.PRs, s.ID(n))
	}
	return r
}

// A Disk is where states are kept.
type Disk interface {
	// Read returns a file; one that is not there is fs.ErrNotExist.
	Read(name string) ([]byte, error)
	// Write makes a file, or overwrites it, and has it on the disk before it returns.
	Write(name string, data []byte) error
	// Rename gives a file another's name, in one step.
	Rename(from, to string) error
	// Lock takes the file as a lock that ends with the process; one that is taken is ErrLocked.
	Lock(name string) (unlock func() error, err error)
}

// ErrLocked is a lock that another process has.
var ErrLocked = errors.New("locked")

// A Store keeps the states of chains in one folder.
type Store struct {
	Dir  string
	Disk Disk
}

// Path is where the state of a feature is kept.
func (s Store) Path(feature string) string { return filepath.Join(s.Dir, feature+".json") }

// An UnreadableError names a state that is there and cannot be relied on. Nothing may be begun anew:
// pull requests are open that only it knows.
type UnreadableError struct {
	File string
	Err  error
}

func (e *UnreadableError) Error() string { return "read chain state " + e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// A BusyError says that another process works on the chain.
type BusyError struct{ Feature string }

func (e *BusyError) Error() string {
	return "chain " + e.Feature + " is being worked on by another process"
}

// Load reads the state of a feature. found is false when there is none; a file that is there and is
// damaged, or of a newer version, is an *UnreadableError; a name that is no slug is a *PlanError.
func (s Store) Load(feature string) (state State, found bool, err error) {
	if err := CheckFeature(feature); err != nil {
		return State{}, false, err
	}
	data, err := s.Disk.Read(s.Path(feature))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, false, nil
	}
	if err == nil {
		state, err = parseState(data)
	}
	if err == nil && state.Plan.Feature != feature {
		err = fmt.Errorf("it is of feature %s", quoted(state.Plan.Feature))
	}
	if err != nil {
		return State{}, false, &UnreadableError{s.Path(feature), err}
	}
	return state, true, nil
}

func parseState(data []byte) (State, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return State{}, err
	}
	if head.Version != version {
		return State{}, fmt.Errorf("version %d: this program knows version %d", head.Version, version)
	}
	var f stateFile
	if err := strict(data, &f); err != nil {
		return State{}, err
	}
	if err := f.Plan.Check(); err != nil {
		return State{}, err
	}
	if len(f.Parts) != len(f.Plan.Parts) {
		return State{}, fmt.Errorf("%d parts of a plan of %d", len(f.Parts), len(f.Plan.Parts))
	}
	for _, p := range f.Parts {
		if p.Number < 0 {
			return State{}, fmt.Errorf("pull request %d", p.Number)
		}
	}
	return State{f.Plan, f.Parts}, nil
}

// save replaces the state of a feature in one step: a reader sees the old one or the new one.
func (s Store) save(state State) error {
	data, err := json.MarshalIndent(stateFile{version, state.Plan, state.Parts}, "", "  ")
	path := s.Path(state.Plan.Feature)
	if err == nil {
		err = s.Disk.Write(path+".new", append(data, '\n'))
	}
	if err == nil {
		err = s.Disk.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("write chain state %s: %w", path, err)
	}
	return nil
}

// lock keeps other processes away from a feature.
func (s Store) lock(feature string) (unlock func() error, err error) {
	unlock, err = s.Disk.Lock(s.Path(feature) + ".lock")
	if errors.Is(err, ErrLocked) {
		return nil, &BusyError{feature}
	}
	if err != nil {
		return nil, fmt.Errorf("lock chain %s: %w", feature, err)
	}
	return unlock, nil
}
