// Package outgoing reads what git tells a pre-push hook and finds the commits that leave with the push.
//
// Two readers give the same answer. The first reads the repository itself, with go-git's decoders, and touches no more
// of it than the push needs. The second asks the installed git; it serves repositories that the first cannot read or
// would read wrongly (SHA-256, reftable, shallow, grafted or replaced history, unknown extensions, damage) and walks
// that are long enough for git to be the faster one.
package outgoing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/smallfile"
)

// maxMessage bounds Commit.Message; what a commit says beyond it is not looked at, and Commit.Cut says so.
const maxMessage = 1 << 20

// RealObjects is the variable that has git read commits as a push sends them: git-replace(1) changes what is shown, not
// what leaves. It belongs into the Env of a Location.
const RealObjects = "GIT_NO_REPLACE_OBJECTS=1"

// A Location is where a hook runs: its working directory and its environment ("KEY=value"), from which GIT_DIR and
// what else git sets are taken. The environment of this process is never read.
type Location struct {
	Dir string
	Env []string
}

// lookup returns a variable of the hook's environment; the last one of a name counts.
func (at Location) lookup(name string) string {
	value := ""
	for _, kv := range at.Env {
		if key, v, ok := strings.Cut(kv, "="); ok && key == name {
			value = v
		}
	}
	return value
}

// A Push is what is about to happen: the hook's two arguments and its input.
type Push struct {
	// Remote is the remote's name, or its URL when it has none.
	Remote string
	// URL is where the push goes.
	URL     string
	Updates []Update
	// Keep, when set, says of a message whether its commit is wanted; the others are not reported, but for those with a message that is
	// longer than what is read of it. When no message is
	// wanted the reader stops early, without the work it takes to be exact.
	Keep func(message []byte) bool
}

// A Commit is one that leaves. Message is the text after the header, byte for byte, at most 1 MiB of it; Cut says that there is more.
type Commit struct {
	OID     string
	Message []byte
	Cut     bool
}

// Subject is the first line of the message that is not blank. It is someone else's text: make it safe before printing.
func (c Commit) Subject() string {
	for line := range bytes.Lines(c.Message) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line)
		}
	}
	return ""
}

// Commits calls yield for each commit that leaves, newest first, each once over all updates, until yield returns false.
// A commit leaves when it is reachable from a pushed object, tags peeled, and from nothing the remote is known to have:
// the remote object ids of the updates as far as they are in the repository, and the remote-tracking references of that
// remote, without those of the references that the push updates. A deletion sends nothing. Without updates that send something
// the repository is not even opened.
//
// With clocks far apart and a history of many thousand commits a commit that the remote already has may be reported;
// one that leaves is never missed. An error may come after some commits have been reported.
func Commits(ctx context.Context, at Location, p Push, yield func(Commit) bool) error {
	if len(pushed(p.Updates)) == 0 {
		return nil
	}
	commits, err := readNative(ctx, at, p)
	if err == nil {
		for _, c := range commits {
			if !yield(c) {
				return nil
			}
		}
		return nil
	}
	var far *tooFar
	var irregular *smallfile.IrregularError
	var large *smallfile.LargeError
	reason := err
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(reason, &far):
		return readGit(ctx, at, p, far.question, yield)
	case errors.As(reason, &irregular), errors.As(reason, &large):
		return reason // git would read such a file to its end, if it has one
	}
	q, err := questionOf(ctx, at, p)
	if err == nil {
		err = readGit(ctx, at, p, q, yield)
	}
	if err != nil {
		return fmt.Errorf("%w (nor without git: %w)", err, reason)
	}
	return nil
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
