package state

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
)

// pausesFile is the name of the list in the state folder.
const pausesFile = "paused.json"

// A Pause says since when, by whom and why. Since is the machine's time.
type Pause struct {
	Repo   string    `json:"repo"` // owner/repo, lower case
	Since  time.Time `json:"since"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// Pauses are the repositories that one user has paused on this machine only, in one JSON file of
// the user's state folder. A missing file pauses nothing. While the file cannot be read it is
// unknown whether a repository is paused, and a claim must not go ahead (spec.md#the-verdict).
type Pauses struct {
	Dir string // the state folder; it is created by Set
}

// Path is where the list is kept.
func (f Pauses) Path() string { return filepath.Join(f.Dir, pausesFile) }

// ErrPausesBusy says that another process is writing the list.
var ErrPausesBusy error = &answer.Problem{
	Code: answer.Machine,
	Why:  "write local pauses: another process is writing them",
	Next: []answer.Command{answer.Call("when it has finished", answer.Again)},
}

// Get returns the pause of owner/repo in any case, or nil when it is not paused here. An error
// means that nobody knows.
func (f Pauses) Get(repo string) (*Pause, error) {
	key, err := normalRepo(repo)
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

// All are the pauses of every repository, sorted by name. An error means that nobody knows.
func (f Pauses) All() ([]Pause, error) {
	paused, err := f.load()
	if err != nil {
		return nil, err
	}
	return sortedPauses(paused), nil
}

// Set pauses a repository; one that is paused already gets the new reason, and stays as it is
// without one. Errors are answer.Usage, an unreadable list, ErrPausesBusy, or the file system's.
func (f Pauses) Set(p Pause) error {
	key, err := normalRepo(p.Repo)
	if err != nil {
		return err
	}

	p.Repo, p.Since = key, p.Since.UTC()
	return f.change(func(paused map[string]Pause) {
		if _, stands := paused[key]; !stands || p.Reason != "" {
			paused[key] = p
		}
	})
}

// Clear resumes a repository, and reports whether it was paused. Errors are those of Set.
func (f Pauses) Clear(repo string) (was bool, err error) {
	key, err := normalRepo(repo)
	if err != nil {
		return false, err
	}
	err = f.change(func(paused map[string]Pause) {
		_, was = paused[key]
		delete(paused, key)
	})

	return was, err
}

// change rewrites the list while no other process does.
func (f Pauses) change(edit func(map[string]Pause)) (err error) {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return fmt.Errorf("write local pauses: %w", err)
	}
	free, err := lockSoon(f.Path() + ".lock")
	if errors.Is(err, ErrLocked) {
		return ErrPausesBusy
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
	if err := writeJSON(f.Path(), pauseList{pausesFormat, sortedPauses(paused)}); err != nil {
		return fmt.Errorf("write local pauses: %w", err)
	}

	return nil
}

// largestPauses is the size in bytes above which the file is not ours.
const largestPauses = 4 << 20

// pausesFormat is the version of the file; another one is refused.
const pausesFormat = 1

type pauseList struct {
	Format int     `json:"format"`
	Paused []Pause `json:"paused"`
}

// load reads the list, by normalRepo; without a file it is empty. The error is an answer.Machine.
func (f Pauses) load() (map[string]Pause, error) {
	paused := map[string]Pause{}
	var list pauseList
	err := readJSON(f.Path(), largestPauses, &list)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return paused, nil
	case err == nil && (list.Format != pausesFormat || list.Paused == nil):
		err = fmt.Errorf("not a list of format %d", pausesFormat)
	}

	for n := 0; err == nil && n < len(list.Paused); n++ {
		p := list.Paused[n]
		p.Repo, err = normalRepo(p.Repo)
		paused[p.Repo] = p
	}

	if err != nil {
		return nil, &answer.Problem{
			Code: answer.Machine,
			Why:  "read local pauses " + f.Path() + ": " + err.Error(),
			Next: []answer.Command{
				answer.Shell("nothing is claimed until it can be read; repair it, or", "rm", f.Path()),
			},
			Cause: err,
		}
	}

	return paused, nil
}

// sortedPauses is the list as it is written; never nil.
func sortedPauses(paused map[string]Pause) []Pause {
	out := make([]Pause, 0, len(paused))
	for _, key := range slices.Sorted(maps.Keys(paused)) {
		out = append(out, paused[key])
	}
	return out
}

// normalRepo is one spelling for all of a repository's: GitHub compares names without case.
func normalRepo(repo string) (string, error) {
	owner, name, ok := strings.Cut(repo, "/")
	if !ok || !claim.IsName(owner) || !claim.IsName(name) {
		return "", answer.Wrongf("repository %q: expected owner/repo", printable.Clip(repo, 80))
	}
	return strings.ToLower(repo), nil
}
