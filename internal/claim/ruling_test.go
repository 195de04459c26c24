package claim_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// stored is a log with three live claims that a store decided, or that the log did, and one that
// has ended.
const stored = `1 0:00 bot claim a:1 nonce=n ttl=1800 state=held lease=refs token=3
2 0:01 bot claim b:2 nonce=n ttl=1800 state=held lease=refs token=5
3 0:02 bot claim c:3 nonce=n ttl=1800 state=held
4 0:03 bot claim d:4 nonce=n ttl=1800 state=held lease=refs token=4
5 0:04 bot release d:4 outcome=success`

func names(claims []claim.Claim) (out []string) {
	for _, c := range claims {
		out = append(out, c.Record.Worker.String())
	}
	return out
}

// TestRuled: whom the store names holds the issue, whatever the log says of it; claims that it had
// decided and does not name are overruled; a claim that the log decided stands
// (stores.md#lease-stores).
func TestRuled(t *testing.T) {
	for name, c := range map[string]struct {
		worker          claim.Worker
		live, overruled []string
	}{
		"one of the log": {claim.Worker{Codename: "b", FiringID: "2"}, []string{"b:2", "c:3"}, []string{"a:1"}},
		"one that has ended": {
			claim.Worker{Codename: "d", FiringID: "4"},
			[]string{"c:3", "d:4"},
			[]string{"a:1", "b:2"},
		},
		"one without record": {
			claim.Worker{Codename: "e", FiringID: "5"},
			[]string{"c:3", "e:5"},
			[]string{"a:1", "b:2"},
		},
		"nobody": {claim.Worker{}, []string{"c:3"}, []string{"a:1", "b:2"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stateOf(t, stored)
			got := s.Ruled(claim.Ruling{
				Worker: c.worker,
				Token:  9,
				TTL:    time.Hour,
				Until:  at(t, "2:00"),
			})

			if live, over := names(got.Live()), names(got.Overruled()); !slices.Equal(live, c.live) ||
				!slices.Equal(over, c.overruled) {
				t.Errorf("live %q, overruled %q; want %q and %q", live, over, c.live, c.overruled)
			}

			if own, ok := got.Find(c.worker); ok {
				if end, ends := own.Until(claim.DefaultTerms()); !ends || !own.Held() || own.Record.Token != 9 ||
					!end.Equal(at(t, "2:00")) || own.Expired(claim.DefaultTerms(), at(t, "9:00")) ||
					own.Overdue(claim.DefaultTerms(), at(t, "9:00")) {
					t.Errorf("%+v, want the store's token and end", own)
				}
			}

			untold, _ := s.Ruled(claim.Ruling{Worker: c.worker, TTL: time.Hour}).Find(c.worker)
			if end, _ := untold.Until(claim.DefaultTerms()); c.worker.Codename == "b" && !end.Equal(at(t, "1:01")) {
				t.Errorf("the store tells no end, and the hold ends at %s", end)
			}

			if before := names(s.Live()); !slices.Equal(before, []string{"a:1", "b:2", "c:3"}) {
				t.Errorf("the state itself changed: %q", before)
			}
		})
	}
}

// TestByToken: of what a store decided the largest token stands; what the log decided has none and
// stands, too.
func TestByToken(t *testing.T) {
	s := stateOf(t, stored)
	got := s.ByToken()
	if live, over := names(got.Live()), names(got.Overruled()); !slices.Equal(live, []string{"b:2", "c:3"}) ||
		!slices.Equal(over, []string{"a:1"}) {
		t.Errorf("live %q, overruled %q; want b:2 and c:3, and a:1", live, over)
	}

	if before := names(s.Live()); !slices.Equal(before, []string{"a:1", "b:2", "c:3"}) {
		t.Errorf("the state itself changed: %q", before)
	}
}

// TestLargestToken: a store's next token is larger than all in the log, also than that of a release
// whose claim is not there (stores.md).
func TestLargestToken(t *testing.T) {
	for log, want := range map[string]int64{
		stored: 5,
		stored + "\n9 0:30 bot release gone:1 outcome=failure token=7": 7,
	} {
		if got := stateOf(t, log).LargestToken(); got != want {
			t.Errorf("%q: %d, want %d", log, got, want)
		}
	}
}

// TestRuledProcess: of the processes of one key the one has the hold that the store names, with its
// comment if it has written one.
func TestRuledProcess(t *testing.T) {
	key := claim.Worker{Codename: "a", FiringID: "1"}
	s := stateOf(t, `1 0:00 bot claim a:1 nonce=n ttl=1800 state=held lease=refs token=3
2 0:01 bot claim a:1 nonce=m resumes=n ttl=1800 state=held lease=refs token=4`)
	for nonce, comment := range map[string]int64{"n": 1, "m": 2, "unwritten": 0} {
		own, _ := s.Ruled(claim.Ruling{Worker: key, Nonce: nonce, Token: 5, TTL: time.Hour}).Find(key)
		if own.Record.Nonce != nonce || own.Comment != comment {
			t.Errorf("%s: process %s with comment %d", nonce, own.Record.Nonce, own.Comment)
		}
	}
}

// TestOverruledReleases: who lost its lease may still say how the work ended, until somebody else
// has the issue.
func TestOverruledReleases(t *testing.T) {
	s := stateOf(t, held+" lease=refs token=3")
	r := claim.Record{Kind: claim.KindRelease, Worker: claim.Worker{Codename: "a", FiringID: "1"}}
	for codename, want := range map[string]error{"": nil, "b": claim.ErrEnded} {
		now := s.Ruled(claim.Ruling{Worker: claim.Worker{Codename: codename, FiringID: codename}, TTL: time.Hour})
		if got := now.Refuse(r, "bot", claim.DefaultTerms(), at(t, "0:40")); !errors.Is(got, want) {
			t.Errorf("the store names %q: %v, want %v", codename, got, want)
		}
	}
}

// TestBehalfBegins: a hold that somebody wrote down before its worker did began with that.
func TestBehalfBegins(t *testing.T) {
	s := stateOf(t, `1 0:00 bot claim a:1 nonce=n ttl=1800 state=held lease=refs token=3 by=sweep-1
2 0:01 bot claim a:1 nonce=n ttl=1800 state=held lease=refs token=3`)
	if got := s.Claims[0].Created; !got.Equal(at(t, "0:00")) {
		t.Errorf("it began at %s", got)
	}
}
