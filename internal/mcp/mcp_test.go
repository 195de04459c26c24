package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/app"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/mcp"
)

// A stand is a table of verbs that only remembers what was asked of it.
type stand struct {
	mu     sync.Mutex
	words  []string
	answer outcome
}

// An outcome is what a verb comes to.
type outcome struct {
	Objects []json.RawMessage
	Problem *answer.Problem
	Notes   []string
}

func (s *stand) do(_ context.Context, t cli.Terminal, v cli.Verb, params any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words = told(v, params)
	return s.answer.tell(t)
}

func (o outcome) tell(t cli.Terminal) error {
	for n, note := range o.Notes {
		fmt.Fprintln([]io.Writer{t.Err, t.Env.Stderr}[n%2], "label-state: "+note)
	}

	for _, object := range o.Objects {
		t.Take(object)
	}

	if o.Problem == nil {
		return nil
	}

	return o.Problem
}

// told is a verb with the parameters that were set, as the vectors write it.
func told(v cli.Verb, params any) []string {
	words := []string{strings.ReplaceAll(v.Name, " ", "_")}
	for _, p := range cli.Params(params) {
		if !p.Given() {
			continue
		}

		value := reflect.ValueOf(p.Field()).Elem()
		for value.Kind() == reflect.Pointer {
			value = value.Elem()
		}

		words = append(words, fmt.Sprintf("%s=%v", p.Name, value))
	}

	return words
}

func (s *stand) options() mcp.Options {
	return mcp.Options{
		Terminal: cli.Terminal{Verbs: app.Verbs()},
		Do:       s.do,
		Codename: "lucius",
		Operator: true,
		Toolsets: cli.Toolsets(),
	}
}

// connect returns a client of a server with these options.
func connect(t testing.TB, o mcp.Options) *sdk.ClientSession {
	t.Helper()
	server, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}

	here, there := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}

	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = c.Close() }) // the test is over
	return c
}

// A result is what a client reads.
type result struct {
	Answer    string            `json:"answer"`
	Code      int               `json:"exit_code"`
	Error     string            `json:"error"`
	Hint      string            `json:"hint"`
	Result    json.RawMessage   `json:"result"`
	Results   []json.RawMessage `json:"results"`
	Notes     []string          `json:"notes"`
	Untrusted []string          `json:"untrusted"`
}

func read(t testing.TB, r *sdk.CallToolResult) (a result) {
	t.Helper()
	data, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, &a)
	}

	if err != nil {
		t.Fatal(err)
	}

	return a
}

// TestCallVectors plays testdata/calls.txt.
func TestCallVectors(t *testing.T) {
	f, err := os.Open("testdata/calls.txt")
	if err != nil {
		t.Fatal(err)
	}

	defer f.Close()
	var s stand
	c, call, n := connect(t, s.options()), "", 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '=' || line[0] == '!':
			n++
			if got := played(t, c, &s, call); got != line {
				t.Errorf("%s\n got %s\nwant %s", call, got, line)
			}
		default:
			call = line
		}
	}

	if lines.Err() != nil || n < 20 {
		t.Errorf("%d calls, %v", n, lines.Err())
	}
}

// TestWaitLeavesTime: a call that waits for somebody else has as much time to answer as to wait.
func TestWaitLeavesTime(t *testing.T) {
	var s stand
	o := s.options()
	o.Timeout = 20 * time.Second
	const want = "= plan issue=7 codename=lucius wait=10s timeout=20s"
	if got := played(t, connect(t, o), &s, `plan_wait {"issue":7}`); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// played is what a call became, as the vectors write it.
func played(t *testing.T, c *sdk.ClientSession, s *stand, call string) string {
	t.Helper()
	name, arguments, _ := strings.Cut(call, " ")
	p := &sdk.CallToolParams{Name: name}
	if arguments != "" {
		p.Arguments = json.RawMessage(arguments)
	}

	s.words = nil
	r, err := c.CallTool(t.Context(), p)
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}

	a := read(t, r)
	if a.Error == "" {
		words := slices.Clone(s.words)
		for n, w := range words {
			words[n] = strings.ReplaceAll(w, " ", "_")
		}

		return "= " + strings.Join(words, " ")
	}

	if a.Answer != "refused" || a.Code != 2 || !r.IsError || !strings.Contains(a.Hint, name+" takes ") ||
		s.words != nil {
		t.Errorf("%s: %+v, ran %q", call, a, s.words)
	}

	return "! " + a.Error
}

