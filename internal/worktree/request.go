package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// A Spec is one repository of a request.
type Spec struct {
	Name string // in the feature, in branches and in paths
	Path string // of a clone, bare or not, or of a worktree linked to one; absolute
	// a remote's branch, a tag, an object id, or whatever git takes for a commit; empty is the
	// default branch
	Base string
}

// A Request is what Create is asked for.
type Request struct {
	Feature string
	Agent   string
	Folder  string // absolute; each tree is a folder of its own in it
	Specs   []Spec
	At      time.Time // goes into the branch names
	Offline bool      // take remotes' branches as they were last seen
}

// ParseSpec reads name=path[@base]. The last "@" that no "{" follows divides, so that a base may be
// @{u} or main@{1}; a path with an "@" needs a base behind it.
func ParseSpec(s string) (Spec, error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok || name == "" || rest == "" {
		return Spec{}, answer.Wrongf("repository %q: expected name=path or name=path@base", s)
	}

	for n := len(rest) - 1; n >= 0; n-- {
		switch {
		case rest[n] != '@' || strings.HasPrefix(rest[n+1:], "{"): // git's own, as in main@{upstream}
		case n == len(rest)-1:
			return Spec{}, answer.Wrongf("repository %q: there is no base after the @", s)
		default:
			return Spec{name, rest[:n], rest[n+1:]}, nil
		}
	}

	return Spec{Name: name, Path: rest}, nil
}

// plainly is what a part of a branch may be.
const plainly = "expected letters, digits, . _ and -, beginning with a letter or digit"

// CheckAgent refuses an agent that cannot be what branches begin with.
func (r Request) CheckAgent() error {
	if !plain(r.Agent) {
		return answer.Wrongf("agent %q: %s", r.Agent, plainly)
	}
	return nil
}

// check refuses what is wrong whatever git says.
func (r Request) check() error {
	if err := labels.CheckFeature(r.Feature); err != nil {
		return answer.Wrongf("feature %s", err)
	}
	if err := r.CheckAgent(); err != nil {
		return err
	}
	if !filepath.IsAbs(r.Folder) {
		return answer.Wrongf("folder %q: expected an absolute path", r.Folder)
	}
	if len(r.Specs) == 0 {
		return answer.Wrongf("feature %s: no repository is named", r.Feature)
	}

	seen := map[string]bool{}
	for _, s := range r.Specs {
		key := strings.ToLower(s.Name)
		switch {
		case !plain(s.Name):
			return answer.Wrongf("repository name %q: %s", s.Name, plainly)
		case seen[key]:
			return answer.Wrongf("repository name %s: given twice", s.Name)
		}

		seen[key] = true
	}

	return nil
}

// feature makes the feature that a request asks for, as far as that is known without git.
func (r Request) feature() Feature {
	f := Feature{
		Name:    r.Feature,
		Agent:   r.Agent,
		Folder:  filepath.Clean(r.Folder),
		Created: r.At.UTC().Truncate(time.Second),
	}

	for _, s := range r.Specs {
		f.Trees = append(f.Trees, Tree{
			Repo:   s.Name,
			Base:   s.Base,
			Branch: r.Agent + "/" + r.Feature + "-" + s.Name + "-" + f.Created.Format("20060102-150405"),
		})
	}

	return f
}

// place says where the feature's worktrees go: each into a folder of its repository's name. Links
// in the folder's path are followed, as git does: later the two are compared.
func (f *Feature) place() error {
	for there, below := f.Folder, ""; ; {
		real, err := filepath.EvalSymlinks(there)
		if err == nil {
			f.Folder = filepath.Join(real, below)
			break
		}
		if up := filepath.Dir(there); !errors.Is(err, os.ErrNotExist) || up == there {
			return answer.Wrongf("folder %s: %s", f.Folder, printable.Cause(err))
		}

		there, below = filepath.Dir(there), filepath.Join(filepath.Base(there), below)
	}

	for n := range f.Trees {
		f.Trees[n].Path = filepath.Join(f.Folder, f.Trees[n].Repo)
	}

	return nil
}

// plain reports whether a name is safe as a part of a branch and of a path, on every system.
func plain(s string) bool {
	if s == "" || len(s) > 63 || strings.Contains(s, "..") || strings.HasSuffix(s, ".") ||
		strings.HasSuffix(strings.ToLower(s), ".lock") {
		return false
	}

	for n, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (n == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}

	return true
}
