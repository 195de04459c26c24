package lifecycle_test

import (
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

var ended = time.Date(2026, 5, 1, 1, 0, 0, 0, time.UTC)

// failed is the state of an issue whose only attempt failed at ended.
func failed(t interface{ Fatal(...any) }, w claim.Worker) claim.State {
	var log []claim.Comment
	for i, r := range []claim.Record{
		{
			Kind:   claim.KindClaim,
			Worker: w,
			Nonce:  "n",
			Held:   true,
		},
		{Kind: claim.KindRelease, Worker: w, Outcome: claim.OutcomeFailure},
	} {
		body, err := claim.Encode(r)
		if err != nil {
			t.Fatal(err)
		}

		log = append(log, claim.Comment{
			ID:      int64(i),
			Created: ended,
			Updated: ended,
			Author:  "bot",
			Trusted: true,
			Body:    body,
		})
	}

	return claim.Replay(log)
}

func TestRestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/rest.txt")
	if err != nil {
		t.Fatal(err)
	}

	ran := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		ran++
		f := strings.Fields(line)
		codename, firing, _ := strings.Cut(f[0], ":")
		hash := fnv.New32a()
		hash.Write([]byte(f[0]))
		if got := strconv.FormatUint(uint64(hash.Sum32()), 10); got != f[1] {
			t.Errorf("hash of %s = %s, want %s", f[0], got, f[1])
		}

		rules := lifecycle.Rules{Rest: []time.Duration{milliseconds(t, f[2])}}
		s := failed(t, claim.Worker{Codename: codename, FiringID: firing})
		if got := rules.RestUntil(s).Sub(ended); got != milliseconds(t, f[3]) {
			t.Errorf("%s rests %d ms of %s, want %s", f[0], got.Milliseconds(), f[2], f[3])
		}
	}

	if ran < 70 {
		t.Errorf("ran %d cases, want all of them", ran)
	}
}

func milliseconds(t *testing.T, s string) time.Duration {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n) * time.Millisecond
}

// TestOwnExpiry: an issue rests after a hold has expired, but not for whose hold it was.
func TestOwnExpiry(t *testing.T) {
	f := logged(t, []string{"agent:implement"},
		"1 9:00 bot claim a:1 nonce=n ttl=30m state=held", "2 9:59 sweep release a:1 outcome=stale-swept")
	for asker, want := range map[string]lifecycle.Answer{"a": lifecycle.Free, "b": lifecycle.Held} {
		own := func(w claim.Worker) bool { return w.Codename == asker }
		if v := lifecycle.DefaultRules().Verdict(f, lifecycle.Seeker{Earlier: own}); v.Answer != want {
			t.Errorf("%s: %s, want %v", asker, v, want)
		}
	}
}

func TestRestStaysWithinAQuarter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringN(1, 20, 80)
		s := failed(t, claim.Worker{Codename: name.Draw(t, "codename"), FiringID: name.Draw(t, "firing id")})
		rest := time.Duration(rapid.Int64Range(0, int64(200*24*time.Hour)).Draw(t, "rest"))
		got := lifecycle.Rules{Rest: []time.Duration{rest}}.RestUntil(s).Sub(ended)
		if slack := 2 * time.Millisecond; got < rest*3/4-slack || got > rest*5/4+slack {
			t.Fatalf("rests %s of %s", got, rest)
		}
	})
}
