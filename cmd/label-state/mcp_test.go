package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/mcp"
	"github.com/label-state/label-state/internal/setup"
)

// An agent is an MCP client that talks to a server of its own.
type agent struct {
	testing.TB
	*sdk.ClientSession
}

// A toolAnswer is what every tool answers.
type toolAnswer struct {
	Answer    string            `json:"answer"`
	Code      int               `json:"exit_code"`
	Error     string            `json:"error"`
	Hint      string            `json:"hint"`
	Result    json.RawMessage   `json:"result"`
	Results   []json.RawMessage `json:"results"`
	Notes     []string          `json:"notes"`
	Untrusted []string          `json:"untrusted"`

	isError bool
}

// call calls a tool and holds what comes back against the tool's own schema.
func (a agent) call(name string, arguments map[string]any) (out toolAnswer) {
	a.Helper()
	r, err := a.CallTool(a.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		a.Fatalf("%s: %v", name, err)
	}
	data, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		a.Fatal(err)
	}
	out.isError = r.IsError
	a.promised(name, r.StructuredContent, out)
	return out
}

// promised holds a result against the tool's schema; a success must have the tool's own object.
func (a agent) promised(name string, content any, out toolAnswer) {
	a.Helper()
	s := a.schema(name)
	a.valid(name, s, content)
	if one := s.Properties["result"]; out.Answer == "yes" && out.Result != nil {
		a.valid(name, one.AnyOf[0], content.(map[string]any)["result"])
	}
}

func (a agent) valid(name string, s *jsonschema.Schema, content any) {
	a.Helper()
	resolved, err := s.CloneSchemas().Resolve(nil)
	if err == nil {
		err = resolved.Validate(content)
	}
	if err != nil {
		a.Errorf("%s: %v", name, err)
	}
}

func (a agent) schema(name string) *jsonschema.Schema {
	a.Helper()
	for tool, err := range a.Tools(a.Context(), nil) {
		if err != nil {
			a.Fatal(err)
		}
		if tool.Name != name {
			continue
		}
		var s jsonschema.Schema
		data, err := json.Marshal(tool.OutputSchema)
		if err = errors.Join(err, json.Unmarshal(data, &s)); err != nil {
			a.Fatal(err)
		}
		return &s
	}
	a.Fatalf("no tool %s", name)
	return nil
}

// want calls a tool and wants that answer; the result is read into v unless it is nil.
func (a agent) want(answer, name string, arguments map[string]any, v any) toolAnswer {
	a.Helper()
	got := a.call(name, arguments)
	if got.Answer != answer {
		a.Fatalf("%s %v: %s, want %s: %s", name, arguments, got.Answer, answer, got.Error)
	}
	if v != nil {
		if err := json.Unmarshal(got.Result, v); err != nil {
			a.Fatalf("%s: %v: %s", name, err, got.Result)
		}
	}
	return got
}

// A desk of agents: the program in this process, on a GitHub of its own.
func newAgent(t testing.TB, term terminal, options ...func(*mcp.Options)) agent {
	t.Helper()
	o := mcp.Options{Version: "test", Program: term.program, Views: toolViews(), Codename: "lucius", Timeout: time.Minute, Operator: true}
	for _, set := range options {
		set(&o)
	}
	server, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	here, there := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	return connected(t, here)
}

func connected(t testing.TB, transport sdk.Transport) agent {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the test is over
	return agent{t, c}
}