// TestNoTextIsAnOption: whatever an agent sends is the value of the argument it was sent as, and of
// nothing else.
func TestNoTextIsAnOption(t *testing.T) {
	var s stand
	c := connect(t, s.options())
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.OneOf(rapid.StringN(1, -1, -1),
			rapid.SampledFrom([]string{"--", "--force", "-h", "--json=false", "--repo=x/y", "a\nb"}))
		arguments := map[string]any{}
		for _, name := range []string{"issue", "codename", "firing_id", "pr", "transition_to", "reason"} {
			arguments[name] = texts.Draw(rt, name)
		}

		if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "release", Arguments: arguments}); err != nil {
			rt.Fatal(err)
		}

		want := []string{"release"}
		for _, name := range []string{"issue", "codename", "firing_id", "pr", "transition_to", "reason"} {
			want = append(want, fmt.Sprintf("%s=%s", strings.ReplaceAll(name, "_", "-"), arguments[name]))
		}

		if want = append(want, "timeout=2m0s"); !slices.Equal(s.words, want) {
			rt.Errorf("got %q\nwant %q", s.words, want)
		}
	})
}

// TestAnswers: exit codes become the three answers, and what the agent is told is what the command
// said.
func TestAnswers(t *testing.T) {
	object, waits, pending := json.RawMessage(`{"answer":"x","more":1}`), json.RawMessage(`{"answer":"waiting"}`), json.RawMessage(`{"answer":"pending"}`)
	for _, c := range []struct {
		tool    string
		outcome outcome
		want    result
		isError bool
	}{
		{"claim", outcome{Objects: []json.RawMessage{object}, Notes: []string{"warning: late", "git: gone"}}, result{
			Answer:    "yes",
			Result:    object,
			Notes:     []string{"warning: late", "git: gone"},
			Untrusted: []string{"notes"},
		}, false},
		{"claim", outcome{
			Objects: []json.RawMessage{object},
			Problem: problem(answer.Held, "claim a/b#1: held", answer.Advice("wait")),
		}, result{
			Answer:    "no",
			Code:      1,
			Error:     "claim a/b#1: held",
			Hint:      "wait",
			Result:    object,
			Untrusted: []string{"error", "result"},
		}, true},
		{"claim", outcome{Problem: problem(answer.Unread, "claim a/b#1: offline")}, result{
			Answer:    "unknown",
			Code:      3,
			Error:     "claim a/b#1: offline",
			Untrusted: []string{"error", "result"},
		}, true},
		{"claim", outcome{Problem: problem(answer.Usage, "x")}, result{
			Answer:    "refused",
			Code:      2,
			Error:     "x",
			Untrusted: []string{"error", "result"},
		}, true},
		{"next", outcome{Problem: problem(answer.NoWork, "next a/b: no work")}, result{
			Answer:    "no",
			Code:      4,
			Error:     "next a/b: no work",
			Untrusted: []string{"error", "result"},
		}, false},
		{
			"dedup_check",
			outcome{Problem: problem(answer.Held, "held")},
			result{Answer: "no", Code: 1, Error: "held", Untrusted: []string{"error", "result"}},
			false,
		},
		{
			"dedup_check",
			outcome{Problem: problem(answer.Unread, "offline")},
			result{Answer: "unknown", Code: 3, Error: "offline", Untrusted: []string{"error", "result"}},
			true,
		},
		{
			"log",
			outcome{Objects: []json.RawMessage{object, object}},
			result{
				Answer: "yes", Results: []json.RawMessage{object, object},
				Untrusted: []string{
					"results.worker", "results.outcome", "results.by", "results.reason", "results.pr",
					"results.ignored",
				},
			},
			false,
		},
		{
			"renew",
			outcome{Objects: []json.RawMessage{object, waits}},
			result{Answer: "yes", Results: []json.RawMessage{object, waits}},
			false,
		},
		{
			"plan_wait",
			outcome{
				Problem: problem(answer.Timeout, "no answer within 45s", answer.Advice("label-state plan")),
				Objects: []json.RawMessage{waits},
			},
			result{
				Answer: "waiting", Code: 3, Error: "no answer within 45s",
				Hint: "nobody has decided yet: call plan_wait again", Result: waits,
				Untrusted: []string{"error", "result"},
			},
			false,
		},
		{
			"plan_wait",
			outcome{
				Problem: problem(answer.Held, "rejected by olga"),
				Objects: []json.RawMessage{waits, object},
				Notes:   []string{"warning: late"},
			},
			result{
				Answer: "no", Code: 1, Error: "rejected by olga", Result: object,
				Notes:     []string{"warning: late"},
				Untrusted: []string{"error", "result", "notes"},
			},
			false,
		},
		{
			"plan_wait",
			outcome{
				Problem: problem(answer.Unread, "offline"),
				Objects: []json.RawMessage{object},
			},
			result{
				Answer: "unknown", Code: 3, Error: "offline", Result: object,
				Untrusted: []string{"error", "result"},
			},
			true,
		},
		{
			"plan_wait",
			outcome{Problem: problem(answer.Timeout, "offline")},
			result{Answer: "unknown", Code: 3, Error: "offline", Untrusted: []string{"error", "result"}},
			true,
		},
		{
			"chain_wait",
			outcome{
				Problem: problem(answer.Timeout, "no answer within 45s"),
				Objects: []json.RawMessage{pending},
			},
			result{
				Answer: "waiting", Code: 3, Error: "no answer within 45s",
				Hint: "nobody has decided yet: call chain_wait again", Result: pending,
				Untrusted: []string{"error", "result"},
			},
			false,
		},
		{
			"chain_wait",
			outcome{Problem: problem(answer.Unread, "x"), Objects: []json.RawMessage{waits}},
			result{
				Answer: "unknown", Code: 3, Error: "x", Result: waits,
				Untrusted: []string{"error", "result"},
			},
			true,
		},
		{
			"claim",
			outcome{Problem: problem(answer.Unread, "x"), Objects: []json.RawMessage{waits}},
			result{
				Answer: "unknown", Code: 3, Error: "x", Result: waits,
				Untrusted: []string{"error", "result"},
			},
			true,
		},
		{
			"claim", // which waits for nobody
			outcome{Problem: problem(answer.Timeout, "x"), Objects: []json.RawMessage{object}},
			result{
				Answer: "unknown", Code: 3, Error: "x", Result: object,
				Untrusted: []string{"error", "result"},
			},
			true,
		},
		{
			"claim",
			outcome{Notes: []string{"warning: late"}},
			result{Answer: "yes", Notes: []string{"warning: late"}, Untrusted: []string{"notes"}},
			false,
		},
		{
			"log",
			outcome{Problem: problem(answer.Unread, "offline"), Objects: []json.RawMessage{object}},
			result{
				Answer: "unknown", Code: 3, Error: "offline", Result: object,
				Untrusted: []string{"error", "result"},
			},
			true,
		},
	} {
		s := stand{answer: c.outcome}
		session := connect(t, s.options())
		arguments := map[string]map[string]any{"next": nil, "chain_wait": {"feature": "x"}}
		if _, other := arguments[c.tool]; !other {
			arguments[c.tool] = map[string]any{"issue": "1"}
		}

		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: arguments[c.tool]})
		if err != nil {
			t.Fatal(err)
		}

		said := read(t, r)
		if c.want.Hint == "" { // what the code says to do
			said.Hint = ""
		}

		got, want := fmt.Sprintf("%s %v", encode(t, said), r.IsError), fmt.Sprintf("%s %v", encode(t, c.want),
			c.isError)
		if got != want {
			t.Errorf("%s %v\n got %s\nwant %s", c.tool, c.outcome.Problem, got, want)
		}

		checkSchema(t, session, c.tool, r)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// checkSchema holds a result against what the tool promises, and its text against its structure.
