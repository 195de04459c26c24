package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

func numbered(n int) claim.Issue { return claim.Issue{Owner: "o", Repo: "r", Number: n} }

func TestCircles(t *testing.T) {
	for name, c := range map[string]struct {
		waits string // 1>2 2>1
		want  string
	}{
		"none":           {"1>2 2>3 4>2", ""},
		"two":            {"2>1 1>2", "[1 2]"},
		"itself":         {"5>5", "[5]"},
		"a tail":         {"1>2 2>3 3>2", "[2 3]"},
		"two apart":      {"1>2 2>1 7>9 9>8 8>7", "[1 2] [7 9 8]"},
		"a diamond":      {"1>2 1>3 2>4 3>4", ""},
		"from the side":  {"9>1 1>3 3>2 2>1", "[1 3 2]"},
		"nothing at all": {"", ""},
	} {
		waits := map[claim.Issue][]claim.Issue{}
		for _, pair := range strings.Fields(c.waits) {
			var a, b int
			if _, err := fmt.Sscanf(pair, "%d>%d", &a, &b); err != nil {
				t.Fatal(err)
			}

			other := numbered(b)
			other.Owner = "O" // GitHub does not tell them apart
			waits[numbered(a)] = append(waits[numbered(a)], other)
		}

		var got []string
		for _, ring := range lifecycle.Cycles(waits) {
			var numbers []int
			for _, i := range ring {
				numbers = append(numbers, i.Number)
			}
			got = append(got, fmt.Sprint(numbers))
		}

		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %s, want %s", name, all, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	for want, ring := range map[string][]claim.Issue{
		"":                                      nil,
		"o/r#5 waits for o/r#5":                 {numbered(5)},
		"o/r#1 waits for o/r#3 waits for o/r#1": {numbered(1), numbered(3)},
	} {
		if got := lifecycle.Round(lifecycle.Path(ring)); got != want {
			t.Errorf("%v: %q, want %q", ring, got, want)
		}
		if got := lifecycle.InCycle(lifecycle.Path(ring)); got != "blocked in a dependency cycle: "+want {
			t.Errorf("%v: %q, want the words about a cycle, and %q", ring, got, want)
		}
	}
}

// TestCirclesAreReal: every ring waits all the way round, and there is one exactly if peeling off
// what waits for nothing leaves something.
func TestCirclesAreReal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waits := map[claim.Issue][]claim.Issue{}
		left := map[claim.Issue]map[claim.Issue]bool{}
		for range rapid.IntRange(0, 15).Draw(t, "edges") {
			a, b := numbered(rapid.IntRange(1, 8).Draw(t, "a")), numbered(rapid.IntRange(1, 8).Draw(t, "b"))
			waits[a] = append(waits[a], b)
			if left[a] == nil {
				left[a] = map[claim.Issue]bool{}
			}
			left[a][b] = true
		}

		for peeled := true; peeled; {
			peeled = false
			for a, on := range left {
				for b := range on {
					if left[b] == nil {
						delete(on, b)
					}
				}

				if len(on) == 0 {
					delete(left, a)
					peeled = true
				}
			}
		}

		rings := lifecycle.Cycles(waits)
		if (len(rings) > 0) != (len(left) > 0) {
			t.Fatalf("rings %v, and %v cannot be peeled", rings, left)
		}

		for _, ring := range rings {
			for n, i := range ring {
				if next := ring[(n+1)%len(ring)]; !contains(waits[i], next) {
					t.Fatalf("%v does not wait for %v", i, next)
				}
			}
		}
	})
}

func contains(all []claim.Issue, i claim.Issue) bool {
	for _, o := range all {
		if o == i {
			return true
		}
	}
	return false
}

