package outgoing

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/smallfile"
)

// maxText bounds what is read of files of a few lines, which people write, in bytes.
const maxText = 4 << 20

// A repository is the folder in which git keeps objects, references and configuration for all
// worktrees.
type repository string

func openRepository(g git.Git) (repository, error) {
	place, err := git.Find(g.Dir, g.Getenv("GIT_DIR"))
	if err != nil {
		return "", err
	}
	common, err := git.Common(place.Dir)
	return repository(common), err
}

func (r repository) path(name string) string {
	return filepath.Join(string(r), filepath.FromSlash(name))
}

func (r repository) loose() looseStore { return looseStore(r.path("objects")) }

// redirections are variables with which git takes objects or history from somewhere else.
var redirections = []string{
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
}

// plain reports whether history is what the commits in the repository say: not shallow, grafted or
// somewhere else.
func (r repository) plain(g git.Git) bool {
	for _, name := range redirections {
		if g.Getenv(name) != "" {
			return false
		}
	}

	for _, name := range []string{"shallow", "info/grafts"} {
		if info, err := os.Stat(r.path(name)); !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size() > 0) {
			return false
		}
	}

	return true
}

// fewReferences reports whether there are few references, so that git tells the exact answer as
// fast as the one by the likely tips alone. Those that are not packed are few, as a rule.
func (r repository) fewReferences() bool {
	info, err := os.Stat(r.path("packed-refs"))
	return err != nil || info.Size() <= 64<<10
}

// cloned returns the tracking of a push if the configuration is a clone's. Otherwise git has to be
// asked for it.
func (r repository) cloned(g git.Git, p Push) (t tracking, ok bool) {
	t = trackingOf(nil, p)
	return t, len(t.remotes) > 0 && !configuresRemotes(g.Env) && r.clonesConfig()
}

// clonesConfig reports whether the configuration of the repository has no refspecs but those of a
// clone. Else, and if it may go on in another file, git has to be asked.
func (r repository) clonesConfig() bool {
	text, err := smallfile.Follow(r.path("config"), maxText)
	if err != nil {
		return false
	}

	remote := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, `[remote "`); ok {
			if remote = strings.TrimSuffix(name, `"]`); strings.Contains(remote, "/") {
				return false // its references may be below those of another
			}
		}

		if line == "fetch = +refs/heads/*:refs/remotes/"+remote+"/*" {
			continue
		}
		lower := strings.ToLower(line)
		for _, word := range []string{"fetch", "include", "worktreeconfig", "refstorage"} {
			if strings.Contains(lower, word) {
				return false
			}
		}
	}

	return true
}

// likelyTips names the references of the remotes that a push most often builds on, but for stale
// ones. They need not exist.
func (r repository) likelyTips(t tracking) []string {
	var tips []string
	for _, remote := range t.remotes {
		folder := "refs/remotes/" + remote + "/"
		names := []string{folder + "main", folder + "master"}
		if branch, ok := r.defaultBranch(remote); ok && branch != names[0] && branch != names[1] {
			names = append(names, branch)
		}

		for _, name := range names {
			if !t.stale[name] {
				tips = append(tips, name)
			}
		}
	}

	return tips
}

// defaultBranch names the reference that the remote's HEAD stands for, as a clone has written it
// down.
func (r repository) defaultBranch(remote string) (name string, ok bool) {
	text, err := smallfile.Follow(r.path("refs/remotes/"+remote+"/HEAD"), maxText)
	if err != nil {
		return "", false
	}

	name, ok = strings.CutPrefix(string(text), "ref:")
	name = strings.TrimSpace(name)
	return name, ok && strings.HasPrefix(name, "refs/remotes/"+remote+"/") && wellFormed(name)
}

// ids are the objects of references, as far as there are files that tell them.
func (r repository) ids(names []string) []string {
	var ids []string
	for _, name := range names {
		text, err := smallfile.Follow(r.path(name), maxText)
		if errors.Is(err, fs.ErrNotExist) {
			text = r.packed(name)
		}

		if oid := string(bytes.TrimSuffix(text, []byte("\n"))); isOID(oid) {
			ids = append(ids, oid)
		}
	}

	return ids
}

// packed returns the id of a reference in packed-refs, whose lines "OID NAME" git sorts by name;
// nothing where it finds none.
func (r repository) packed(name string) (oid []byte) {
	file, err := smallfile.Open(r.path("packed-refs"))
	if err != nil {
		return nil
	}

	defer file.Close()
	high, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}

	low, part := int64(0), make([]byte, 4<<10)
	for step := int64(len(part)); high-low > 4*step; {
		middle := (low + high) / 2
		if _, err := file.ReadAt(part, middle); err != nil {
			return nil
		}

		_, lines, _ := bytes.Cut(part, []byte("\n")) // the first line begins before the part
		if bytes.HasPrefix(lines, []byte("^")) {     // the commit of a tag in the line before
			_, lines, _ = bytes.Cut(lines, []byte("\n"))
		}

		line, _, _ := bytes.Cut(lines, []byte("\n"))
		if _, found, _ := bytes.Cut(line, []byte(" ")); string(found) <= name {
			low = middle
		} else {
			high = middle + step
		}
	}

	part = make([]byte, high-low)
	if _, err := file.ReadAt(part, low); err != nil {
		return nil
	}
	end := bytes.Index(part, []byte(" "+name+"\n"))

	return part[max(0, end-40):max(0, end)]
}
