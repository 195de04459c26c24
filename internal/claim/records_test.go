package claim_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
)

// A recordCase is one case of testdata/records.txt.
type recordCase struct {
	line       int
	body, want string
}

func recordCases(t testing.TB) []recordCase {
	t.Helper()
	text, err := os.ReadFile("testdata/records.txt")
	if err != nil {
		t.Fatal(err)
	}

	var cases []recordCase
	for i, line := range strings.Split(string(text), "\n") {
		want, isWant := strings.CutPrefix(line, "=> ")
		switch {
		case line == "" || line[0] == '#':
		case isWant:
			cases[len(cases)-1].want = want
		default:
			cases = append(cases, recordCase{line: i + 1, body: recordBody(t, line)})
		}
	}

	return cases
}

func recordBody(t testing.TB, line string) string {
	t.Helper()
	if line[0] != '"' {
		return line
	}

	body, err := claimtest.Unquote(line)
	if err != nil {
		t.Fatal(err)
	}

	return body
}

func TestRecordVectors(t *testing.T) {
	cases := recordCases(t)
	if len(cases) < 150 {
		t.Fatalf("read %d cases, want all of them", len(cases))
	}

	for _, c := range cases {
		t.Run(fmt.Sprintf("line %d", c.line), func(t *testing.T) {
			if got := decoded(claim.Decode(c.body)); got != c.want {
				t.Errorf("Decode(%.200q)\n got %s\nwant %s", c.body, got, c.want)
			}
		})
	}
}

// decoded writes what Decode returned as the vectors do.
func decoded(r claim.Record, ok bool, err error) string {
	switch {
	case err != nil:
		return "ignored: " + err.Error()
	case !ok:
		return "talk"
	}

	out := []string{string(r.Kind)}
	for _, f := range fieldsOf(r) {
		if f.Value != "" {
			out = append(out, f.Key+"="+plain(f.Value))
		}
	}

	for _, f := range r.Extra {
		out = append(out, "x."+f.Key+"="+plain(f.Value))
	}

	return strings.Join(out, " ")
}

func fieldsOf(r claim.Record) []claim.Field {
	state := ""
	if r.Held {
		state = "held"
	}

	return []claim.Field{
		{"codename", r.Worker.Codename},
		{"firing_id", r.Worker.FiringID},
		{"outcome", r.Outcome},
		{"by", r.By},
		{"reason", r.Reason},
		{"pr", r.PR},
		{"link", link(r)},
		{"restart", restart(r)},
		{"stage", r.Stage},
		{"ts", stamp(r.At)},
		{"nonce", r.Nonce},
		{"ttl", seconds(r.TTL)},
		{"attempt", number(int64(r.Attempt))},
		{"not_before", stamp(r.NotBefore)},
		{"state", state},
		{"hb", number(r.Heartbeat)},
		{"token", number(r.Token)},
		{"lease", r.Lease},
		{"branch", r.Branch},
		{"bundle", r.Bundle},
		{"was", r.Was},
		{"person", r.Person},
		{"assignee", r.Assignee},
		{"forced", r.Forced},
	}
}

func restart(r claim.Record) string {
	if r.Restart {
		return "yes"
	}
	return ""
}

func link(r claim.Record) string {
	if r.Closes {
		return "closes"
	}
	return ""
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

func seconds(d time.Duration) string {
	switch d {
	case 0:
		return ""
	case claim.NoExpiry:
		return "none"
	}

	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

func plain(s string) string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
	if s == "" || strings.ContainsFunc(s, odd) {
		return claimtest.Quote(s)
	}
	return s
}

// TestRecordVectorsAreWrittenBack: whatever counts can be written again and then means the same.
func TestRecordVectorsAreWrittenBack(t *testing.T) {
	kinds := map[claim.Kind]bool{}
	for _, c := range recordCases(t) {
		r, ok, _ := claim.Decode(c.body)
		if !ok {
			continue
		}

		kinds[r.Kind] = true
		text, err := claim.Encode(r)
		if err != nil {
			if len(c.body) < 8<<10 {
				t.Errorf("line %d: Encode: %v", c.line, err)
			}
			continue
		}

		if again := decoded(claim.Decode(text)); again != c.want {
			t.Errorf("line %d: written back it is\n     %s\nwant %s", c.line, again, c.want)
		}
	}

	for _, k := range claim.Kinds() {
		if !kinds[k] {
			t.Errorf("no vector has a record of kind %s", k)
		}
	}
}