func checkSchema(t *testing.T, c *sdk.ClientSession, name string, r *sdk.CallToolResult) {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(encode(t, toolOf(t, c, name).OutputSchema)), &s); err != nil {
		t.Fatal(err)
	}

	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}

	if err := resolved.Validate(r.StructuredContent); err != nil {
		t.Errorf("%s: %v\n%s", name, err, encode(t, r.StructuredContent))
	}
	text, ok := r.Content[0].(*sdk.TextContent)
	var again any
	if !ok || json.Unmarshal([]byte(text.Text), &again) != nil || encode(t, again) != encode(t, r.StructuredContent) {
		t.Errorf("%s: text and structure differ: %s", name, encode(t, r.Content))
	}
}

func toolOf(t *testing.T, c *sdk.ClientSession, name string) *sdk.Tool {
	t.Helper()
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name == name {
			return tool
		}
	}

	t.Fatalf("no tool %s", name)
	return nil
}

// TestOffers: what ends other people's work, and what decides on it, is there only when asked for.
func TestOffers(t *testing.T) {
	for _, c := range []struct {
		operator, approver bool
		want               string
	}{
		{false, false, ""},
		{false, true, "approve reject"},
		{true, false, "approve force_release pause reject resume"},
		{true, true, "approve force_release pause reject resume"},
	} {
		var s stand
		o := s.options()
		o.Operator, o.Approver = c.operator, c.approver
		client := connect(t, o)
		var got []string
		for _, name := range []string{"approve", "force_release", "pause", "reject", "resume"} {
			s.words = nil
			arguments := map[string]any{"issue": "1"}
			if name == "pause" || name == "resume" {
				arguments = nil
			}

			_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
			if (err == nil) != (s.words != nil) || err != nil && !strings.HasSuffix(err.Error(), "a person decides") {
				t.Errorf("%s: %v, ran %q", name, err, s.words)
			}

			if err == nil {
				got = append(got, name)
			}
		}

		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("operator %t, approver %t: %q, want %q", c.operator, c.approver, text, c.want)
		}
	}

	var s stand
	o := s.options()
	o.Toolsets = nil
	_, err := connect(t, o).CallTool(t.Context(), &sdk.CallToolParams{Name: "plan"})
	const how = `tool "plan" is not offered: the user starts the server with --toolset core,work,plan`
	if err == nil || !strings.HasSuffix(err.Error(), how) {
		t.Errorf("plan: %v", err)
	}
}

