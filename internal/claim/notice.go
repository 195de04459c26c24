package claim

import (
	"slices"
	"strings"
)

// A NoticeKind says what a notice is about.
type NoticeKind string

// The notices. Each is posted once for its key.
const (
	NoticeEscalated NoticeKind = "escalated" // too many attempts failed; the key is the first of them
	NoticeAwake     NoticeKind = "awake"     // the last blocker closed; the key is when it fell asleep
	// a person was asked whether they still work on it; the key is their claim's
	NoticeAsked NoticeKind = "asked"
	// an assignment no longer keeps anybody off; the key is who is assigned, and since when
	NoticeIdle NoticeKind = "idle"
)

// A Notice is a comment of ours that tells people something and is not a record: it decides
// nothing. Kind and Key name the occasion, so that nobody tells it twice.
type Notice struct {
	Kind    NoticeKind
	Key     string
	Comment Comment // where it stands; zero for one that is yet to be posted
}

const openNotice = "<!-- label-state:"

// Mark is the line a notice's comment begins with.
func (n Notice) Mark() string {
	return openNotice + string(n.Kind) + " " + escape(n.Key) + " " + closer
}

// Says reports whether both are about one occasion.
func (n Notice) Says(o Notice) bool { return n.Kind == o.Kind && n.Key == o.Key }

// DecodeNotice reads the notice at the very start of a comment body; ok is false for all else.
func DecodeNotice(body string) (n Notice, ok bool) {
	rest, found := strings.CutPrefix(body, openNotice)
	inside, _, closed := strings.Cut(rest, closer)
	words := strings.Fields(inside)
	if !found || !closed || len(words) != 2 {
		return n, false
	}

	n = Notice{Kind: NoticeKind(words[0]), Key: unescape(words[1])}
	return n, slices.Contains([]NoticeKind{NoticeEscalated, NoticeAwake, NoticeAsked, NoticeIdle}, n.Kind)
}

// Told reports whether the log's thread has the notice already.
func (s State) Told(n Notice) bool { return slices.ContainsFunc(s.Notices, n.Says) }

// Repeats are the notices of login that say again what an earlier one said.
func (s State) Repeats(login string) (out []Notice) {
	for i, n := range s.Notices {
		if SameLogin(n.Comment.Author, login) && slices.ContainsFunc(s.Notices[:i], n.Says) {
			out = append(out, n)
		}
	}
	return out
}
