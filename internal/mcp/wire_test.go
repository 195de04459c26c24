package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/mcp"
)

// A wire is a client that speaks to a server in lines.
type wire struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Reader
}

// dial starts a server and greets it in that revision of the protocol, which it must speak.
func dial(t *testing.T, o mcp.Options, revision string) wire {
	t.Helper()
	w := plug(t, o)
	if got := w.greet(revision); got != revision {
		t.Fatalf("speaks %q, want %s", got, revision)
	}

	w.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

// plug starts a server, and ends it with the test.
func plug(t *testing.T, o mcp.Options) wire {
	t.Helper()
	server, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}

	in, ask := io.Pipe()
	out, said := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := mcp.Serve(t.Context(), server, in, said)
		_ = said.Close() // a pipe: whoever listens hears the end
		served <- err
	}()

	t.Cleanup(func() {
		_ = ask.Close() // a pipe
		go io.Copy(io.Discard, out)
		if err := <-served; err != nil {
			t.Errorf("served: %v", err)
		}
	})

	return wire{t, ask, bufio.NewReaderSize(out, 1<<20)}
}

// greet returns the revision that the server answers with.
func (w wire) greet(revision string) string {
	w.t.Helper()
	w.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, revision))
	var hello struct {
		Result struct{ ProtocolVersion string }
	}

	if err := json.Unmarshal([]byte(w.hear()), &hello); err != nil {
		w.t.Fatal(err)
	}

	return hello.Result.ProtocolVersion
}

func (w wire) say(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w wire) hear() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// pong wants the next answer to be that of a ping: the server lives, and has said nothing else.
func (w wire) pong(id int) {
	w.t.Helper()
	w.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id))
	if got := w.hear(); got != fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) {
		w.t.Errorf("ping %d: %s", id, got)
	}
}

// TestWithoutArguments: a call that has none, or an empty object, is one without arguments.
func TestWithoutArguments(t *testing.T) {
	s := stand{answer: outcome{Objects: []json.RawMessage{json.RawMessage(`{"answer":"x"}`)}}}
	w := dial(t, s.options(), latest)
	for n, arguments := range []string{"", `,"arguments":{}`, `,"arguments":null`} {
		s.words = nil
		w.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"status"%s}}`, 2+n, arguments))
		if got := w.hear(); !strings.Contains(got, `"answer":"yes"`) || len(s.words) == 0 || s.words[0] != "status" {
			t.Errorf("%s: ran %q: %s", arguments, s.words, got)
		}
	}
}

const latest = "2025-11-25"

// TestNonsense: a line that is not a message has an error with its id as far as one can be read,
// and the next one an answer.
func TestNonsense(t *testing.T) {
	var s stand
	w := dial(t, s.options(), latest)
	long := strings.Repeat("a", 3<<20)
	for n, c := range []struct {
		line string
		code int
		id   string
	}{
		{"what is this?", -32700, "null"},
		{`{"jsonrpc":"2.0","id":7,"method":"ping"`, -32700, "7"},
		{strings.Repeat("[", 20_000), -32700, "null"},
		{"\xff\xfe", -32700, "null"},
		{`{"jsonrpc":"2.0","method":"pi`, -32700, "null"},
		{`{"jsonrpc":"2.0","params":[{"id":7}`, -32700, "null"},
		{`{"id":"seven","method":"ping"}`, -32600, `"seven"`},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, "7"},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0"}`, -32600, "null"},
		{`7`, -32600, "null"},
		{`"ping"`, -32600, "null"},
		{`null`, -32600, "null"},
		{`[]`, -32600, "null"},
		{`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"claim","arguments":{"issue":"` + long +
			`"}}}`, -32600, "8"},
		{long, -32600, "null"},
		{long[:1<<20+1], -32600, "null"},
		{long[:1<<20], -32700, "null"},
		{`{"jsonrpc":"2.0","id":9,"method":"claim"}`, -32601, "9"},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"shell"}}`, -32602, "9"},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[]}`, -32602, "9"},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}`, -32602, "9"},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":{}}}`, -32602, "9"},
		{`{"jsonrpc":"2.0","id":9,"method":"ping","params":7}`, -32602, "9"},
		{`{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":7}}`, -32600, "9"},
		{`{"jsonrpc":"2.0","id":9,"method":7}`, -32600, "9"},
		{`{"jsonrpc":7,"id":9,"method":"ping"}`, -32600, "9"},
	} {
		w.say(c.line)
		var got struct {
			ID    json.RawMessage
			Error struct {
				Code    int
				Message string
			}
		}
		text := w.hear()
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Error.Code != c.code ||
			string(got.ID) != c.id || got.Error.Message == "" ||
			strings.Contains(text, "json:") || strings.Contains(text, "mcp.") || len(text) > 500 {
			t.Errorf("%.80s\ngot %.500s, want code %d and id %s", c.line, text, c.code, c.id)
		}

		w.pong(100 + n)
	}

	w.say("\r\n\n  \n" + `{"jsonrpc":"2.0","method":"notifications/nobody-knows"}` + "\r")
	w.pong(99)
	if s.words != nil {
		t.Errorf("ran %q", s.words)
	}
}