// TestWho: a worker without a name is refused where a person may do the same, and nothing is asked.
// Who asks, or goes on with what is recorded, needs none.
func TestWho(t *testing.T) {
	var s stand
	o := s.options()
	o.Codename = ""
	c := connect(t, o)
	for _, name := range []string{"claim", "release"} {
		r, err := c.CallTool(t.Context(),
			&sdk.CallToolParams{Name: name, Arguments: map[string]any{"issue": "1", "codename": ""}})
		if err != nil {
			t.Fatal(err)
		}

		if a := read(t, r); a.Answer != "refused" || !strings.Contains(a.Error, "who works?") || s.words != nil {
			t.Errorf("%s: %+v, ran %q", name, a, s.words)
		}
	}

	for _, name := range []string{"status", "renew"} {
		s.words = nil
		if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name}); err != nil || s.words == nil {
			t.Errorf("%s ran %q, %v", name, s.words, err)
		}
	}
}

// TestServersOwn: what the server was started with is part of each call that does not say
// otherwise, and what of it makes no sense is refused in its words.
func TestServersOwn(t *testing.T) {
	for _, c := range []struct {
		set        func(*mcp.Options)
		tool, want string
	}{
		{
			func(o *mcp.Options) { o.Repo, o.Config = "acme/app", "own.yml" },
			"status", "status codename=lucius repo=acme/app config=own.yml timeout=2m0s",
		},
		{
			func(o *mcp.Options) { o.Timeout = 40 * time.Second },
			"plan_wait", "plan issue=1 codename=lucius wait=20s timeout=40s",
		},
		{
			func(o *mcp.Options) { o.Timeout = time.Hour },
			"plan_wait", "plan issue=1 codename=lucius wait=45s timeout=1h0m0s",
		},
		{func(o *mcp.Options) { o.Timeout = -time.Second }, "board", "board: --timeout of the server "},
	} {
		var s stand
		o := s.options()
		c.set(&o)
		arguments := map[string]any{}
		if c.tool == "plan_wait" {
			arguments["issue"] = "1"
		}

		r, err := connect(t, o).CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.words, " ") + read(t, r).Error; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.tool, got, c.want)
		}
	}
}

// TestWarnings: the warnings of an answer that has a place for them are other people's text as well.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		object any
		err    error
		want   []string
	}{
		{json.RawMessage(`{"answer":"x"}`), nil, []string{"notes"}},
		{answer.Answer{}, nil, []string{"notes", "result.warnings"}},
		{&struct{ cli.WithWarnings }{}, nil, []string{"notes", "result.warnings"}},
		{answer.Answer{}, problem(answer.Held, "held"), []string{"error", "result", "notes"}}, // all of the result is
	} {
		o := (&stand{}).options()
		o.Do = func(_ context.Context, t cli.Terminal, _ cli.Verb, _ any) error {
			fmt.Fprintln(t.Err, "label-state: warning: late")
			t.Take(c.object)
			return c.err
		}

		r, err := connect(t, o).CallTool(t.Context(), &sdk.CallToolParams{
			Name: "claim", Arguments: map[string]any{"issue": "1"},
		})
		if err != nil {
			t.Fatal(err)
		}

		if got := read(t, r); (got.Answer == "yes") != (c.err == nil) || !slices.Equal(got.Untrusted, c.want) {
			t.Errorf("%T: %s, untrusted %q, want %q", c.object, got.Answer, got.Untrusted, c.want)
		}
	}
}

