package lifecycle_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestExcessSays: how many issues are named, and of what they are too many.
func TestExcessSays(t *testing.T) {
	for want, e := range map[string]lifecycle.Excess{
		"names 1,000 issues or more, more than the 20":         {Issues: 1000, Most: 20},
		"names 1 issue; with the 3 of the older open pull req": {Issues: 1, Before: 3, Most: 3},
	} {
		if !strings.Contains(e.String(), want) {
			t.Errorf("%s, want %s", e, want)
		}
	}
}

// TestOutsiderVectors: testdata/outsiders.txt.
func TestOutsiderVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/outsiders.txt")
	if err != nil {
		t.Fatal(err)
	}

	asked, cases := "", 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		want, answer := strings.CutPrefix(line, "-> ")
		switch {
		case line == "" || line[0] == '#':
		case !answer:
			asked = line
		default:
			cases++
			head, rest, _ := strings.Cut(asked, ":")
			words := strings.Fields(head)
			most, err := strconv.Atoi(words[0])
			if err != nil {
				t.Fatal(asked, err)
			}

			who := lifecycle.Stranger
			switch {
			case slices.Contains(words, "member"):
				who = lifecycle.Member
			case slices.Contains(words, "outsider"):
				who = lifecycle.Outsider
			}

			var named [][]claim.Issue
			for part := range strings.SplitSeq(rest, "|") {
				var issues []claim.Issue
				for _, n := range strings.Fields(part) {
					from, to, several := strings.Cut(n, "-")
					first, err := strconv.Atoi(from)
					last := first
					if several && err == nil {
						last, err = strconv.Atoi(to)
					}
					if err != nil {
						t.Fatal(asked, err)
					}

					for number := first; number <= last; number++ {
						owner := []string{"acme", "ACME"}[len(issues)%2] // spelling makes no other issue
						issues = append(issues, claim.Issue{Owner: owner, Repo: "app", Number: number})
					}
				}

				named = append(named, issues)
			}

			var got []string
			for _, excess := range lifecycle.Excessive(who, slices.Contains(words, "elsewhere"), most, named) {
				got = append(got, map[bool]string{true: "yes", false: "no"}[excess == nil])
			}

			if strings.Join(got, " ") != want {
				t.Errorf("%s: %v, want %s", asked, got, want)
			}
		}
	}

	if cases < 10 {
		t.Errorf("only %d cases", cases)
	}
}
