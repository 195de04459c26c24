package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
)

// holdsFolder is where the files are, below a worktree's git directory.
const holdsFolder = "label-state/holds"

// largestHold is the size in bytes above which a file is not a hold of ours.
const largestHold = 64 << 10

// A Hold is what this worktree remembers of one claim of its own. Times are the server's; those of
// the Beat are this machine's own, and all may be zero, as in a bundle's.
type Hold struct {
	Issue   claim.Issue   `json:"-"`
	Worker  claim.Worker  `json:"-"`
	Nonce   string        `json:"nonce,omitempty"`  // of the process that claimed it
	Comment int64         `json:"comment"`          // id of the claim comment
	URL     string        `json:"url,omitempty"`    // of the claim comment
	Token   int64         `json:"token"`            // fencing token
	TTL     time.Duration `json:"-"`                // claim.NoExpiry never expires
	Branch  string        `json:"branch,omitempty"` // as written in the claim; may be empty
	Since   time.Time     `json:"since,omitzero"`   // when it was claimed
	Until   time.Time     `json:"until,omitzero"`   // end of the lease as last known; zero when it never expires
	agenthost.Beat
}

// Over reports whether the lease is over by this machine's clock; of one that no session has
// extended nobody knows.
func (h Hold) Over(now time.Time) bool {
	return h.TTL >= 0 && !h.Renewed.IsZero() && now.After(h.Renewed.Add(h.TTL))
}

// Holds are those claimed from one worktree, one JSON file each, under that worktree's own git
// directory. The pre-push hook reads them to know who pushes. The folder is created by the first
// Save.
type Holds struct{ dir string }

// OpenHolds returns the holds of the worktree with that git directory (see GitDir). It touches
// nothing.
func OpenHolds(gitDir string) Holds {
	return Holds{filepath.Join(gitDir, filepath.FromSlash(holdsFolder))}
}

// Past are the holds of the worktree that gave way to a person's own claim, or whose worker may say
// once more that it has ended them: they answer for nobody, and whoever asks under one can be told
// what became of it.
func (s Holds) Past() Holds { return Holds{filepath.Join(filepath.Dir(s.dir), "past")} }

// Save writes the hold, replacing an older one of the same issue. A reader sees the old file or
// the new one, never half of either.
func (s Holds) Save(h Hold) error {
	file, err := s.file(h.Issue)
	if err == nil {
		err = h.check()
	}

	if err == nil {
		err = os.MkdirAll(s.dir, 0o755)
	}

	if err == nil {
		err = s.alone(func() error { return writeJSON(file, toHoldFile(h)) })
	}

	if err != nil {
		return fmt.Errorf("save hold of %s: %w", h.Issue, err)
	}

	return nil
}

// Change reads the hold of the issue, lets do change it and writes it, while nobody else writes. It
// returns the hold as it is then. ok is false when this worktree has recorded none: what is gone
// stays gone, and do is not called. Nothing is written when do returns false. do may change
// everything but the issue.
func (s Holds) Change(i claim.Issue, do func(*Hold) bool) (h Hold, ok bool, err error) {
	file, err := s.file(i)
	if err != nil {
		return Hold{}, false, fmt.Errorf("change hold of %s: %w", i, err)
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return Hold{}, false, nil // no lock is needed, nor a folder for it
	}

	err = s.alone(func() error {
		var err error
		h, ok, err = s.Load(i)
		if !ok || !do(&h) {
			return err
		}
		if err := h.check(); err != nil {
			return err
		}

		return writeJSON(file, toHoldFile(h))
	})
	if err != nil {
		return h, ok, fmt.Errorf("change hold of %s: %w", i, err)
	}

	return h, ok, nil
}

// alone calls do while no other writer of this folder is at work. It returns ErrLocked when that
// takes too long. On a file system without locks it goes on without one.
func (s Holds) alone(do func() error) error {
	free, err := lockSoon(s.dir + ".lock")
	switch {
	case errors.Is(err, ErrLocked):
		return err
	case err == nil:
		defer func() { _ = free() }() // the process's end frees it as well
	}

	return do()
}

// Load returns the hold of the issue; ok is false when this worktree recorded none.
func (s Holds) Load(i claim.Issue) (h Hold, ok bool, err error) {
	name, err := holdFileName(i)
	if err != nil {
		return Hold{}, false, fmt.Errorf("read hold of %s: %w", i, err)
	}

	h, err = s.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Hold{}, false, nil
	}

	return h, err == nil, err
}

