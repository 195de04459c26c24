package printable_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/printable"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"Retry the upload":          "Retry the upload",
		"\x1b[31mred\x1b[0m\a":      "[31mred[0m",
		"two\nlines\tand\ra return": "two lines and a return",
		"\u202eevil\u2066":          "evil",
		"bad \xff byte":             "bad \ufffd byte",
		"größer 漢字":                 "größer 漢字",
	} {
		if got := printable.Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestLineIsPrintable: whatever a title, a login or an error holds, a terminal gets one line of
// text.
func TestLineIsPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		if got := printable.Line(text); strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Line(%q) = %q", text, got)
		}
	})
}

// TestShort: as much of a text as was asked for, in one line, and no more of it is read than that
// takes.
func TestShort(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{" a\n\tb \x1b[31m", 5, "a b…"},
		{"one two", 5, "one…"},
		{"grün\u2028\u200bgelb", 9, "grün gelb"},
		{"\u202e\x00 \n", 3, ""},
		{"bad \xff byte", 20, "bad \ufffd byte"},
		{strings.Repeat("x", 1<<20), 3, "xx…"},
	} {
		if got := printable.Short(c.text, c.most); got != c.want {
			t.Errorf("Short(%.20q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// TestShortIsALine: Short is Line, folded and cut.
func TestShortIsALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(1, 30).Draw(t, "most")
		got, all := printable.Short(text, most), strings.Join(strings.Fields(printable.Line(text)), " ")
		begin, cut := strings.CutSuffix(got, "…")
		if got != all && !(cut && strings.HasPrefix(all, begin)) || utf8.RuneCountInString(got) > most {
			t.Errorf("Short(%q, %d) = %q of %q", text, most, got, all)
		}
	})
}

func TestLines(t *testing.T) {
	if got, want := printable.Lines("a\r\nb\rc\td\u2028e\x1b[2J\u202e\xff"), "a\nb\nc\td e[2J\ufffd"; got != want {
		t.Errorf("Lines = %q, want %q", got, want)
	}
}

// TestJSON: JSON means the same afterwards, and nothing in it is hidden.
func TestJSON(t *testing.T) {
	if got, want := string(printable.JSON([]byte("{\"title\":\"\u202eevil\u2066 größer \U000e0041\x7f\"}\n"))), `{"title":"\u202eevil\u2066 größer \udb40\udc41\u007f"}`+"\n"; got != want {
		t.Errorf("JSON = %q, want %q", got, want)
	}

	if got, want := string(printable.JSON([]byte("\"\xff\ufffd\""))), `"\ufffd`+"\ufffd\""; got != want {
		t.Errorf("a byte that is no text, and its sign: %q, want %q", got, want)
	}

	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(string(rapid.SliceOf(rapid.Rune()).Draw(t, "text")), "")
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}

		shown := printable.JSON(data)
		var back string
		if err := json.Unmarshal(shown, &back); err != nil || back != text {
			t.Errorf("%q became %q, %v", text, back, err)
		}

		if strings.ContainsFunc(string(shown), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("JSON(%q) = %q", data, shown)
		}
	})
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"short", 5, "short"}, {"longer", 4, "long…"}, {"grün", 3, "gr…"}, {"", 0, ""}} {
		if got := printable.Clip(c.text, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 45 * time.Second: "45s", 12*time.Minute + 59*time.Second: "12m", 3*time.Hour +
			20*time.Minute: "3h20m", 4 * time.Hour: "4h",
		time.Hour: "1h", 24 * time.Hour: "1d", 10*time.Hour + 20*time.Minute: "10h",
		12*time.Hour + 20*time.Minute: "12h", 5*24*time.Hour + 4*time.Hour: "5d4h", 400 * 24 * time.Hour: "400d",
	} {
		if got := printable.Span(d); got != want {
			t.Errorf("Span(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestExact(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Second: "1m30s", 30 * time.Minute: "30m", 4 * time.Hour: "4h", 4*time.Hour +
			time.Second: "4h0m1s", 10 * time.Minute: "10m",
	} {
		if got := printable.Exact(d); got != want {
			t.Errorf("Exact(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestMinute(t *testing.T) {
	east := time.Date(2026, 5, 1, 21, 42, 59, 0, time.FixedZone("", 2*60*60))
	if got, want := printable.Minute(east), "2026-05-01 19:42 UTC"; got != want {
		t.Errorf("Minute(%v) = %q, want %q", east, got, want)
	}
}

func TestBar(t *testing.T) {
	for part, want := range map[float64]string{-1: "░░░░", 0: "░░░░", 0.5: "██░░", 0.53: "██▏░", 1: "████", 7: "████"} {
		if full, rest := printable.Bar(part, 4); full+rest != want {
			t.Errorf("Bar(%v, 4) = %q, want %q", part, full+rest, want)
		}
	}
}

func TestCount(t *testing.T) {
	if got := printable.Count(1, "hold", "holds") + printable.Count(0, ", one", ", none"); got != "1 hold0 , none" {
		t.Errorf("Count: %q", got)
	}
}

// TestCause: a file's error is shown without its path, any other as it is.
func TestCause(t *testing.T) {
	path := &fs.PathError{Op: "open", Path: "/a", Err: fs.ErrNotExist}
	if printable.Cause(fmt.Errorf("read: %w", path)) != fs.ErrNotExist || printable.Cause(io.EOF) != io.EOF {
		t.Error("Cause is not what the system said")
	}
}

func TestNearest(t *testing.T) {
	known := []string{"claim", "dedup-check", "login", "log", "reconcile", "renew", "repo", "status"}
	for name, want := range map[string]string{
		"clam":    "claim",
		"cliam":   "claim",
		"lgo":     "log",
		"log":     "log",
		"lo":      "log",
		"lg":      "log",
		"l":       "",
		"rep":     "repo",
		"rene":    "renew",
		"nerew":   "renew",
		"check":   "dedup-check",
		"rec":     "reconcile",
		"re":      "",
		"st":      "",
		"sta":     "status",
		"statuss": "status",
		"xxatus":  "status",
		"xxxtus":  "",
	} {
		if got := printable.Nearest(known, name); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
