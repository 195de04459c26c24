package ledger_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A scriptedServer is one issue on a server that follows a script: everything that was written is
// an event, in the order in which reads can see it. Nothing happens on it by itself; the search
// decides what happens next.
type scriptedServer struct {
	now     time.Time
	nextID  int64
	log     []entry  // what reads can see
	late    []entry  // what was sent and cannot be seen yet
	painted []string // labels, where they are not part of what is searched
	version int      // grows with every change, time included
	views   map[uint64]*snapshot
	commits map[string]gitref.Tip // of the lease's chain
}

// An entry is one write as the server committed it.
type entry struct {
	what   string // comment, edit, rewrite (an edit by somebody else), delete, add, remove, close, open
	id     int64
	text   string // a body, or a label
	at     time.Time
	seen   time.Time // when it became visible
	open   bool      // still on its way: the server stamps it when it lands
	digest uint64
}

// A snapshot is what one answer shows.
type snapshot struct {
	log       claim.State
	labels    []string
	claimedAt time.Time
	open      bool
	tip       string // of the lease's chain
}

var curtain = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func newScriptedServer(views map[uint64]*snapshot) *scriptedServer {
	return &scriptedServer{
		now:     curtain,
		nextID:  100,
		painted: []string{"agent:implement"},
		views:   views,
		commits: map[string]gitref.Tip{},
	}
}

// mix folds parts into a digest.
func mix(h uint64, parts ...any) uint64 {
	f := fnv.New64a()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], h)
	f.Write(b[:])

	for _, p := range parts {
		switch p := p.(type) {
		case string:
			f.Write([]byte(p))
		case uint64:
			binary.LittleEndian.PutUint64(b[:], p)
			f.Write(b[:])

		case int:
			binary.LittleEndian.PutUint64(b[:], uint64(p))
			f.Write(b[:])

		case time.Time:
			binary.LittleEndian.PutUint64(b[:], uint64(p.UnixNano()))
			f.Write(b[:])
		case bool:
			f.Write([]byte{map[bool]byte{true: 1}[p]})
		}

		f.Write([]byte{0xff})
	}

	return f.Sum64()
}

// stamp makes one with the server's stamp; comments get their id here, visible or not.
func (s *scriptedServer) stamp(what string, id int64, text string) entry {
	if what == "comment" {
		s.nextID++
		id = s.nextID
	}

	return entry{
		what:   what,
		id:     id,
		text:   text,
		at:     s.now,
		digest: mix(0, what, uint64(id), text, s.now),
	}
}

func (s *scriptedServer) commit(e entry) {
	e.seen = s.now
	s.log = append(s.log, e)
	s.version++
}

// land makes a late event visible.
func (s *scriptedServer) land(n int) {
	e := s.late[n]
	s.late = slices.Delete(slices.Clone(s.late), n, n+1)
	if e.open {
		e = s.stamp(e.what, e.id, e.text)
	}

	if e.what != "swap" || s.swaps(e.text) {
		s.commit(e)
	}
}

// gone reports whether a comment was deleted.
func (s *scriptedServer) gone(id int64) bool {
	return slices.ContainsFunc(s.log, func(e entry) bool { return e.what == "delete" && e.id == id })
}

// read answers with the events that missing does not name: bit n is the n-th newest.
func (s *scriptedServer) read(missing uint64) (*snapshot, uint64) {
	key := uint64(0)
	shown := make([]entry, 0, len(s.log))
	for n, e := range s.log {
		if back := len(s.log) - 1 - n; back < 64 && missing>>back&1 == 1 {
			continue
		}
		key = mix(key, e.digest)
		shown = append(shown, e)
	}

	r := s.views[key]
	if r == nil {
		r = s.show(shown)
		s.views[key] = r
	}

	return r, key
}

func (s *scriptedServer) show(events []entry) *snapshot {
	r := &snapshot{labels: []string{"agent:implement"}, open: true}
	var comments []claim.Comment
	at := func(id int64) int {
		return slices.IndexFunc(comments, func(c claim.Comment) bool { return c.ID == id })
	}

	for _, e := range events {
		switch e.what {
		case "comment":
			comments = append(comments, claim.Comment{
				ID:      e.id,
				Created: e.at,
				Updated: e.at,
				Author:  "bot",
				Trusted: true,
				Body:    e.text,
				URL:     fmt.Sprint("#", e.id),
			})

		case "edit", "rewrite":
			if n := at(e.id); n >= 0 {
				comments[n].Body, comments[n].Updated = e.text, e.at
				comments[n].Editor = map[string]string{"edit": "bot", "rewrite": "olga"}[e.what]
			}
		case "delete":
			comments = slices.DeleteFunc(comments, func(c claim.Comment) bool { return c.ID == e.id })
		default:
			r.change(e)
		}
	}

	r.log = claim.Replay(comments)
	return r
}

func (r *snapshot) change(e entry) {
	switch e.what {
	case "add":
		if !slices.Contains(r.labels, e.text) {
			r.labels = append(r.labels, e.text)
		}
		if e.text == "agent:in-flight" {
			r.claimedAt = e.at
		}
	case "remove":
		r.labels = slices.DeleteFunc(r.labels, func(l string) bool { return l == e.text })
	case "close", "open":
		r.open = e.what == "open"
	case "swap":
		_, r.tip, _ = strings.Cut(e.text, " ")
	}
}

// facts is the snapshot as the ledger asks for it.
func (r *snapshot) facts(i claim.Issue, now time.Time) lifecycle.Facts {
	return lifecycle.Facts{
		Issue:     i,
		URL:       "https://github.com/" + i.Slug(),
		Open:      r.open,
		Labels:    r.labels,
		ClaimedAt: r.claimedAt,
		Log:       r.log,
		Now:       now,
		Viewer:    "bot",
	}
}

// gaps lists which events a read may lack, as masks over the newest ones. A snapshot is whole, or
// lacks the newest events up to the model's age (prefix), or any of them (subset).
func (s *scriptedServer) gaps(reads consistency, within time.Duration) []uint64 {
	young := 0
	for young < len(s.log) && young < 12 && s.now.Sub(s.log[len(s.log)-1-young].seen) < within {
		young++
	}

	out := []uint64{0}
	switch reads {
	case prefixes:
		for n := 1; n <= young; n++ {
			out = append(out, 1<<n-1)
		}
	case subsets:
		for m := uint64(1); m < 1<<young; m++ {
			out = append(out, m)
		}
	}

	return out
}

// consistency is what a read may lack (guarantees.md#the-search).
type consistency int

const (
	fresh consistency = iota // LIN
	prefixes
	subsets
)

// forever is a bound that no event of a story gets beyond.
const forever = 1000 * time.Hour

func (s *scriptedServer) digest() uint64 {
	h := mix(0, s.now)
	for _, e := range s.log {
		h = mix(h, e.digest, e.seen)
	}

	h = mix(h, "late")
	for _, e := range s.late {
		h = mix(h, e.digest)
	}

	for _, l := range s.painted {
		h = mix(h, l)
	}

	return h
}

// String is the story so far, for whoever reads a failure.
func (s *scriptedServer) String() string {
	var b strings.Builder
	for _, e := range s.log {
		first, _, _ := strings.Cut(e.text, "\n")
		fmt.Fprintf(&b, "%s %s #%d %s\n", e.at.Format(time.TimeOnly), e.what, e.id, first)
	}
	return b.String()
}