func TestResources(t *testing.T) {
	for _, c := range []struct{ uri, words string }{
		{"label-state://acme/app/board", "board repo=[acme/app] timeout=2m0s"},
		{"label-state://acme/app/issues/7/log", "log issue=acme/app#7 timeout=2m0s"},
		{"label-state://acme/app/issues/--force/log", "log issue=acme/app#--force timeout=2m0s"},
		{"label-state://acme/app/issues/7", ""},
		{"label-state://acme/app/boards", ""},
		{"label-state://acme/app", ""},
		{"label-state:///app/board", ""},
		{"label-state://acme//board", ""},
		{"label-state://acme/a%2Fb/board", ""}, // no name has a slash
		{"label-state://acme/a%2Fb/issues/7/log", ""},
		{"label-state://acme%2Fa/app/board", ""},
		{"https://acme/app/board", ""},
		{"label-state://acme/app/board?all", ""},
		{"label-state://acme/app/board#top", ""},
	} {
		s := stand{answer: outcome{Objects: []json.RawMessage{json.RawMessage(`{"answer":"x"}`)}}}
		r, err := connect(t, s.options()).ReadResource(t.Context(), &sdk.ReadResourceParams{URI: c.uri})
		if got := strings.Join(s.words, " "); got != c.words || (err != nil) != (c.words == "") {
			t.Errorf("%s: ran %q, %v", c.uri, got, err)
		}

		if err == nil && (len(r.Contents) != 1 || r.Contents[0].URI != c.uri ||
			!strings.Contains(r.Contents[0].Text, `"results":[{"answer":"x"}]`)) {
			t.Errorf("%s: %+v", c.uri, r.Contents)
		}
	}

	for code, want := range map[answer.Code]int64{
		answer.Usage:  jsonrpc.CodeInvalidParams,
		answer.Unread: jsonrpc.CodeInternalError,
	} {
		s := stand{answer: outcome{
			Problem: problem(code, "log acme/app#7: offline", answer.Advice("try again")),
		}}
		_, err := connect(t, s.options()).ReadResource(t.Context(),
			&sdk.ReadResourceParams{URI: "label-state://acme/app/issues/7/log"})
		var said *jsonrpc.Error
		if !errors.As(err, &said) || said.Message != "log acme/app#7: offline; try again" || said.Code != want ||
			!strings.Contains(string(said.Data), fmt.Sprintf(`"exit_code":%d`, code.Meaning().Exit)) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestDescribed compares with testdata/described.json how a server introduces itself: what it says
// to every agent, its resources, and a tool with many results.
func TestDescribed(t *testing.T) {
	var s stand
	o := s.options()
	o.Repo = "acme/app"
	o.Terminal.Build.Version = "v1.2.3"
	c := connect(t, o)
	fixed, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	shaped, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	said := c.InitializeResult()
	data, err := json.MarshalIndent([]any{
		said.ServerInfo, said.Capabilities, said.Instructions, fixed.Resources, shaped.ResourceTemplates,
		toolOf(t, c, "list"), toolOf(t, c, "release"),
	}, "", "\t")
	if golden.Check(t, "testdata/described.json", string(data)+"\n"); err != nil {
		t.Error(err)
	}
}

// TestServe: the end of the input ends the server, and so does its context; both are a success.
func TestServe(t *testing.T) {
	var s stand
	server, err := mcp.New(s.options())
	if err != nil {
		t.Fatal(err)
	}

	var out strings.Builder
	if err := mcp.Serve(t.Context(), server, strings.NewReader(""), &out); err != nil || out.Len() > 0 {
		t.Errorf("no input: %v, wrote %q", err, &out)
	}

	ctx, stop := context.WithCancel(t.Context())
	stop()
	in, held := io.Pipe()
	defer held.Close()
	if err := mcp.Serve(ctx, server, in, io.Discard); err != nil {
		t.Errorf("stopped: %v", err)
	}
}

// TestServeOfAFile: what needs no answer of GitHub's is answered although the input has ended, as
// when somebody pipes a few lines in.
func TestServeOfAFile(t *testing.T) {
	const lines = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`
	first, _, _ := strings.Cut(lines, "\n")
	for text, answers := range map[string][]string{
		lines: {`"id":1,"result"`, `"id":2,"result"`},
		first: {`"id":1,"result"`},
	} {
		for range 20 {
			server, err := mcp.New((&stand{}).options())
			if err != nil {
				t.Fatal(err)
			}

			var out strings.Builder
			if err := mcp.Serve(t.Context(), server, strings.NewReader(text), &out); err != nil {
				t.Fatal(err)
			}
			for _, want := range answers {
				if !strings.Contains(out.String(), want) {
					t.Fatalf("no %s in %s", want, out.String())
				}
			}
		}
	}
}

// TestServeGivesUp: a call under way is cancelled and waited for, whatever ends the server.
func TestServeGivesUp(t *testing.T) {
	for name, end := range map[string]func(stop func(), in io.WriteCloser) error{
		"input":   func(_ func(), in io.WriteCloser) error { return in.Close() },
		"context": func(stop func(), _ io.WriteCloser) error { stop(); return nil },
		"input, of a call that was cancelled": func(_ func(), in io.WriteCloser) error {
			_, err := io.WriteString(in, cancelled)
			return errors.Join(err, in.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s stand
				var out strings.Builder
				began, over, gaveUp := make(chan struct{}), make(chan struct{}), false
				o := s.options()
				o.Do = func(ctx context.Context, _ cli.Terminal, _ cli.Verb, _ any) error {
					close(began)
					<-ctx.Done()
					<-over
					gaveUp = true
					return ctx.Err()
				}

				server, err := mcp.New(o)
				if err != nil {
					t.Fatal(err)
				}

				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				in, ask := io.Pipe()
				served := make(chan error)
				go func() { served <- mcp.Serve(ctx, server, in, &out) }()
				if _, err := io.WriteString(ask, asked); err != nil {
					t.Fatal(err)
				}

				<-began
				err = end(stop, ask)
				synctest.Wait()
				close(over)
				if err := errors.Join(err, <-served, ask.Close()); err != nil || !gaveUp {
					t.Errorf("%v, gave up: %v", err, gaveUp)
				}
				told := strings.Contains(out.String(), "the input ended before the answer")
				if told != (name == "input") || told != strings.Contains(out.String(), `"id":2,"error"`) {
					t.Errorf("wrote %s", &out)
				}
				if n := strings.Count(out.String(), `"id":1,`); n != 1 {
					t.Errorf("the first call has %d answers:\n%s", n, &out)
				}
			})
		})
	}
}

// TestBatchAtTheEnd: a batch of which the input's end stops a call has all its answers, also where
// the client has cancelled that call.
func TestBatchAtTheEnd(t *testing.T) {
	for _, last := range []string{"", cancelled} {
		synctest.Test(t, func(t *testing.T) {
			var s stand
			var out strings.Builder
			over := make(chan struct{})
			o := s.options()
			o.Do = func(ctx context.Context, _ cli.Terminal, _ cli.Verb, _ any) error {
				<-over
				return ctx.Err()
			}

			server, err := mcp.New(o)
			if err != nil {
				t.Fatal(err)
			}
			first, batch := strings.Replace(asked, "2025-06-18", "2025-03-26", 1), `[{"jsonrpc":"2.0","id":3,"method":"ping"},`
			first = strings.Replace(first, `{"jsonrpc":"2.0","id":2`, batch+`{"jsonrpc":"2.0","id":2`, 1)
			in, ask := io.Pipe()
			served := make(chan error)
			go func() { served <- mcp.Serve(t.Context(), server, in, &out) }()
			for _, lines := range []string{strings.TrimSpace(first) + "]\n", last} {
				if _, err := io.WriteString(ask, lines); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			err = ask.Close()
			synctest.Wait()
			close(over)
			if err := errors.Join(err, <-served); err != nil || !strings.Contains(out.String(), `[{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","id":2,"error"`) {
				t.Errorf("%q: %v, wrote %s", last, err, &out)
			}
		})
	}
}

const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n"

const asked = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{"issue":"acme/app#1"}}}
`

// problem is what a command says of an error, with what to do next.
func problem(code answer.Code, why string, next ...answer.Command) *answer.Problem {
	return &answer.Problem{Code: code, Why: why, Next: next}
}