// bench is a terminal in dir whose GitHub is carrier.
func bench(t testing.TB, dir string, carrier http.RoundTripper, more map[string]string) terminal {
	t.Helper()
	home := t.TempDir()
	quick := filepath.Join(home, "quick.yml")
	if err := os.WriteFile(quick, []byte("version: 1\nclaim: {settle: 0s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"HOME": home, "GH_TOKEN": "tok-agents", "LABEL_STATE_CONFIG": quick}
	for name, value := range more {
		vars[name] = value
	}
	env := setup.OS()
	env.Getenv, env.Dir, env.Stderr, env.HTTP = func(name string) string { return vars[name] }, dir, io.Discard, carrier
	return terminal{in: strings.NewReader(""), out: io.Discard, err: io.Discard, env: env}
}

func embedded(t testing.TB) *world {
	t.Helper()
	w, err := newWorld("")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestToolDay is an agent's day: it takes the next issue, the hook's record knows it, it renews, somebody
// else is refused, it reports, and the board and the log say so.
func TestToolDay(t *testing.T) {
	w, dir := embedded(t), cloneOf(t, "https://github.com/acme/app.git")
	term := bench(t, dir, w.Transport(), nil)
	lucius, fox := newAgent(t, term), newAgent(t, bench(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Codename = "fox" })

	var taken itemView
	lucius.want("yes", "next", map[string]any{"ttl": "30m", "prompt": true}, &taken)
	if taken.Item.ID != "github-1" || taken.Codename != "lucius" || taken.Token == 0 || !strings.Contains(taken.Prompt, "untrusted") {
		t.Errorf("next: %+v", taken)
	}
	recorded(t, term, "acme/app", 1, taken.Firing)

	if got := fox.want("no", "claim", map[string]any{"issue": taken.Item.URL}, nil); !got.isError || !strings.Contains(got.Error, "claim acme/app#1: ") || !strings.Contains(got.Hint, "label-state status acme/app#1") {
		t.Errorf("refused: %+v", got)
	}
	if got := fox.want("no", "dedup-check", map[string]any{"issue": "acme/app#1"}, nil); got.isError {
		t.Errorf("no is an answer: %+v", got)
	}
	lucius.want("yes", "dedup-check", map[string]any{"issue": "1"}, nil)

	var renewed holding
	lucius.want("yes", "renew", map[string]any{"issue": "acme/app#1"}, &renewed)
	if renewed.Answer != "renewed" || renewed.Firing != taken.Firing {
		t.Errorf("renew: %+v", renewed)
	}
	var s statusView
	fox.want("yes", "status", map[string]any{"issue": "acme/app#1"}, &s)
	if s.Holder == nil || s.Holder.Codename != "lucius" {
		t.Errorf("status: %+v", s)
	}
	lucius.want("yes", "complete", map[string]any{"id": "github-1", "outcome": "success", "summary": "retries three times"}, nil)
	if got := fox.want("yes", "log", map[string]any{"issue": "acme/app#1"}, nil); len(got.Results) != 2 || !strings.Contains(string(got.Results[1]), `"outcome":"success"`) {
		t.Errorf("log: %s", got.Results)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git/label-state/holds/acme@app@1.json")); err == nil {
		t.Error("the work tree still has a hold that was ended")
	}
}

// recorded wants the work tree to know the hold, which is how the hook knows who pushes.
func recorded(t *testing.T, term terminal, repo string, number int, firing string) {
	t.Helper()
	holds, err := term.env.Holds()
	if err != nil {
		t.Fatal(err)
	}
	owner, name, _ := strings.Cut(repo, "/")
	h, found, err := holds.Load(claim.Issue{Owner: owner, Repo: name, Number: number})
	if err != nil || !found || h.Worker.FiringID != firing || h.Token == 0 {
		t.Errorf("recorded %+v, %v, %v; want the run %s", h, found, err, firing)
	}
}

// TestToolsOutsideClone: without a clone nothing is recorded, and whoever holds says so itself. A
// release that names nobody who holds never takes a person's hold away.
func TestToolsOutsideClone(t *testing.T) {
	w := embedded(t)
	a := newAgent(t, bench(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Repo = "acme/app" })
	var h holding
	a.want("yes", "claim", map[string]any{"issue": "2", "branch": "fix"}, &h)
	if got := a.want("wrong", "renew", map[string]any{"issue": "2"}, nil); !strings.Contains(got.Error, "no hold on acme/app#2") {
		t.Errorf("renew: %+v", got)
	}
	a.want("yes", "renew", map[string]any{"issue": "2", "firing_id": h.Firing}, nil)
	var m move
	a.want("yes", "release", map[string]any{"issue": "2", "firing_id": h.Firing, "outcome": "failure", "reason": "tests do not build"}, &m)
	if m.Answer != "released" || strings.Join(m.Is, " ") != "agent:implement" {
		t.Errorf("release: %+v", m)
	}
	if err := w.AddLabels("acme/app", 3, "olga", "do-not-pickup"); err != nil {
		t.Fatal(err)
	}
	a.want("wrong", "release", map[string]any{"issue": "3"}, nil)
	a.want("no", "release", map[string]any{"issue": "3", "firing_id": "none"}, nil)
	if got, err := w.Labels("acme/app", 3); err != nil || !strings.Contains(strings.Join(got, " "), "do-not-pickup") {
		t.Errorf("labels %q, %v: a person's hold is gone", got, err)
	}
	if got := a.want("no", "renew", map[string]any{"issue": "2", "firing_id": h.Firing}, nil); !got.isError || !strings.Contains(got.Hint, "stop work on it") {
		t.Errorf("renew of what has ended: %+v", got)
	}
}

// TestToolBoard: the board, the log and the list are the same words, marked as other people's.
func TestToolBoard(t *testing.T) {
	w := embedded(t)
	a := newAgent(t, bench(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Repo = "acme/app" })
	a.want("yes", "claim", map[string]any{"issue": "1"}, nil)
	got := a.want("yes", "list", map[string]any{"limit": 1, "include_claimed": true}, nil)
	if len(got.Results) != 1 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "--cursor ") || !strings.Contains(strings.Join(got.Untrusted, " "), "results.title") {
		t.Errorf("list: %+v", got)
	}
	_, cursor, _ := strings.Cut(got.Notes[0], "--cursor ")
	if rest := a.want("yes", "list", map[string]any{"include_claimed": true, "cursor": cursor}, nil); len(rest.Results) != 2 {
		t.Errorf("the rest: %s", rest.Results)
	}
	for uri, want := range map[string]int{"label-state://acme/app/board": 3, "label-state://acme/app/issues/1/log": 1} {
		r, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		var out toolAnswer
		if err := json.Unmarshal([]byte(r.Contents[0].Text), &out); err != nil || len(out.Results) != want || len(out.Untrusted) == 0 {
			t.Errorf("%s: %d results, want %d; %v", uri, len(out.Results), want, err)
		}
	}
	if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "label-state://acme/app/issues/99/log"}); err == nil || !strings.Contains(err.Error(), "log acme/app#99") {
		t.Errorf("a log that is not there: %v", err)
	}
}

