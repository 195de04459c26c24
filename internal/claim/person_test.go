package claim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// TestPersons: whose hold a person's is, in any case, and which one ended last.
func TestPersons(t *testing.T) {
	s := stateOf(t, `1 0:00 ann claim ann:1 nonce=n state=held person=ann
2 0:01 ann release ann:1 outcome=cancelled
3 0:02 bob claim bob:1 nonce=n person=bob
4 0:03 bob claim bob:2 nonce=n state=held person=bob
5 0:04 bot claim a:1 nonce=n state=held
6 0:05 bot release a:1 outcome=failure`)

	if c, ok := s.HeldBy("BOB"); !ok || c.Record.Worker.FiringID != "2" {
		t.Errorf("bob holds it by %s, want the confirmed claim", c.Record.Worker)
	}
	for _, login := range []string{"ann", "bot"} {
		if c, ok := s.HeldBy(login); ok {
			t.Errorf("%s holds it by %s", login, c.Record.Worker)
		}
	}
	if c, ok := s.LastPerson(); !ok || c.Person != "ann" {
		t.Errorf("the last person's hold was %s", c.Record.Worker)
	}
	if !s.Worked("Bot") || s.Worked("ann") {
		t.Errorf("bot works here: %t, ann does: %t", s.Worked("Bot"), s.Worked("ann"))
	}
}

// TestRenewedLeavesTheState: what a claim is after an edit is not written into the one before it.
func TestRenewedLeavesTheState(t *testing.T) {
	s := stateOf(t, held)
	c := s.Claims[0]
	r := c.Record
	r.Heartbeat = 7
	if next := c.Renewed(r, at(t, "0:20")); next.Bids[0].Record.Heartbeat != 7 || next.Record.Heartbeat != 7 ||
		c.Bids[0].Record.Heartbeat != 0 {
		t.Errorf("%d after it, and %d before", next.Bids[0].Record.Heartbeat, c.Bids[0].Record.Heartbeat)
	}
}

// TestLasting: what was undone is as if it had never been, but for a reset of it.
func TestLasting(t *testing.T) {
	s := stateOf(t, `1 0:00 bot claim a:1 nonce=n state=held hb=0 bundle=checkout
2 0:05 bot release a:1 outcome=failure
3 0:06 ann reset a:1 by=ann`).Lasting()
	kinds := []claim.Kind{}
	for _, e := range s.Log {
		kinds = append(kinds, e.Record.Kind)
	}
	if len(s.Claims) > 0 || !slices.Equal(kinds, []claim.Kind{claim.KindReset}) || !s.Last.Equal(at(t, "0:06")) {
		t.Errorf("%d claims, records %v, the last at %s", len(s.Claims), kinds, s.Last)
	}
}

// TestStoredRenewal: where a store names the holder, the order of the log does not matter.
func TestStoredRenewal(t *testing.T) {
	b := claim.Worker{Codename: "b", FiringID: "2"}
	s := stateOf(t, held+"\n2 0:01 bot claim b:2 nonce=m state=held ttl=2h lease=refs token=3")
	s = s.Ruled(claim.Ruling{Worker: b, Nonce: "m", Token: 3, TTL: time.Hour, Until: at(t, "1:01")})
	if err := s.RefuseRenewal(b, "bot", claim.DefaultTerms(), at(t, "0:10"), 0); err != nil {
		t.Error(err)
	}
}
