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

// Repeats are the comments of login that say again what the log had said already, because two runs
// were at it at once: a notice, and in somebody's name an end of a hold that had ended, a reset for
// the same attempt, an answer to a plan that had one. Only the first of them means anything, so that
// taking the others away changes no state.
func (s State) Repeats(login string) (out []Comment) {
	for i, n := range s.Notices {
		if SameLogin(n.Comment.Author, login) && slices.ContainsFunc(s.Notices[:i], n.Says) {
			out = append(out, n.Comment)
		}
	}

	type saying struct {
		kind   Kind
		worker Worker
	}
	said := map[saying]bool{}
	again := func(c Comment, r Record) {
		if said[saying{r.Kind, r.Worker}] && r.By != "" && SameLogin(c.Author, login) {
			out = append(out, c)
		}
	}

	for _, e := range s.Log {
		if e.Record.Kind.About().Again == AgainIdle {
			again(e.Comment, e.Record)
		}
		said[saying{e.Record.Kind, e.Record.Worker}] = true
	}

	for _, i := range s.Ignored {
		r, ok, _ := Decode(i.Comment.Body)
		if ok && r.Kind.About().Again == AgainIgnored {
			again(i.Comment, r)
		}
	}

	return out
}
