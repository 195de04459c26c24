package pushcheck

import (
	"strconv"
	"testing"
	"time"
)

func TestBegin(t *testing.T) {
	now := time.Unix(1_700_000_000, 5)
	at := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).UnixNano(), 10) }
	for first, want := range map[string]time.Duration{
		at(0): 0, at(-40 * time.Millisecond): -40 * time.Millisecond, at(-3 * time.Second): -3 * time.Second,
		"": 0, "soon": 0, at(time.Second): 0, at(-time.Hour): 0, "-1": 0, "99999999999999999999": 0,
	} {
		if got := begin(first, now); !got.Equal(now.Add(want)) {
			t.Errorf("begin(%q) = %v, want %v", first, got, now.Add(want))
		}
	}
}
