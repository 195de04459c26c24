package setup_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/setup"
)

func inActions(name string) string { return map[string]string{"GITHUB_ACTIONS": "true"}[name] }

// TestLogged: nothing in a workflow's log is a command, in however many pieces it is written;
// elsewhere not a byte changes.
func TestLogged(t *testing.T) {
	for text, want := range map[string]string{
		"a title ##[error]x":       "a title ##\u200b[error]x",
		"###[group]":               "###\u200b[group]",
		"::error::x":               ":\u200b:error::x",
		"  ::add-mask::x":          "  :\u200b:add-mask::x",
		"\u3000::error::x":         "\u3000:\u200b:error::x",
		"\x7f::error::x":           "\x7f:\u200b:error::x",
		"a::b":                     "a::b",
		":x":                       ":x",
		": :x":                     ": :x",
		"::::":                     ":\u200b:::",
		"one\n::two\r::three":      "one\n:\u200b:two\r:\u200b:three",
		`{"title":"##[error]::x"}`: `{"title":"##\u005berror]::x"}`,
		`{"title":"##[[x"}`:        `{"title":"##\u005b[x"}`,
		` {"title":"##[x"}`:        ` {"title":"##\u005bx"}`,
		"# [x] #[y] : : x":         "# [x] #[y] : : x",
	} {
		for _, size := range []int{1, 2, 3, len(text)} {
			var out, same bytes.Buffer
			w, plain := setup.Environment{Getenv: inActions}.Logged(&out), setup.Environment{Getenv: func(string) string { return "" }}.Logged(&same)
			for at := 0; at < len(text); at += size {
				piece := []byte(text[at:min(at+size, len(text))])
				for _, to := range []interface{ Write([]byte) (int, error) }{w, plain} {
					if n, err := to.Write(piece); n != len(piece) || err != nil {
						t.Fatalf("Write = %d, %v", n, err)
					}
				}
			}

			if out.String() != want || same.String() != text {
				t.Errorf("%q in pieces of %d: %q, want %q; elsewhere %q", text, size, &out, want, &same)
			}
		}
	}
}

// TestLoggedNowhere: no log is none, and one that cannot be written is an error.
func TestLoggedNowhere(t *testing.T) {
	e := setup.Environment{Getenv: inActions}
	if got := e.Logged(nil); got != nil {
		t.Errorf("no log: %v", got)
	}
	_, closed := io.Pipe()
	_ = closed.Close()
	if n, err := e.Logged(closed).Write([]byte("x")); n != 0 || err == nil {
		t.Errorf("Write = %d, %v", n, err)
	}
}

// TestLoggedProperty: whatever is written, the runner sees no command, and JSON says what it said.
func TestLoggedProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"#", "[", ":", " ", "\n", "\r", "a", "\u00a0",
			"{",
		})).Draw(t, "text"), "")
		var out bytes.Buffer
		w := setup.Environment{Getenv: inActions}.Logged(&out)
		if _, err := w.Write([]byte(title)); err != nil {
			t.Fatal(err)
		}

		for line := range strings.FieldsFuncSeq(out.String(), func(r rune) bool { return r == '\n' || r == '\r' }) {
			if strings.Contains(line, "##[") || strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Fatalf("%q becomes %q", title, out.String())
			}
		}

		out.Reset()
		w = setup.Environment{Getenv: inActions}.Logged(&out)
		if err := json.NewEncoder(w).Encode(map[string]string{"title": title}); err != nil {
			t.Fatal(err)
		}

		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["title"] != title ||
			strings.Contains(out.String(), "##[") {
			t.Fatalf("%q becomes %q, %v", title, out.String(), err)
		}
	})
}
