package protocol

import (
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestKinds: a record of each kind that the ledger posts is found in the log after a lost answer,
// and has words for people. A claim and a plan are posted in other ways.
func TestKinds(t *testing.T) {
	before := map[claim.Kind]string{ // besides the hold
		claim.KindApprove: "2 0:05 bot plan a:1", claim.KindReject: "2 0:05 bot plan a:1",
		claim.KindReset:  "2 0:05 bot release a:1 outcome=failure",
		claim.KindUnlink: "2 0:05 bot release a:1 outcome=success pr=https://x/pull/3 link=closes",
	}

	for _, k := range claim.Kinds() {
		if k == claim.KindClaim || k == claim.KindPlan {
			continue
		}

		t.Run(string(k), func(t *testing.T) {
			var log []claim.Comment
			for _, line := range []string{"1 0:00 bot claim a:1 nonce=n state=held", before[k], "3 0:10 ann " +
				string(k) + " a:1 by=ann outcome=failure pr=https://x/pull/3"} {
				if line == "" {
					continue
				}
				c, err := claimtest.Comment(line)
				if err != nil {
					t.Fatal(err)
				}

				log = append(log, c)
			}

			r, _, err := claim.Decode(log[len(log)-1].Body)
			if err != nil {
				t.Fatal(err)
			}

			was := claim.Replay(log[:len(log)-1])
			if there := landedAs(r, was, was); there {
				t.Error("it is found in a log without it")
			}

			if there := landedAs(r, was, claim.Replay(log)); !there {
				t.Error("it is not found in the log, and would be posted twice")
			}

			if got := sentence(lifecycle.Facts{}, r); got == whose(r.Worker)+" "+string(k)+by(r)+"." {
				t.Errorf("its words are %q", got)
			}
		})
	}
}
