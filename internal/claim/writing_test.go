package claim_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
)

// TestWritingVectors: a record that was read is written as the contract says (spec-writing.md#writing-a-record).
func TestWritingVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/writing.txt")
	if err != nil {
		t.Fatal(err)
	}

	cases, body := 0, ""
	for n, line := range strings.Split(string(text), "\n") {
		want, answer := strings.CutPrefix(line, "=> ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !answer:
			body = line
		default:
			cases++
			r, ok, err := claim.Decode(recordBody(t, body))
			if !ok || err != nil {
				t.Fatalf("line %d: no record: %v", n, err)
			}

			got, err := claim.Encode(r)
			if errors.Is(err, claim.ErrUnwritable) {
				got = "refused"
			}

			if got != recordBody(t, want) {
				t.Errorf("line %d:\n%s\nwant\n%s", n+1, got, want)
			}
		}
	}

	if cases < 20 {
		t.Errorf("%d cases; the file has more", cases)
	}
}