// All returns every hold of this worktree, ordered by issue. The error joins one
// answer.Machine for each file that could not be read; the holds that could be are returned
// beside it.
func (s Holds) All() ([]Hold, error) {
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

// Remove forgets the hold of the issue; none recorded is a success. The mark goes first: a later
// hold must not find that of an earlier one.
func (s Holds) Remove(i claim.Issue) error {
	return s.RemoveIf(i, func(Hold) bool { return true })
}

// RemoveIf forgets the hold of the issue if it is the one that is meant. One that cannot be read is
// meant.
func (s Holds) RemoveIf(i claim.Issue, meant func(Hold) bool) error {
	file, err := s.file(i)
	if err == nil {
		_, err = os.Lstat(s.dir)
	}

	if err == nil {
		err = s.alone(func() error {
			if h, read, _ := s.Load(i); read && !meant(h) {
				return nil
			}
			return removeAll(file+untouched, file)
		})
	}

	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove hold of %s: %w", i, err)
	}

	return nil
}

// removeAll removes files one after the other until it cannot. One that is not there is removed.
func removeAll(files ...string) error {
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// attended is the end of the name of a file that a process holds as long as it works under a hold.
const attended = ".attended"

// Attend says, until free is called or the process ends, that a process works under the hold of the
// issue, which was saved. ErrLocked is that another one does.
func (s Holds) Attend(i claim.Issue) (free func() error, err error) {
	file, err := s.file(i)
	if err == nil {
		free, err = Lock(file + attended)
	}

	if err != nil {
		return nil, fmt.Errorf("lock the hold of %s: %w", i, err)
	}

	return free, nil
}

// Attended reports whether a process works under the hold of the issue. What cannot be found out is
// false.
func (s Holds) Attended(i claim.Issue) bool {
	free, err := s.Attend(i)
	if err == nil {
		_ = free()
	}
	return errors.Is(err, ErrLocked)
}

// untouched is the end of the name of a file beside a hold's. Its absence says that work may have
// been done, so that a mark which could not be written costs nothing. It is no field of the record:
// events that run side by side write that one as a whole.
const untouched = ".untouched"

// MarkUntouched notes that nothing was done yet under the hold of the issue, which was saved.
func (s Holds) MarkUntouched(i claim.Issue) error {
	file, err := s.file(i)
	if err == nil {
		err = os.WriteFile(file+untouched, nil, 0o600)
	}

	if err != nil {
		return fmt.Errorf("note the new hold of %s: %w", i, err)
	}

	return nil
}

// Touch notes that something may have been done under the hold of the issue. Idempotent.
func (s Holds) Touch(i claim.Issue) error {
	file, err := s.file(i)
	if err == nil {
		err = removeAll(file + untouched)
	}

	if err != nil {
		return fmt.Errorf("note work under the hold of %s: %w", i, err)
	}

	return nil
}

// Untouched reports whether nothing was done under the hold of the issue since it was marked. What
// cannot be found out is false.
func (s Holds) Untouched(i claim.Issue) bool {
	file, err := s.file(i)
	if err == nil {
		_, err = os.Lstat(file + untouched)
	}
	return err == nil
}

// file is where the hold of the issue is kept.
func (s Holds) file(i claim.Issue) (string, error) {
	name, err := holdFileName(i)
	return filepath.Join(s.dir, name), err
}

// read reads one file and checks that it is of the hold its name says. Errors are fs.ErrNotExist
// and answer.Machine.
func (s Holds) read(name string) (Hold, error) {
	path := filepath.Join(s.dir, name)
	var f holdFile
	err := readJSON(path, largestHold, &f)
	h := f.hold()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Hold{}, err
	case err != nil:
	case f.Format != holdFormat:
		err = fmt.Errorf("format %d, this version reads %d", f.Format, holdFormat)
	case f.TTL < -1 || f.TTL > maxTTL:
		err = fmt.Errorf("ttl of %d seconds", f.TTL)
	default:
		err = h.check()
	}

	if err == nil {
		if want, _ := holdFileName(h.Issue); want != name {
			err = fmt.Errorf("it is about %q", h.Issue)
		}
	}

	if err != nil {
		return Hold{}, &answer.Problem{
			Code: answer.Machine,
			Why:  "read hold " + path + ": " + err.Error(),
			Next: []answer.Command{
				answer.Call("name the worker", answer.Again, "--codename", "NAME", "--firing-id", "ID"),
				answer.Shell("or forget the hold", "rm", path),
			},
			Cause: err,
		}
	}

	return h, nil
}

// holdFileName is one name for all spellings of an issue. Letters that could lead out of the folder
// are refused; GitHub has no such names.
func holdFileName(i claim.Issue) (string, error) {
	if i.Number < 1 || !claim.IsName(i.Owner) || !claim.IsName(i.Repo) {
		return "", fmt.Errorf("%q is not an issue", i)
	}
	return strings.ToLower(i.Owner) + "@" + strings.ToLower(i.Repo) + "@" + strconv.Itoa(i.Number) + ".json", nil
}
