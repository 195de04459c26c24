// Package outgoing reads what git tells a pre-push hook and finds the commits that leave with the
// push.
//
// Commits that nobody else has yet are loose objects, as a rule, and most pushes need no more than
// reading those, with go-git, down to what the remote most likely has. The installed git is asked
// for what is packed, missing or unusual, and for which commits exactly the remote has.
package outgoing

import (
	"bytes"
	"context"
	"slices"

	"github.com/label-state/label-state/internal/git"
)

// maxMessage bounds Commit.Message; what a commit says beyond it is not looked at, and Commit.Cut
// says so.
const maxMessage = 1 << 20

// A Push is what is about to happen: the hook's two arguments and its input.
type Push struct {
	// Remote is the remote's name, or its URL when it has none.
	Remote string
	// URL is where the push goes.
	URL     string
	Updates []Update
	// Keep says of a message whether its commit is wanted; nil wants all. A commit whose message is
	// longer than what is read of it is always wanted.
	Keep func(message []byte) bool
}

// wants reports whether a commit is reported: of one whose message is cut, nobody knows what the
// rest says.
func (p Push) wants(c Commit) bool { return p.Keep == nil || c.Cut || p.Keep(c.Message) }

// A Commit is one that leaves. Message is the text after the header, byte for byte, at most 1 MiB
// of it; Cut says that there is more.
type Commit struct {
	OID     string
	Message []byte
	Cut     bool
}

// Subject is the first line of the message that is not blank. It is someone else's text: make it
// safe before printing.
func (c Commit) Subject() string {
	for line := range bytes.Lines(c.Message) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line)
		}
	}
	return ""
}

// Commits returns the commits that leave with the push and are wanted, newest first, each once over
// all updates.
//
// A commit leaves when it is reachable from a pushed object, tags peeled, and from nothing the
// remote is known to have: the remote object ids of the updates as far as they are in the
// repository, and the remote-tracking references of that remote, without those of the references
// that the push updates. A deletion sends nothing. Without updates that send something the
// repository is not even opened.
//
// A commit that leaves is never missed. Of a remote with very many references, the remote may have
// some of the commits on a branch that few pushes build on: they are then not exact, and Leaving
// says which of them leave. With clocks far apart, and in a push of more than 500 references, such
// a commit may be reported as exact, too.
//
// g is git where the hook runs, with its environment. Errors are a *git.Error, what git.Find says
// of a place without a repository, and the end of ctx.
func Commits(ctx context.Context, g git.Git, p Push) (found []Commit, exact bool, err error) {
	if len(pushed(p.Updates)) == 0 {
		return nil, true, nil
	}
	repo, err := openRepository(g)
	if err != nil {
		return nil, false, err
	}

	found, complete := readLoose(ctx, g, repo, p)
	if complete && len(found) == 0 || ctx.Err() != nil {
		return nil, complete, ctx.Err()
	}
	reader, err := openGit(ctx, g, repo, p)
	if err != nil {
		return nil, false, err
	}

	return reader.commits(ctx, found, complete)
}

// Leaving returns those of the commits that leave.
func Leaving(ctx context.Context, g git.Git, p Push, commits []Commit) ([]Commit, error) {
	repo, err := openRepository(g)
	if err != nil {
		return nil, err
	}
	reader, err := openGit(ctx, g, repo, p)
	if err != nil {
		return nil, err
	}

	return reader.confirm(ctx, commits)
}

// readLoose returns the commits that may leave and are wanted, if the loose objects tell all of
// them: complete. What keeps them from that does not matter, since git is asked then.
func readLoose(ctx context.Context, g git.Git, repo repository, p Push) (found []Commit, complete bool) {
	if !repo.plain(g) {
		return nil, false
	}

	defer func() {
		if recover() != nil { // a damaged object
			found, complete = nil, false
		}
	}()

	known := remoteOIDs(p.Updates)
	commits, err := repo.loose().commits(ctx, pushed(p.Updates), known)
	if t, ok := repo.cloned(g, p); err != nil && ok {
		known = append(known, repo.ids(repo.likelyTips(t))...)
		commits, err = repo.loose().commits(ctx, pushed(p.Updates), known)
	}

	return slices.DeleteFunc(commits, func(c Commit) bool { return !p.wants(c) }), err == nil
}

// pushed lists the objects that are sent, each once.
func pushed(updates []Update) []string {
	return distinct(updates, func(u Update) string { return u.LocalOID })
}

// remoteOIDs lists the objects that the remote has now, deleted references included, each once.
func remoteOIDs(updates []Update) []string {
	return distinct(updates, func(u Update) string { return u.RemoteOID })
}

func distinct(updates []Update, oid func(Update) string) []string {
	var list []string
	seen := map[string]bool{}
	for _, u := range updates {
		if o := oid(u); !zero(o) && !seen[o] {
			seen[o] = true
			list = append(list, o)
		}
	}

	return list
}