// TestIDs: the id of a call is a string or a number, and comes back as it was written.
func TestIDs(t *testing.T) {
	var s stand
	w := dial(t, s.options(), "2025-03-26")
	for _, id := range []string{
		`0`, `-0`, `7`, `-7`, `1.0`, `1.50`, `1e2`, `1E+2`, `1e400`, `9007199254740993`, `123456789012345678901234567890`,
		`""`, `"7"`, `"1.0"`, `"\"7\""`, `"\u0041"`, `"é"`,
	} {
		w.say(`{"method":"ping","id": ` + id + ` ,"jsonrpc":"2.0"}`)
		if got, want := w.hear(), `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}

		w.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"claim"}`)
		if got, want := w.hear(), `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32601,`; !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}

		w.say(`[{"jsonrpc":"2.0","id":` + id + `,"method":"ping"},{"jsonrpc":"2.0","id":"other","method":"ping"}]`)
		want := `[{"jsonrpc":"2.0","id":` + id + `,"result":{}},{"jsonrpc":"2.0","id":"other","result":{}}]`
		if got := w.hear(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestRevisions: the server speaks the client's revision where it knows it, else its own newest
// that has an initialization.
func TestRevisions(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", latest} {
		var s stand
		dial(t, s.options(), revision).pong(2)
	}

	for _, revision := range []string{"1999-01-01", "2026-07-28", "2999-01-01", ""} {
		var s stand
		if got := plug(t, s.options()).greet(revision); got != latest {
			t.Errorf("%q: speaks %s, want %s", revision, got, latest)
		}
	}
}

// TestTooEarly: nothing but a ping is answered before the greeting, and nothing is run.
func TestTooEarly(t *testing.T) {
	var s stand
	w := plug(t, s.options())
	w.pong(1)
	w.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{"issue":"1"}}}`)
	if got := w.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,"error":{"code":-32600,`) || s.words != nil {
		t.Errorf("%s, ran %q", got, s.words)
	}

	w.pong(3)
}

