package app

import (
	"os"
	"strings"
	"testing"
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
	switch {
	case want == string(data):
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not show what is printed; go test ./internal/cli/app -run TestOperators -update\n%s",
			page, want)
	}

	for _, part := range []string{
		"lost acme/app#1 by force", "the hold has ended: forced by olga",
		"released the hold of drake:run-9",
	} {
		if !strings.Contains(want, part) {
			t.Errorf("the page shows no %q", part)
		}
	}
}
