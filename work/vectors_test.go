package work_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/label-state/label-state/work"
)

// vectors reads "left -> right" lines.
func vectors(t *testing.T, file string) [][2]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}

	var out [][2]string
	for text := range strings.Lines(string(data)) {
		text = strings.TrimRight(text, "\n")
		left, right, found := strings.Cut(text, " -> ")
		if !strings.HasPrefix(text, "#") && found {
			out = append(out, [2]string{left, right})
		}
	}

	if len(out) < 10 {
		t.Fatalf("%s has only %d vectors", file, len(out))
	}

	return out
}

func TestPriority(t *testing.T) {
	for _, v := range vectors(t, "priority.txt") {
		if got := work.DefaultWords().Of(strings.Split(v[0], " | ")); got.String() != v[1] {
			t.Errorf("%q is %s, want %s", v[0], got, v[1])
		}
	}

	if got := (work.Words{"someday": work.Low}).Of([]string{"someday", "p0"}); got != work.Low {
		t.Errorf("own words: %s", got)
	}
}

func TestIDs(t *testing.T) {
	if _, err := work.ParseID("github", "7"); err == nil ||
		err.Error() != `no such item "7": expected github-NUMBER` {
		t.Error(err)
	}

	for _, v := range vectors(t, "ids.txt") {
		n, err := work.ParseID("github", v[0])
		got := fmt.Sprint(n)
		var refused *work.Error
		if errors.As(err, &refused) && refused.Reason == work.NotFound {
			got = "no"
		}

		if got != v[1] {
			t.Errorf("%q: %s, want %s (%v)", v[0], got, v[1], err)
		}

		if err == nil && work.ID("github", n) != v[0] {
			t.Errorf("%q comes back as %q", v[0], work.ID("github", n))
		}
	}
}

func TestParsePriority(t *testing.T) {
	if p, err := work.ParsePriority("HIGH"); p != work.High || err != nil {
		t.Errorf("HIGH: %v %v", p, err)
	}
	const want = `priority: "soon": expected critical, high, medium, low`
	p, err := work.ParsePriority("soon")
	var option *work.OptionError
	if !errors.As(err, &option) || p != work.Medium || err.Error() != want || p.UnmarshalText([]byte("soon")) == nil {
		t.Errorf("soon: %v, %v", p, err)
	}
}
