package sample_test

import (
	"flag"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/sample"
)

// TestPlays: every case is of one kind in an ordinary run, the kinds are about as large as each
// other, and all are played otherwise.
func TestPlays(t *testing.T) {
	const cases, kinds = 900, 3
	count := func() (played [kinds]int) {
		for c := range cases {
			for n := range kinds {
				if sample.Plays(fmt.Sprint("case ", c), n, kinds) {
					played[n]++
				}
			}
		}

		return played
	}

	t.Setenv("LABEL_STATE_TEST", "")
	some := count()
	if sum := some[0] + some[1] + some[2]; sum != cases || min(some[0], some[1], some[2]) < cases/kinds/2 {
		t.Errorf("%v of %d cases", some, cases)
	}

	t.Setenv("LABEL_STATE_TEST", "all")
	if all := count(); all != [kinds]int{cases, cases, cases} {
		t.Errorf("%v of %d cases, want all", all, cases)
	}
}

// TestChecks: an ordinary run checks a property less often, for the time of one test; all of it is
// as often as rapid says.
func TestChecks(t *testing.T) {
	count := func(t *testing.T) (n int) {
		rapid.Check(t, func(*rapid.T) { n++ })
		return n
	}

	usual := count(t)
	for _, c := range []struct {
		mode, checks string
		want         int
	}{{"", "", 7}, {"all", "", usual}, {"", "3000", usual}} {
		t.Setenv("LABEL_STATE_TEST", c.mode)
		t.Setenv("RAPID_CHECKS", c.checks)
		t.Run(c.mode+c.checks, func(t *testing.T) {
			sample.Checks(t, 7)
			if n := count(t); n != c.want {
				t.Errorf("%d checks, want %d", n, c.want)
			}
		})
	}

	if n := count(t); n != usual || flag.Lookup("rapid.checks").Value.String() != fmt.Sprint(usual) {
		t.Errorf("%d checks afterwards, want %d", n, usual)
	}
}
