package claim_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
)

// FuzzDecode: any text decodes without panic, and whatever counts can be written back or is
// refused.
func FuzzDecode(f *testing.F) {
	for _, c := range recordCases(f) {
		if len(c.body) < 4<<10 {
			f.Add(c.body)
		}
	}

	f.Fuzz(func(t *testing.T, body string) {
		r, ok, err := claim.Decode(body)
		if ok && err != nil {
			t.Fatalf("Decode(%q) counts and fails: %v", body, err)
		}

		if !ok {
			return
		}

		if r.Worker.Codename == "" || r.Worker.FiringID == "" {
			t.Fatalf("Decode(%q) counts without a worker", body)
		}
		checkRoundTrip(t, r)
		end := claim.Record{
			Kind:    claim.KindRelease,
			Worker:  r.Worker,
			Outcome: claim.OutcomeStaleSwept,
			By:      "sweep-20260501-000000-0",
		}

		if !checkRoundTrip(t, end) {
			t.Fatalf("Decode(%q) counts and could never be ended", body)
		}
	})
}

// FuzzReplay takes a log in the notation of the vectors; lines that are none are left out.
func FuzzReplay(f *testing.F) {
	for _, c := range replayCases(f) {
		f.Add(strings.Join(c.In, "\n"))
	}

	f.Fuzz(func(t *testing.T, script string) {
		log := readableLines(script)
		want := claim.Replay(log)
		reversed := append(slices.Clone(log), log...)
		slices.Reverse(reversed)
		if got := claim.Replay(reversed); !reflect.DeepEqual(got, want) {
			t.Fatalf("backwards and twice:\n got %+v\nwant %+v", got, want)
		}

		checkHolder(t, want)
		checkPrefixes(t, log)
	})
}

func readableLines(script string) []claim.Comment {
	var log []claim.Comment
	seen := map[int64]bool{}
	for line := range strings.SplitSeq(script, "\n") {
		if len(log) == 30 {
			break
		}
		if strings.Contains(line, `\{`) {
			continue // a repetition can be made as long as memory
		}

		if c, err := claimtest.Comment(line); err == nil && !seen[c.ID] {
			seen[c.ID] = true
			log = append(log, c)
		}
	}

	return log
}

// checkPrefixes reads the log as it grew.
func checkPrefixes(t *testing.T, log []claim.Comment) {
	log = slices.Clone(log)
	slices.SortFunc(log, func(a, b claim.Comment) int {
		return claim.Rank{Created: a.Created, ID: a.ID}.Compare(claim.Rank{Created: b.Created, ID: b.ID})
	})
	before := claim.Replay(nil)
	for i := range log {
		after := claim.Replay(log[:i+1])
		checkForward(t, before, after)
		before = after
	}
}
