package folderwork

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/internal/work"
)

// The kinds of entries.
const (
	kindClaim = "claim"
	kindEnd   = "end"
)

// An entry is one step in an item's life.
type entry struct {
	Kind    string    `json:"kind"`
	Worker  string    `json:"worker"` // agent:run
	At      time.Time `json:"at"`
	Until   time.Time `json:"until,omitzero"` // claim
	Outcome string    `json:"outcome,omitempty"`
	Text    string    `json:"text,omitempty"`
}

// A log is the entries of an item in their order. It is the truth; the file is a picture.
type log []entry

// holder returns the claim that stands at a moment. The last entry decides: exactly at its end a
// claim still stands.
func (l log) holder(now time.Time) (entry, bool) {
	if len(l) == 0 || l[len(l)-1].Kind != kindClaim || now.After(l[len(l)-1].Until) {
		return entry{}, false
	}
	return l[len(l)-1], true
}

// failures counts the attempts that came to nothing: those that say so, and claims that ran out.
func (l log) failures() int {
	n := 0
	for i, e := range l {
		switch {
		case e.Kind == kindEnd && (e.Outcome == string(work.Failure) || e.Outcome == string(work.Partial)):
			n++
		case e.Kind == kindClaim && i+1 < len(l) && l[i+1].Kind == kindClaim:
			n++
		}
	}
	return n
}

// entryFile is where the n-th entry of an item is, counted from 1.
func (s *Source) entryFile(name string, n int) string {
	return filepath.Join(s.dir, ".log", name, fmt.Sprintf("%08d", n))
}

// log reads the entries from the first to the one that is not there.
func (s *Source) log(name string) (log, error) {
	var l log
	for {
		text, err := smallfile.Read(s.entryFile(name, len(l)+1), maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			return l, nil
		}
		var e entry
		if err != nil {
			err = errors.New(smallfile.Reason(err))
		} else {
			err = json.Unmarshal(text, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("read log of %s, entry %d: %w", name, len(l)+1, printable.Cause(err))
		}
		l = append(l, e)
	}
}

// append puts an entry behind those that were read. When somebody was faster it is refused.
func (s *Source) append(id, name string, l log, e entry) error {
	file := s.entryFile(name, len(l)+1)
	text, err := json.Marshal(e)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err != nil {
		return &work.Error{ID: id, Reason: work.SourceError, Err: fmt.Errorf("write log of %s: %w", name, printable.Cause(err))}
	}
	err = state.Create(file, append(text, '\n'), 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return work.Refused(id, work.AlreadyClaimed, "somebody else was faster with %s", id)
	case err != nil:
		return &work.Error{ID: id, Reason: work.SourceError, Err: fmt.Errorf("write log of %s: %w", name, printable.Cause(err))}
	}
	return nil
}
