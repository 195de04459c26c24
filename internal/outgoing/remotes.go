package outgoing

import (
	"path/filepath"
	"slices"
	"strings"
)

// A remoteConfig is what git's configuration says of a remote.
type remoteConfig struct {
	name  string
	urls  []string
	fetch []string // refspecs
}

// parseRemotes reads what "git config --null --get-regexp" prints of the remotes: "remote.NAME.KEY
// LF VALUE NUL". It lists the remotes in the order of the configuration, each once.
func parseRemotes(text string) []remoteConfig {
	var list []remoteConfig
	for entry := range strings.SplitSeq(text, "\x00") {
		name, value, _ := strings.Cut(entry, "\n")
		name, _ = strings.CutPrefix(name, "remote.")
		dot := strings.LastIndexByte(name, '.')
		if dot <= 0 {
			continue
		}

		name, key := name[:dot], name[dot+1:]

		at := slices.IndexFunc(list, func(r remoteConfig) bool { return r.name == name })
		if at < 0 {
			at = len(list)
			list = append(list, remoteConfig{name: name})
		}

		switch key {
		case "url", "pushurl":
			list[at].urls = append(list[at].urls, value)
		case "fetch":
			list[at].fetch = append(list[at].fetch, value)
		}
	}

	return list
}

// A tracking says which remote-tracking references show what the remote of a push has.
type tracking struct {
	remotes []string        // names: those below refs/remotes/NAME/ count
	inner   []string        // other remotes, whose references are below those of one that counts
	stale   map[string]bool // but not these: git has told the hook what the remote has of what is pushed
}

// trackingOf returns the tracking of a push, for remotes as the configuration lists them.
func trackingOf(remotes []remoteConfig, p Push) tracking {
	t := tracking{remotes: trackingNames(remotes, p)}
	t.stale = staleNames(remotes, t.remotes, p.Updates)
	for _, r := range remotes {
		below := func(name string) bool { return strings.HasPrefix(r.name, name+"/") }
		if slices.ContainsFunc(t.remotes, below) && !slices.Contains(t.remotes, r.name) {
			t.inner = append(t.inner, r.name)
		}
	}
	return t
}

// trackingNames lists the remotes whose remote-tracking references say what this remote has: the
// one of that name, or, for a push to a URL, those that have it as their URL. A remote with a name
// need not be in remotes.
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

// staleNames lists the remote-tracking references of what the push updates. They are those that a
// clone makes, and those of the remotes' fetch refspecs.
func staleNames(remotes []remoteConfig, names []string, updates []Update) map[string]bool {
	stale := map[string]bool{}
	for _, u := range updates {
		for _, name := range names {
			if branch, ok := strings.CutPrefix(u.RemoteRef, "refs/heads/"); ok {
				stale["refs/remotes/"+name+"/"+branch] = true
			}
		}

		for _, r := range remotes {
			if !slices.Contains(names, r.name) {
				continue
			}

			for _, refspec := range r.fetch {
				if to, ok := fetchedAs(u.RemoteRef, refspec); ok {
					stale[to] = true
				}
			}
		}
	}

	return stale
}

// fetchedAs returns the name under which a fetch refspec stores a reference of the remote.
func fetchedAs(ref, refspec string) (name string, ok bool) {
	from, to, _ := strings.Cut(strings.TrimPrefix(refspec, "+"), ":")
	if strings.HasPrefix(to, "remotes/") { // git takes short names, too
		to = "refs/" + to
	}

	before, after, pattern := strings.Cut(from, "*")
	if !pattern {
		return to, from == ref || strings.HasSuffix(ref, "/"+from)
	}

	middle, starts := strings.CutPrefix(ref, before)
	middle, ends := strings.CutSuffix(middle, after)
	return strings.Replace(to, "*", middle, 1), starts && ends
}

// named is the list of one remote, or of none when references cannot have its name in theirs.
func named(remote string) []string {
	if !wellFormed(remote) {
		return nil
	}
	return []string{remote}
}

// wellFormed reports whether a name is a path below a folder and means nothing more than itself in
// a pattern or a revision, as git-check-ref-format(1) wants it.
func wellFormed(name string) bool {
	odd := func(c rune) bool { return c <= ' ' || strings.ContainsRune("~^:?*[\\\x7f", c) }
	return filepath.IsLocal(name) && name[0] != '-' && !strings.ContainsFunc(name, odd) &&
		!strings.Contains(name, "..") && !strings.Contains(name, "@{")
}
