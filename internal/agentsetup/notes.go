package agentsetup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
)

// kept is what is remembered of a file that we have written.
type kept struct {
	Path    string `json:"path"`
	Existed bool   `json:"existed"`
	Before  []byte `json:"before,omitempty"` // what it was, when it existed
	After   string `json:"after"`            // SHA-256 of what we have made of it
}

// notes are all files that were written for one host in one place.
type notes struct {
	Format int      `json:"format"`
	Files  []kept   `json:"files"`
	Dirs   []string `json:"dirs,omitempty"` // folders that were made, outermost first
}

// other is what another host's installation in this place remembers of the file.
func (p Place) other(h agenthost.Host, path string) (kept, bool) {
	for _, o := range agenthost.Hosts() {
		if o == h {
			continue
		}
		if n, err := p.load(o); err == nil {
			if k, ok := n.find(path); ok {
				return k, true
			}
		}
	}

	return kept{}, false
}

func (n notes) find(path string) (kept, bool) {
	for _, k := range n.Files {
		if k.Path == path {
			return k, true
		}
	}
	return kept{}, false
}

func (p Place) file(h agenthost.Host) string {
	scope := "project"
	if p.User {
		scope = "user"
	}
	return filepath.Join(p.State, "agents", string(h)+"-"+scope+".json")
}

func (p Place) load(h agenthost.Host) (n notes, err error) {
	text, there, err := read(p.file(h))
	if err == nil && there {
		err = json.Unmarshal(text, &n)
	}

	if err == nil && there && n.Format != 1 {
		err = fmt.Errorf("format %d, this version reads 1", n.Format)
	}

	if err != nil {
		return n, fmt.Errorf("%s: %w", p.file(h), err)
	}
	n.Format = 1

	return n, nil
}

func (p Place) save(h agenthost.Host, n notes) error {
	text, err := json.MarshalIndent(n, "", "  ")
	if err == nil {
		err = write(p.file(h), append(text, '\n'), 0o600) // settings may hold secrets, and so does what they were
	}

	if err != nil {
		return fmt.Errorf("%s: %w", p.file(h), err)
	}

	return nil
}

// largest is the size of a settings file above which it is not read.
const largest = 8 << 20

func read(path string) (text []byte, there bool, err error) {
	text, err = smallfile.Follow(path, largest)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, false, errors.New("it is a link to a file that is not there")
		}
		return nil, false, nil
	}

	return text, err == nil, printable.Cause(err)
}

// write gives a file a new text in one step, through a link, and with the mode it has; mode is that
// of a new one.
func write(path string, text []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return printable.Cause(err)
	}

	return printable.Cause(smallfile.RewriteLinked(path, text, mode))
}
