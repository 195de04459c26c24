package claim_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
)

func TestDecodeNotice(t *testing.T) {
	for body, want := range map[string]string{
		"<!-- label-state:escalated lucius:r1 -->\ntext":         "escalated lucius:r1",
		"<!-- label-state:awake 2026-05-04T10:00:00Z -->":        "awake 2026-05-04T10:00:00Z",
		"<!-- label-state:awake a%20b -->":                       "awake a b",
		" <!-- label-state:awake x -->":                          "",
		"> <!-- label-state:awake x -->":                         "",
		"<!-- label-state:awake -->":                             "",
		"escalated lucius:r1 -->":                                "",
		"<!-- label-state:awake x y -->":                         "",
		"<!-- label-state:awake x":                               "",
		"<!-- label-state:guard x -->":                           "",
		"<!-- label-state:reply comment=7 -->":                   "",
		"<!-- agent-claim:codename=a firing_id=b nonce=1234 -->": "",
	} {
		n, ok := claim.DecodeNotice(body)
		if got := strings.TrimSpace(string(n.Kind) + " " + n.Key); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v; want %q", body, got, ok, want)
		}
	}
}

// TestNoticeMark: whatever a key holds, its mark is read back, and is not a record.
func TestNoticeMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := claim.Notice{Kind: claim.NoticeEscalated, Key: string(rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "key"))}
		back, ok := claim.DecodeNotice(n.Mark() + "\nwords")
		if !ok || !back.Says(n) {
			t.Fatalf("%q is read as %+v", n.Mark(), back)
		}

		if _, record, err := claim.Decode(n.Mark()); record || err != nil {
			t.Fatalf("%q is a record: %v", n.Mark(), err)
		}
	})
}

// TestNoticesOfAThread: strangers' and edited notices do not count; a repeat is the later one's.
func TestNoticesOfAThread(t *testing.T) {
	n := claim.Notice{Kind: claim.NoticeAwake, Key: "k"}
	at := func(id int64, author, editor string, trusted bool) claim.Comment {
		return claim.Comment{
			ID:      id,
			Created: time.Unix(1000, 0),
			Author:  author,
			Editor:  editor,
			Trusted: trusted,
			Body:    n.Mark(),
		}
	}

	s := claim.Replay([]claim.Comment{at(1, "mallory", "", false), at(2, "bot", "mallory", true)})
	if s.Told(n) {
		t.Errorf("a stranger told it: %+v", s.Notices)
	}

	s = claim.Replay([]claim.Comment{at(4, "bot", "", true), at(3, "Bot", "", true), at(5, "ann", "", true)})
	if got := s.Repeats("bot"); !s.Told(n) || len(got) != 1 || got[0].Comment.ID != 4 {
		t.Errorf("repeats: %+v", got)
	}

	if s.Records != 0 || len(s.Ignored) != 0 {
		t.Errorf("notices are no records: %+v", s)
	}
}

// TestNotBeforeEndsWithAReset: what a release asked for before a reset does not outlive it.
func TestNotBeforeEndsWithAReset(t *testing.T) {
	later := time.Unix(9000, 0).UTC()
	w := claim.Worker{Codename: "ann", FiringID: "a1"}
	thread := func(more ...claim.Record) (log []claim.Comment) {
		for n, r := range append([]claim.Record{
			{
				Kind:   claim.KindClaim,
				Worker: w,
				Nonce:  "n",
				Held:   true,
			},
			{
				Kind:      claim.KindRelease,
				Worker:    w,
				Outcome:   claim.OutcomeFailure,
				NotBefore: later,
			},
		}, more...) {
			body, err := claim.Encode(r)
			if err != nil {
				t.Fatal(err)
			}

			log = append(log, claim.Comment{
				ID:      int64(n),
				Created: time.Unix(int64(n), 0),
				Author:  "bot",
				Trusted: true,
				Body:    body,
			})
		}

		return log
	}

	if s := claim.Replay(thread()); !s.NotBefore.Equal(later) {
		t.Errorf("not before %s, want %s", s.NotBefore, later)
	}
	s := claim.Replay(thread(claim.Record{Kind: claim.KindReset, Worker: w, By: "olga"}))
	if !s.NotBefore.IsZero() || len(s.Attempts) != 0 {
		t.Errorf("after a reset: not before %s, %d attempts", s.NotBefore, len(s.Attempts))
	}
}