// TestOperatorTools: pause refuses claims until resume, and a forced release ends a hold for its holder.
func TestOperatorTools(t *testing.T) {
	w := embedded(t)
	olga := newAgent(t, bench(t, t.TempDir(), w.Transport(), map[string]string{"GH_TOKEN": "tok-olga"}), func(o *mcp.Options) { o.Repo = "acme/app" })
	a := newAgent(t, bench(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Repo = "acme/app" })
	var h holding
	a.want("yes", "claim", map[string]any{"issue": "1"}, &h)
	olga.want("yes", "pause", map[string]any{"reason": "release week"}, nil)
	if got := a.want("no", "claim", map[string]any{"issue": "2"}, nil); !strings.Contains(got.Error, "release week") {
		t.Errorf("paused: %+v", got)
	}
	if got := a.want("no", "next", nil, nil); got.isError || got.Code != exitNoWork {
		t.Errorf("no work is an answer: %+v", got)
	}
	olga.want("yes", "resume", nil, nil)
	a.want("yes", "claim", map[string]any{"issue": "2"}, nil)
	if got := olga.want("yes", "force-release", map[string]any{"issue": "1", "reason": "gone"}, nil); len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "lost acme/app#1 by force") {
		t.Errorf("forced: %+v", got)
	}
	a.want("no", "renew", map[string]any{"issue": "1", "firing_id": h.Firing}, nil)
}

