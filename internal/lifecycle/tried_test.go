package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestTried: who comes next is told of the newest five holds that have ended, with the last note
// where the end gives no reason.
func TestTried(t *testing.T) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	var log []claim.Comment
	say := func(record string) {
		n := len(log)
		now := at.Add(time.Duration(n) * time.Hour)
		log = append(log, claim.Comment{
			ID:      int64(n + 1),
			Created: now,
			Updated: now,
			Author:  "bot",
			Trusted: true,
			Body:    "<!-- agent-" + record + " -->",
		})
	}

	for n := range 6 {
		say(fmt.Sprintf("claim:codename=w%d firing_id=1 nonce=n state=held ttl=4h branch=fix/%d reason=begun", n, n))
		say(fmt.Sprintf("release:codename=w%d firing_id=1 outcome=failure reason=no%%20%d pr=https://x/%d", n, n, n))
	}

	say("claim:codename=w6 firing_id=1 nonce=n state=held ttl=4h reason=half%20done")
	say("release:codename=w6 firing_id=1 outcome=stale-swept")
	say("claim:codename=loser firing_id=1 nonce=n ttl=4h")
	say("release:codename=loser firing_id=1 nonce=n outcome=race-yielded-to=w5:1")
	say("claim:codename=second firing_id=1 nonce=n state=held ttl=4h")
	say("release:codename=second firing_id=1 nonce=n outcome=race-yielded-to=w5:1")
	say("claim:codename=undone firing_id=1 nonce=n state=held ttl=4h bundle=x")
	say("release:codename=undone firing_id=1 nonce=n outcome=bundle-claim-rolled-back")
	say("claim:codename=now firing_id=1 nonce=n state=held ttl=4h")

	var got []string
	for _, one := range (lifecycle.Facts{Log: claim.Replay(log)}).Tried() {
		got = append(got, fmt.Sprint(one.Worker.Codename, one.Outcome, one.Reason, one.Branch, one.PR, one.At.Hour()))
	}

	want := "w6stale-swepthalf done13 w5failureno 5fix/5https://x/511 w4failureno 4fix/4https://x/49 w3failureno 3fix/3https://x/37 " +
		"w2failureno 2fix/2https://x/25"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}
