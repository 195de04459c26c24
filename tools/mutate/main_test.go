package main

import (
	"strings"
	"testing"
	"time"
)

// TestSample plays every mutant of the sample but one that is listed as equivalent.
func TestSample(t *testing.T) {
	const want = `testdata/sample/sample.go:11 Box.Fits: other.wide > 0 && b.wide >= other.wide -> b.wide >= other.wide
testdata/sample/sample.go:11 Box.Fits: b.wide >= other.wide -> b.wide > other.wide
testdata/sample/sample.go:23 Named: return map[string]Box{strings.ToLower(name): b} -> return zero
testdata/sample: 13 of 16 killed (81 %), seed 7, 17 mutants in all
`
	o := options{root: ".", jobs: 2, budget: time.Minute, seed: 7}
	if err := o.read("testdata/sample Box.Fits: other.wide > 0 -> other.wide >= 0\n\tno box is empty\n"); err != nil {
		t.Fatal(err)
	}
	if err := o.fit(); err != nil {
		t.Error(err)
	}

	var out strings.Builder
	if _, err := o.play("testdata/sample", &out); err != nil || out.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), want)
	}

	if err := o.read("testdata/sample Box.Fits: gone -> zero\n\tit moved\n"); err != nil || o.fit() == nil {
		t.Errorf("%v, and a line that is no mutant fits", err)
	}
	if o.read("testdata/sample Box.Fits: gone -> zero\n") == nil {
		t.Error("a line without a reason is read")
	}
}

// TestEdges plays what differs for equal values, or for names in another case.
func TestEdges(t *testing.T) {
	const want = `testdata/sample/sample.go:11 Box.Fits: other.wide > 0 -> other.wide >= 0
testdata/sample/sample.go:11 Box.Fits: b.wide >= other.wide -> b.wide > other.wide
testdata/sample/sample.go:23 Named: strings.ToLower(name) -> name
testdata/sample: 1 of 4 killed (25 %), seed 7, 4 mutants in all
`
	o := options{root: ".", jobs: 2, budget: time.Minute, seed: 7, edges: true}
	var out strings.Builder
	if _, err := o.play("testdata/sample", &out); err != nil || out.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), want)
	}
}