// TestToolTrouble: a typo, a missing token, a GitHub that is away: never yes, never no.
func TestToolTrouble(t *testing.T) {
	w := embedded(t)
	none := bench(t, t.TempDir(), w.Transport(), map[string]string{"GH_TOKEN": ""})
	none.env.Run = func(context.Context, setup.Command) ([]byte, error) { return nil, exec.ErrNotFound }
	a := newAgent(t, none)
	if got := a.want("unknown", "claim", map[string]any{"issue": "acme/app#1"}, nil); !got.isError || !strings.Contains(got.Error, "token") || !strings.Contains(got.Hint, "gh auth login") {
		t.Errorf("no token: %+v", got)
	}
	a = newAgent(t, bench(t, t.TempDir(), w.Transport(), nil))
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"claim", map[string]any{"issue": "acme/app#1", "time_to_live": "2h"}, `unknown argument "time_to_live"`},
		{"claim", map[string]any{"issue": "acme/app#1", "ttl": "2 hours"}, `--ttl "2 hours": want a duration`},
		{"claim", map[string]any{"issue": "acme/app#1", "ttl": "-1h"}, "want more than nothing"},
		{"claim", map[string]any{"issue": "acme/../app#1"}, "acme/../app#1"},
		{"claim", map[string]any{"issue": "--force"}, "--force"},
		{"claim", map[string]any{"issue": "acme/app#1", "codename": "a b"}, `codename "a b"`},
		{"complete", map[string]any{"id": "github-01", "outcome": "success", "repo": "acme/app"}, "github-01"},
		{"next", map[string]any{"repo": "acme"}, "acme"},
	} {
		if got := a.want("wrong", c.tool, c.arguments, nil); !got.isError || !strings.Contains(got.Error, c.want) || got.Hint == "" {
			t.Errorf("%s %v: %+v", c.tool, c.arguments, got)
		}
	}
	a.want("unknown", "claim", map[string]any{"issue": "acme/app#99"}, nil)
	for _, r := range w.Requests() {
		if r.Writes() {
			t.Errorf("wrote %s %s", r.Method, r.Path)
		}
	}
}

// away is a network without GitHub.
type away struct{}

func (away) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

