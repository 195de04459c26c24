package outgoing

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/smallfile"
)

// Bounds of git's own files, in bytes.
const (
	maxText = 4 << 20   // those of a few lines, which people write
	maxRefs = 512 << 20 // packed-refs
)

// A repository is the folder in which git keeps objects, references and configuration for all
// worktrees.
type repository string

func openRepository(at Location) (repository, error) {
	place, err := git.Find(at.Dir, at.lookup("GIT_DIR"))
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
func (r repository) plain(at Location) bool {
	for _, name := range redirections {
		if at.lookup(name) != "" {
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

// checkFiles makes sure that git waits for nothing and reads nothing without an end: the files that
// it is going to read are regular ones of a size that git may have written. The error is a
// *smallfile.IrregularError or a *smallfile.LargeError.
func (r repository) checkFiles() error {
	for _, file := range []struct {
		name string
		most int64 // bytes
	}{
		{"config", maxText},
		{"packed-refs", maxRefs},
		{"shallow", math.MaxInt64},
		{"info/grafts", math.MaxInt64},
		{"objects/info/alternates", maxText},
		{"objects/info/commit-graph", math.MaxInt64},
		{"objects/info/commit-graphs/commit-graph-chain", maxText},
	} {
		if err := regular(r.path(file.name), file.most); err != nil {
			return err
		}
	}

	return regularBelow(r.path("objects/pack"))
}

// checkReferences is checkFiles for the tracking references of the remotes.
func (r repository) checkReferences(remotes []string) error {
	for _, remote := range remotes {
		if err := regularBelow(r.path("refs/remotes/" + remote)); err != nil {
			return err
		}
	}
	return nil
}

// regular looks at a file that may be missing, or be a link to a regular one.
func regular(path string, most int64) error {
	err := smallfile.Check(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// regularBelow looks at all files below a folder that may be missing. What cannot be listed is for
// git to report.
func regularBelow(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Type().IsRegular() {
			return nil
		}
		return regular(path, math.MaxInt64)
	})
}

// Up to so many references of a remote, git is asked for the exact answer at once: it then costs as
// much as the answer by the likely tips alone. Local ones count, too, in packed-refs.
const (
	fewPacked = 64 << 10 // bytes
	fewLoose  = 100
)

// fewReferences reports whether the remotes have few tracking references.
func (r repository) fewReferences(remotes []string) bool {
	if info, err := os.Stat(r.path("packed-refs")); err == nil && info.Size() > fewPacked {
		return false
	}
	count := 0
	for _, remote := range remotes {
		err := filepath.WalkDir(r.path("refs/remotes/"+remote), func(string, fs.DirEntry, error) error {
			if count++; count > fewLoose {
				return fs.SkipAll
			}
			return nil
		})

		if err != nil || count > fewLoose {
			return false
		}
	}

	return true
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
		for _, word := range []string{"fetch", "include", "worktreeconfig"} {
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
