package claim_test

import (
	"strconv"
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

// TestIdle: which records say again what was said, so that one of them may go.
func TestIdle(t *testing.T) {
	const held, legacy = "1 0:00 bot claim a:1 nonce=n state=held", "1 0:00 bot claim a:1"
	for name, c := range map[string]struct {
		idle string
		log  []string
	}{
		"an end of what had ended":              {"3", []string{held, "2 0:10 bot release a:1 by=x", "3 0:11 bot release a:1 by=y"}},
		"the end after that of another process": {"", []string{held, "2 0:10 bot release a:1 nonce=m by=x", "3 0:11 bot release a:1 by=y"}},
		"of a process that had none":            {"", []string{legacy, "2 0:10 bot release a:1 nonce=m by=x", "3 0:11 bot release a:1 by=y"}},
		"a tombstone of one process":            {"", []string{"2 0:10 bot release a:1 nonce=m", "3 0:11 bot release a:1 by=y"}},
		"a tombstone twice":                     {"3", []string{"2 0:10 bot release a:1 by=x", "3 0:11 bot release a:1 nonce=m by=y"}},
		"one that undoes":                       {"", []string{"2 0:10 bot release a:1 by=x", "3 0:11 bot release a:1 by=y outcome=bundle-claim-rolled-back"}},
		"one that moves the stage":              {"", []string{"2 0:10 bot release a:1 by=x", "3 0:11 bot release a:1 by=y stage=review"}},
		"a reset":                               {"3", []string{held, "2 0:10 bot reset a:1 by=x", "3 0:11 bot reset a:1 by=y"}},
		"a reset of another key":                {"", []string{held, "2 0:10 bot reset a:1 by=x", "3 0:11 bot reset b:1 by=y"}},
		"a restart":                             {"", []string{held, "2 0:10 bot reset a:1 by=x", "3 0:11 bot reset a:1 by=y restart=yes"}},
		"a reset after what the first is about": {"4", []string{
			held, "2 0:10 bot reset a:1 by=x", "3 0:11 bot release a:1 outcome=stale-swept by=s", "4 0:12 bot reset a:1 by=y",
		}},
		"a reset after what its worker reports": {"", []string{
			held, "2 0:10 bot reset a:1 by=x", "3 0:11 bot release a:1 outcome=failure", "4 0:12 bot reset a:1 by=y",
		}},
		"a reset after another claim": {"", []string{
			held, "2 0:10 bot reset a:1 by=x", "3 0:11 bot claim b:1 nonce=n", "4 0:12 bot reset a:1 by=y",
		}},
	} {
		got := ""
		for _, e := range stateOf(t, strings.Join(c.log, "\n")).Idle {
			got += strconv.FormatInt(e.ID, 10)
		}
		if got != c.idle {
			t.Errorf("%s: %q, want %q", name, got, c.idle)
		}
	}
}