func TestToolAway(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, bench(t, dir, away{}, nil), func(o *mcp.Options) { o.Timeout = 3 * time.Second })
		start := time.Now()
		for _, name := range []string{"claim", "dedup-check", "status", "log"} {
			if got := a.want("unknown", name, map[string]any{"issue": "acme/app#1"}, nil); !got.isError || got.Hint == "" {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if d := time.Since(start); d > 4*3*time.Second {
			t.Errorf("took %s", d)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestToolsAreCommands: each tool with all of its arguments is a command line that the program knows.
func TestToolsAreCommands(t *testing.T) {
	app := newApp(terminal{env: setup.OS()})
	var words []string
	a := newAgent(t, terminal{}, func(o *mcp.Options) {
		o.Config = "x.yml"
		o.Program = func(_ context.Context, w []string) mcp.Outcome {
			words = w
			return mcp.Outcome{}
		}
	})
	seen := 0
	for tool, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		words = nil
		a.call(tool.Name, everything(t, tool))
		got, err := arrange(app.Commands, append([]string{"label-state"}, words...))
		if err != nil || len(got) != len(words)+1 {
			t.Errorf("%s: %q: %v", tool.Name, words, err)
		}
	}
	if seen != 12 {
		t.Errorf("%d tools", seen)
	}
}

// everything is one value for each argument of a tool.
func everything(t *testing.T, tool *sdk.Tool) map[string]any {
	t.Helper()
	var s jsonschema.Schema
	data, err := json.Marshal(tool.InputSchema)
	if err = errors.Join(err, json.Unmarshal(data, &s)); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for name, p := range s.Properties {
		switch {
		case name == "ttl":
			out[name] = "1h"
		case p.Type == "boolean":
			out[name] = true
		case p.Type == "integer":
			out[name] = 1
		case p.Type == "array" && p.Items.Enum != nil:
			out[name] = p.Items.Enum
		case p.Type == "array":
			out[name] = []string{"x"}
		case p.Enum != nil:
			out[name] = p.Enum[0]
		default:
			out[name] = "x"
		}
	}
	return out
}

// TestToolRace has several servers, each a process with a client of its own, claim one issue.
func TestToolRace(t *testing.T) {
	t.Parallel()
	ar := newArena(t)
	ar.serve("--fault", "delay=1s:POST:/comments")
	const contenders = 6
	answers := make([]toolAnswer, contenders)
	var running sync.WaitGroup
	for n := range contenders {
		a := connected(t, &sdk.CommandTransport{Command: ar.command(t.Context(), "mcp", "--codename", codename(n), "--repo", "acme/app")})
		running.Go(func() { answers[n] = a.call("claim", map[string]any{"issue": "1"}) })
	}
	running.Wait()
	winner := ""
	for n, got := range answers {
		switch got.Answer {
		case "yes":
			if winner != "" {
				t.Errorf("%s and %s won", winner, codename(n))
			}
			winner = codename(n)
		case "no":
		default:
			t.Errorf("%s: %+v", codename(n), got)
		}
	}
	ar.check(winner)
}

// TestToolProcess: standard output has the protocol and nothing else; the server ends with its input, and when it is told to.
func TestToolProcess(t *testing.T) {
	t.Parallel()
	ar := newArena(t)
	w := embedded(t)
	url, stop, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	ar.at(url, func() []githubsim.Request { return w.Requests() })
	const session = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{"issue":"acme/app#1"}}}
`
	cmd := ar.command(t.Context(), "mcp")
	in, out := pipes(t, cmd)
	if _, err := io.WriteString(in, session); err != nil {
		t.Fatal(err)
	}
	replies := json.NewDecoder(out)
	for id := 1; id <= 2; id++ {
		var reply struct {
			JSONRPC string
			ID      int
			Result  json.RawMessage
		}
		if err := replies.Decode(&reply); err != nil || reply.JSONRPC != "2.0" || reply.ID != id || len(reply.Result) == 0 {
			t.Fatalf("%+v, %v", reply, err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(io.MultiReader(replies.Buffered(), out)); err != nil || len(bytes.TrimSpace(rest)) > 0 {
		t.Errorf("%q behind the protocol, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("end of input: %v", err)
	}

	cmd = ar.command(t.Context(), "mcp")
	in, out = pipes(t, cmd)
	if _, err := io.WriteString(in, session); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(out).Decode(new(any)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("told to end: %v", err)
	}
}

func pipes(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, or it must
	return in, out
}

// TestManualOfTools holds the table of docs/mcp.md against the server, and the example against the page.
func TestManualOfTools(t *testing.T) {
	const page = "../../docs/mcp.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	table := "| tool | for | arguments | hints |\n|---|---|---|---|\n"
	for tool, err := range newAgent(t, terminal{}).Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		table += toolRow(t, tool)
	}
	before, rest, _ := strings.Cut(string(data), "<!-- tools -->\n")
	_, after, found := strings.Cut(rest, "<!-- end -->")
	want := before + "<!-- tools -->\n" + table + "<!-- end -->" + after
	if *update && found {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(data) {
		t.Errorf("the table of %s is not the server's; go test ./cmd/label-state -run TestManualOfTools -update", page)
	}
	example, err := os.ReadFile("../../examples/mcp.json")
	if err != nil || !strings.Contains(string(data), "```json\n"+string(example)+"```") {
		t.Errorf("the page does not show examples/mcp.json as it is, %v", err)
	}
}

func toolRow(t *testing.T, tool *sdk.Tool) string {
	t.Helper()
	var in struct {
		Properties json.RawMessage
		Required   []string
	}
	data, err := json.Marshal(tool.InputSchema)
	if err = errors.Join(err, json.Unmarshal(data, &in)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range everything(t, tool) {
		if slices.Contains(in.Required, name) {
			name += "*"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", tool.Name, tool.Title, strings.Join(names, ", "), hints(tool.Annotations))
}

func hints(a *sdk.ToolAnnotations) string {
	var out []string
	if a.ReadOnlyHint {
		out = append(out, "read-only")
	}
	if *a.DestructiveHint {
		out = append(out, "destructive")
	}
	if a.IdempotentHint {
		out = append(out, "idempotent")
	}
	return strings.Join(out, ", ")
}

// TestExampleServer starts the server as the example does and finds its tools.
func TestExampleServer(t *testing.T) {
	var example struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	data, err := os.ReadFile("../../examples/mcp.json")
	if err = errors.Join(err, json.Unmarshal(data, &example)); err != nil {
		t.Fatal(err)
	}
	server := example.Servers["label-state"]
	if server.Command != "label-state" {
		t.Fatalf("%+v", example)
	}
	in, ask := io.Pipe()
	out, said := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(t.Context(), append([]string{server.Command}, server.Args...), terminal{in: in, out: said, err: io.Discard, env: setup.OS()})
	}()
	c := connected(t, &sdk.IOTransport{Reader: out, Writer: ask})
	if got := c.InitializeResult().ServerInfo.Name; got != "label-state" {
		t.Errorf("it is %s", got)
	}
	if err := ask.Close(); err != nil {
		t.Error(err)
	}
	if code := <-done; code != exitYes {
		t.Errorf("exit code %d", code)
	}
}
