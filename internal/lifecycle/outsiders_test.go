package lifecycle_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

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
			most, err := strconv.Atoi(head)
			if err != nil {
				t.Fatal(asked, err)
			}

			var named [][]claim.Issue
			for part := range strings.SplitSeq(rest, "|") {
				var issues []claim.Issue
				for _, n := range strings.Fields(part) {
					number, err := strconv.Atoi(n)
					if err != nil {
						t.Fatal(asked, err)
					}
					owner := []string{"acme", "ACME"}[len(issues)%2] // spelling makes no other issue
					issues = append(issues, claim.Issue{Owner: owner, Repo: "app", Number: number})
				}

				named = append(named, issues)
			}

			moves, _ := lifecycle.Allowance(most, named)
			var got []string
			for _, yes := range moves {
				got = append(got, map[bool]string{true: "yes", false: "no"}[yes])
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