// TestBatch: the revisions that have batches get them answered, and nonsense in one refuses it as a
// whole.
func TestBatch(t *testing.T) {
	var s stand
	w := dial(t, s.options(), "2025-03-26")
	w.say(`[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
	var both []struct{ ID int }
	if text := w.hear(); json.Unmarshal([]byte(text), &both) != nil || len(both) != 2 {
		t.Errorf("two pings: %s", text)
	}

	for _, bad := range []string{
		`[]`, `[1]`, `[{"jsonrpc":"2.0","id":4,"method":"ping"},{}]`,
		`[{"jsonrpc":"2.0","id":4,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"}]`,
	} {
		w.say(bad)
		if text := w.hear(); !strings.Contains(text, `"code":-32600`) {
			t.Errorf("%s: %s", bad, text)
		}
	}

	const notice = `{"jsonrpc":"2.0","method":"notifications/nobody-knows"}`
	w.say(`[` + notice + `,` + notice + `]`)
	w.say(`[` + notice + `,{"jsonrpc":"2.0","id":5,"method":"ping"}]`)
	if text := w.hear(); text != `[{"jsonrpc":"2.0","id":5,"result":{}}]` {
		t.Errorf("a ping beside a notification: %s", text)
	}

	// a second greeting is refused, and changes nothing
	w.say(`{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if text := w.hear(); !strings.HasPrefix(text, `{"jsonrpc":"2.0","id":6,"error":{"code":-32600,`) {
		t.Errorf("a second greeting: %s", text)
	}
	w.say(`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`)
	if text := w.hear(); text != `[{"jsonrpc":"2.0","id":7,"result":{}}]` {
		t.Errorf("a batch after it: %s", text)
	}

	w.pong(9)
	w = dial(t, s.options(), latest)
	w.say(`[{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	if text := w.hear(); !strings.Contains(text, "batches are not part of this revision") {
		t.Errorf("a batch of a revision without batches: %s", text)
	}

	w.pong(9)
}

// TestCancelled: a call that the client cancels is given up and has no answer; others under way
// have theirs.
func TestCancelled(t *testing.T) {
	var s stand
	o := s.options()
	began, gaveUp := make(chan string, 2), make(chan string)
	free := make(chan struct{})
	o.Do = func(ctx context.Context, t cli.Terminal, v cli.Verb, params any) error {
		issue := strings.TrimPrefix(told(v, params)[1], "issue=")
		began <- issue
		select {
		case <-ctx.Done():
			gaveUp <- issue
		case <-free:
		}

		return outcome{Objects: []json.RawMessage{json.RawMessage(`{"answer":"free"}`)}}.tell(t)
	}

	w := dial(t, o, latest)
	for _, id := range []string{"2.0", "3"} {
		w.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"status","arguments":{"issue":"%[1]s"}}}`, id))
		<-began
	}

	w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77,"reason":"never asked"}}`)
	w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2.0,"reason":"not needed"}}`)
	if got := <-gaveUp; got != "2.0" {
		t.Errorf("gave up %s", got)
	}

	// one with the id of a call under way is refused, and that one goes on
	w.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if got := w.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,`) {
		t.Errorf("heard %s", got)
	}

	close(free)
	if got := w.hear(); !strings.Contains(got, `"id":3,"result"`) {
		t.Errorf("heard %s", got)
	}

	w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	w.pong(4)

	// a batch waits for each of its answers, so that a call of it has one all the same
	w = dial(t, o, "2025-03-26")
	free = make(chan struct{})
	w.say(`[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{"issue":"2"}}},{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
	<-began
	w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	<-gaveUp
	if got := w.hear(); !strings.Contains(got, `"id":2,`) || !strings.Contains(got, `"id":3,`) {
		t.Errorf("of a batch, heard %s", got)
	}

	// an id that a batch has under way is refused, by itself and in another batch
	w.say(`[{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"status","arguments":{"issue":"5"}}},{"jsonrpc":"2.0","id":6,"method":"ping"}]`)
	<-began
	for _, again := range []struct{ line, id string }{
		{`{"jsonrpc":"2.0","id":5,"method":"ping"}`, "5"},
		{`[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"ping"}]`, "null"},
	} {
		w.say(again.line)
		if got := w.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+again.id+`,"error":{"code":-32600,`) {
			t.Errorf("%s: heard %s", again.line, got)
		}
	}

	close(free)
	if got := w.hear(); !strings.Contains(got, `"id":5,"result"`) || !strings.Contains(got, `"id":6,"result"`) {
		t.Errorf("of the first batch, heard %s", got)
	}
	w.say(`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`) // which was not executed
	if got := w.hear(); got != `[{"jsonrpc":"2.0","id":7,"result":{}}]` {
		t.Errorf("heard %s", got)
	}
}

// TestUnread: a client that does not read cannot keep the server from ending when it is told to,
// also where its input has ended.
func TestUnread(t *testing.T) {
	first, _, _ := strings.Cut(asked, "\n")
	for lines, ended := range map[string]bool{asked: false, first + "\n": true} {
		synctest.Test(t, func(t *testing.T) {
			var s stand
			server, err := mcp.New(s.options())
			if err != nil {
				t.Fatal(err)
			}

			ctx, stop := context.WithCancel(t.Context())
			in, ask := io.Pipe()
			out, said := io.Pipe()
			served := make(chan error)
			go func() { served <- mcp.Serve(ctx, server, in, said) }()
			go func() {
				_, _ = io.WriteString(ask, lines) // a pipe
				if ended {
					_ = ask.Close()
				}
			}()
			synctest.Wait()
			start := time.Now()
			stop()
			if err := <-served; err != nil || time.Since(start) > 2*time.Second {
				t.Errorf("%s%v after %s", lines, err, time.Since(start))
			}

			if err := errors.Join(out.Close(), ask.Close()); err != nil { // what is stuck in the pipes
				t.Error(err)
			}
		})
	}
}

// TestGone: a client that has closed its end is served no longer, although its input is still open.
func TestGone(t *testing.T) {
	for name, lines := range map[string]string{
		"what is no message": "nonsense\n",
		"calls":              asked + "nonsense\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, err := mcp.New((&stand{}).options())
				if err != nil {
					t.Fatal(err)
				}

				in, ask := io.Pipe()
				out, said := io.Pipe()
				if err := out.Close(); err != nil {
					t.Fatal(err)
				}
				served := make(chan error, 1)
				go func() { served <- mcp.Serve(t.Context(), server, in, said) }()
				go io.WriteString(ask, lines)
				synctest.Wait()
				select {
				case err := <-served:
					if !errors.Is(err, io.ErrClosedPipe) {
						t.Errorf("ended with %v, want that the client is gone", err)
					}
				default:
					t.Error("the server goes on")
				}

				if err := ask.Close(); err != nil { // what is stuck in the pipe
					t.Error(err)
				}
			})
		})
	}
}

// TestVisible: nothing that does not show goes over the wire as itself, and the client reads what
// was there.
func TestVisible(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		hidden := rapid.SampledFrom([]rune{
			0x7f, 0x9b, 0x200b, 0x202e, 0x2066, 0xfeff, 0xe0041, 0x1b, 0x85, 0x2028, 'é',
			'漢', '👍', 'a', '"', '\\', '<',
		})
		title := string(rapid.SliceOf(rapid.OneOf(hidden, rapid.Rune().Filter(func(r rune) bool { return r != '\n' }))).Draw(rt, "title"))
		object, err := json.Marshal(map[string]string{"answer": "x", "title": title})
		if err != nil {
			rt.Fatal(err)
		}

		s := stand{answer: outcome{Objects: []json.RawMessage{object}, Notes: []string{title}}}
		server, err := mcp.New(s.options())
		if err != nil {
			rt.Fatal(err)
		}

		in, ask := io.Pipe()
		out, said := io.Pipe()
		go func() {
			_ = mcp.Serve(t.Context(), server, in, said) // the answer is judged
			_ = said.Close()
		}()

		go io.WriteString(ask, asked)
		replies := bufio.NewReader(out)
		if _, err := replies.ReadString('\n'); err != nil {
			rt.Fatal(err)
		}

		reply, err := replies.ReadString('\n')
		if err != nil {
			rt.Fatal(err)
		}

		_ = ask.Close() // a pipe
		for _, r := range strings.TrimSuffix(reply, "\n") {
			if !unicode.IsPrint(r) {
				rt.Fatalf("%U on the wire: %q", r, reply)
			}
		}

		var got struct {
			Result struct {
				Content           []struct{ Text string }
				StructuredContent struct {
					Result struct{ Title string }
					Notes  []string
				}
			}
		}

		if err := json.Unmarshal([]byte(reply), &got); err != nil ||
			got.Result.StructuredContent.Result.Title != title || got.Result.StructuredContent.Notes[0] != title {
			rt.Fatalf("%v: %q, want %q", err, got.Result.StructuredContent, title)
		}

		for _, r := range got.Result.Content[0].Text {
			if !unicode.IsPrint(r) {
				rt.Fatalf("%U in the text: %q", r, got.Result.Content[0].Text)
			}
		}
	})
}

// TestProgress: what a call waits for is a progress notification, for a client that has asked for
// them.
func TestProgress(t *testing.T) {
	var s stand
	o := s.options()
	o.Do = func(_ context.Context, t cli.Terminal, _ cli.Verb, _ any) error {
		for _, what := range []string{"an answer", "another"} {
			t.Env.Waiting(what, time.Now())
		}
		return outcome{Objects: []json.RawMessage{json.RawMessage(`{"answer":"free"}`)}}.tell(t)
	}

	w := dial(t, o, latest)
	w.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{"issue":"2"}}}`)
	if got := w.hear(); !strings.Contains(got, `"id":2,`) {
		t.Errorf("a client that has not asked hears %s", got)
	}

	w.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status","arguments":{"issue":"2"},"_meta":{"progressToken":"p3"}}}`)
	for n, want := range []string{"waiting for an answer", "waiting for another"} {
		got := w.hear()
		if !strings.Contains(got, "notifications/progress") || !strings.Contains(got, want) ||
			!strings.Contains(got, `"p3"`) ||
			!strings.Contains(got, fmt.Sprintf(`"progress":%d`, n+1)) {
			t.Errorf("heard %s, want %q", got, want)
		}
	}

	if got := w.hear(); !strings.Contains(got, `"id":3,`) {
		t.Errorf("heard %s", got)
	}
}
