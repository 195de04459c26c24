package app

import (
	"os"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/golden"
)

// TestOperators plays docs/operators.md from top to bottom: what it shows is what is printed. With
// -update it is written anew.
func TestOperators(t *testing.T) {
	const page = "../../../docs/operators.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}

	want := withExamples(t, string(data))
	golden.Check(t, page, want)

	for _, part := range []string{
		"lost acme/app#1 by force", "the hold has ended: forced by olga",
		"released the hold of drake:run-9",
	} {
		if !strings.Contains(want, part) {
			t.Errorf("the page shows no %q", part)
		}
	}
}
