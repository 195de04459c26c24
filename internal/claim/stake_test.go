package claim_test

import (
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
)

// TestStakes: whose role does not matter, because everybody who wrote a claim comment of the key
// has ended it: the key, or the bid that the comment is of (spec.md#which-records-count).
func TestStakes(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		over  bool
	}{
		"a claim": {[]string{"1 0:00 ann claim a:1 nonce=n"}, false},
		"released by its author": {[]string{
			"1 0:00 ann claim a:1 nonce=n",
			"2 0:01 Ann release a:1 outcome=failure",
		}, true},
		"released by another one": {[]string{
			"1 0:00 ann claim a:1 nonce=n",
			"2 0:01 bob release a:1 by=bob",
		}, false},
		"two authors, one release": {[]string{
			"1 0:00 ann claim a:1 nonce=n",
			"2 0:01 bob claim a:1 nonce=m", "3 0:02 ann release a:1",
		}, false},
		"its bid is ended": {[]string{
			"1 0:00 ann claim a:1 nonce=n",
			"2 0:01 ann release a:1 nonce=n outcome=abandoned",
		}, true},
		"the bid of another process is ended": {[]string{
			"1 0:00 ann claim a:1 nonce=n",
			"2 0:01 ann release a:1 nonce=m outcome=abandoned",
		}, false},
		"one of two bids is ended": {[]string{
			"1 0:00 ann claim a:1 nonce=n",
			"2 0:00 ann claim a:1 nonce=m", "3 0:01 ann release a:1 nonce=m",
		}, false},
		"each of two bids is ended": {[]string{
			"1 0:00 ann claim a:1 nonce=n",
			"2 0:00 ann claim a:1 nonce=m", "3 0:01 ann release a:1 nonce=m", "4 0:01 ann release a:1 nonce=n",
		}, true},
		"a release with a token may not end it": {[]string{
			"1 0:00 ann claim a:1 nonce=n",
			"2 0:01 ann claim a:1 nonce=m resumes=n", "3 0:02 ann release a:1 token=2",
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var log []claim.Comment
			for _, line := range c.lines {
				comment, err := claimtest.Comment(line)
				if err != nil {
					t.Fatal(err)
				}
				log = append(log, comment)
			}

			if got := claim.Stakes(log); len(got) != 1 || got[0].Over != c.over {
				t.Errorf("%+v, want over %t", got, c.over)
			}
		})
	}
}
