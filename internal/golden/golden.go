// Package golden holds what a test makes against a text in the repository.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the texts that tests compare with; look at the difference")

// Updating reports whether the test was run with -update.
func Updating() bool { return *update }

// Section compares a text with what stands in a page between the comments <!-- name --> and
// <!-- /name -->, or writes it there when the test is run with -update.
func Section(t testing.TB, page, name, got string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}

	first, last := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, begins := strings.Cut(string(data), first)
	_, after, ends := strings.Cut(rest, last)
	if !begins || !ends {
		t.Fatalf("%s has no place for %s", page, name)
	}

	Check(t, page, before+first+got+last+after)
}

// Check compares a text with a file, below the test's folder, or writes it there when the test is
// run with -update.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}

	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	if got != string(want) {
		t.Errorf("%s differs; run this test with -update and look at the difference\n%s", file, got)
	}
}
