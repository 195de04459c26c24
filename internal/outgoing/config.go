package outgoing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/smallfile"
)

// errUnfit: the first reader would not read this repository rightly.
var errUnfit = errors.New("repository is for git itself to read")

// harmless are the extensions (gitrepository-layout(5)) that change nothing for a reader of commits and remote-tracking
// references.
var harmless = map[string]string{
	"noop": "*", "noop-v1": "*", "preciousobjects": "*", "partialclone": "*", "worktreeconfig": "*", "relativeworktrees": "*",
	"objectformat": "sha1", "refstorage": "files",
}

// checkFormat is errUnfit for a format or extension the first reader does not know.
func checkFormat(cfg settings) error {
	if v := cfg.last("core", "repositoryformatversion"); v != "" && v != "0" && v != "1" {
		return fmt.Errorf("%w: format %q", errUnfit, v)
	}
	for _, o := range cfg {
		allowed := harmless[o.key]
		if o.section == "extensions" && allowed != "*" && !strings.EqualFold(allowed, o.value) {
			return fmt.Errorf("%w: extension %s=%q", errUnfit, o.key, o.value)
		}
	}
	return nil
}

// redirections are variables with which git takes objects, history or references from somewhere else.
var redirections = []string{
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
	"GIT_REPLACE_REF_BASE", "GIT_REFERENCE_BACKEND",
}

// checkHistory is errUnfit when the history is not what the commit objects say: shallow, grafted, replaced, redirected.
func checkHistory(at Location, common string, refs *refStore) error {
	for _, name := range redirections {
		if at.lookup(name) != "" {
			return fmt.Errorf("%w: %s is set", errUnfit, name)
		}
	}
	for _, name := range []string{"shallow", "info/grafts"} {
		f, err := smallfile.Open(filepath.Join(common, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if info.Size() > 0 {
			return fmt.Errorf("%w: %s", errUnfit, name)
		}
	}
	for range refs.packed.under("refs/replace/") {
		return fmt.Errorf("%w: refs/replace", errUnfit)
	}
	if len(refs.loose("refs/replace/")) > 0 {
		return fmt.Errorf("%w: refs/replace", errUnfit)
	}
	return nil
}

// A remoteConfig is what a configuration says of a remote.
type remoteConfig struct {
	name  string
	urls  []string
	fetch []string // refspecs
}

// remotesOf lists the remotes of a configuration, each once, in its order.
func remotesOf(cfg settings) []remoteConfig {
	var list []remoteConfig
	at := map[string]int{}
	for _, x := range cfg {
		if x.section != "remote" || x.subsection == "" {
			continue
		}
		i, known := at[x.subsection]
		if !known {
			i = len(list)
			at[x.subsection] = i
			list = append(list, remoteConfig{name: x.subsection})
		}
		switch x.key {
		case "url", "pushurl":
			list[i].urls = append(list[i].urls, x.value)
		case "fetch":
			list[i].fetch = append(list[i].fetch, x.value)
		}
	}
	return list
}

// trackingNames lists the remotes whose remote-tracking references say what this remote has: the one of that name, or,
// for a push to a URL, those that have it as their URL. A remote with a name need not be in remotes; another
// configuration file may define it.
func trackingNames(remotes []remoteConfig, p Push) []string {
	known := slices.ContainsFunc(remotes, func(r remoteConfig) bool { return r.name == p.Remote })
	if known || p.Remote != p.URL {
		if names := named(p.Remote); known || names != nil {
			return names
		}
	}
	var names []string
	for _, r := range remotes {
		if slices.Contains(r.urls, p.Remote) || slices.Contains(r.urls, p.URL) {
			names = append(names, named(r.name)...)
		}
	}
	return names
}

// replaced names the remote-tracking references of what the push updates, which may be stale: git has said what the remote has there.
// They are those of the remotes' fetch refspecs, and those that a clone makes, since the refspecs may be in another configuration file.
func replaced(remotes []remoteConfig, names []string, updates []Update) map[string]bool {
	list := map[string]bool{}
	for _, u := range updates {
		for _, name := range names {
			if branch, ok := strings.CutPrefix(u.RemoteRef, "refs/heads/"); ok {
				list["refs/remotes/"+name+"/"+branch] = true
			}
		}
		for _, r := range remotes {
			if !slices.Contains(names, r.name) {
				continue
			}
			for _, refspec := range r.fetch {
				from, to, _ := strings.Cut(strings.TrimPrefix(refspec, "+"), ":")
				if strings.HasPrefix(to, "remotes/") { // git takes short names, too
					to = "refs/" + to
				}
				before, after, pattern := strings.Cut(from, "*")
				middle, starts := strings.CutPrefix(u.RemoteRef, before)
				middle, ends := strings.CutSuffix(middle, after)
				switch {
				case pattern && starts && ends:
					list[strings.Replace(to, "*", middle, 1)] = true
				case from == u.RemoteRef || strings.HasSuffix(u.RemoteRef, "/"+from):
					list[to] = true
				}
			}
		}
	}
	return list
}

// named is the list of one remote, or of none when references cannot have its name in theirs.
func named(remote string) []string {
	if !wellFormed(remote) {
		return nil
	}
	return []string{remote}
}

// wellFormed applies git-check-ref-format(1): what passes is a path below a directory and means nothing more than
// itself in a pattern.
func wellFormed(name string) bool {
	forbidden := func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune("~^:?*[\\", c) }
	if strings.Contains(name, "..") || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, forbidden) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