func TestStranded(t *testing.T) {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	unreadable := lifecycle.PR{
		Repo:     "o/r",
		Number:   9,
		State:    lifecycle.PRUnreadable,
		Recorded: true,
	}

	elsewhere := lifecycle.PR{
		Repo:     "o/r",
		Number:   9,
		State:    lifecycle.PRMerged,
		Base:     "develop",
		Recorded: true,
	}

	shipped := lifecycle.PR{
		Repo:        "o/r",
		Number:      9,
		State:       lifecycle.PRMerged,
		DefaultBase: true,
		MergedAt:    now,
	}

	for name, c := range map[string]struct {
		facts lifecycle.Facts
		want  string
	}{
		"in the queue":      {lifecycle.Facts{Labels: []string{"agent:implement"}}, ""},
		"nobody's business": {lifecycle.Facts{Labels: []string{"bug"}}, ""},
		"done beside the queue": {lifecycle.Facts{
			Labels:     []string{"agent:implement", "agent:done"},
			ReopenedAt: now,
		}, ""},
		"done": {lifecycle.Facts{Labels: []string{"agent:done"}}, "done and still open"},
		"shipped and open": {lifecycle.Facts{
			Labels: []string{"agent:implement"},
			PRs:    []lifecycle.PR{shipped},
		}, "was merged"},
		"claimed, age not known": {lifecycle.Facts{Labels: []string{"agent:in-flight"}}, "age not known"},
		"claimed a moment ago":   {lifecycle.Facts{Labels: []string{"agent:in-flight"}, ClaimedAt: now}, ""},
		"a plan label":           {lifecycle.Facts{Labels: []string{"agent:plan-pending-approval"}}, "plan label"},
		"a person's":             {lifecycle.Facts{Labels: []string{"agent:done", "Do-Not-Pickup"}}, ""},
		"too vague":              {lifecycle.Facts{Labels: []string{"agent:done", "needs:human-scope"}}, ""},
		"a pull request out of sight": {lifecycle.Facts{
			Labels: []string{"agent:pr-open"},
			PRs:    []lifecycle.PR{unreadable},
		}, "cannot be read"},
		"merged elsewhere, to ship": {lifecycle.Facts{
			Labels: []string{"agent:pr-open"},
			PRs:    []lifecycle.PR{elsewhere},
		}, ""},
		"not read": {lifecycle.Facts{
			Labels:  []string{"agent:done"},
			Missing: []string{"comments"},
		}, ""},
	} {
		f := c.facts
		f.Issue, f.Open, f.Now = numbered(7), true, now
		got := lifecycle.DefaultRules().Stranded(f)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}

		f.Now = time.Time{}
		if got := lifecycle.DefaultRules().Stranded(f); got != "" || lifecycle.DefaultRules().Stuck(f) {
			t.Errorf("%s, without server time: %q, or a reset begins it again", name, got)
		}

		f.Open, f.Now = false, now
		if got := lifecycle.DefaultRules().Stranded(f); got != "" {
			t.Errorf("%s, closed: %q", name, got)
		}
	}
}

// TestDueWake: an issue that slept wakes with words once its last blocker is closed; for one whose
// blockers are not known, or were taken away, nobody says anything.
func TestDueWake(t *testing.T) {
	slept := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	closed, open := lifecycle.Blocker{Issue: numbered(2)}, lifecycle.Blocker{Issue: numbered(3), Open: true}
	f := lifecycle.Facts{
		Issue:        numbered(7),
		Open:         true,
		Labels:       []string{"agent:implement", "agent:blocked"},
		BlockedAt:    slept,
		BlockersRead: true,
	}
	r := lifecycle.DefaultRules()
	for name, c := range map[string]struct {
		blockers []lifecycle.Blocker
		read     bool
		want     int
	}{
		"closed": {[]lifecycle.Blocker{closed}, true, 1}, "one is open": {[]lifecycle.Blocker{closed, open}, true, 0},
		"taken away": {nil, true, 0}, "not known": {[]lifecycle.Blocker{closed}, false, 0},
	} {
		f.Blockers, f.BlockersRead = c.blockers, c.read
		due := r.Due(f)
		if len(due) != c.want {
			t.Fatalf("%s: due %+v", name, due)
		}

		for _, n := range due {
			told := f
			told.Log = claim.Replay([]claim.Comment{{
				ID:      1,
				Author:  "bot",
				Trusted: true,
				Body:    n.Mark(),
			}})

			if again := r.Due(told); len(again) != 0 {
				t.Errorf("%s: due again: %+v", name, again)
			}

			if told.BlockedAt = slept.Add(time.Hour); len(r.Due(told)) != 1 {
				t.Errorf("%s: not due after another sleep", name)
			}
		}
	}
}
