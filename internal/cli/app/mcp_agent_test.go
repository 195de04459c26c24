package app

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/label-state/label-state/internal/cli"
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
	a.valid(name, a.schema(name), r.StructuredContent)

	return out
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

// newAgent is a client of the program in this process.
func newAgent(t testing.TB, term cli.Terminal, options ...func(*mcp.Options)) agent {
	t.Helper()
	o := mcp.Options{
		Terminal: term,
		Toolsets: cli.Toolsets(),
		Codename: "lucius",
		Timeout:  time.Minute,
		Operator: true,
	}

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

// quiet is a terminal in dir whose GitHub is carrier.
func quiet(t testing.TB, dir string, carrier http.RoundTripper, more map[string]string) cli.Terminal {
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
	return cli.Terminal{
		Verbs: Verbs(),
		In:    strings.NewReader(""),
		Out:   io.Discard,
		Err:   io.Discard,
		Env:   env,
	}
}

func embedded(t testing.TB) *world {
	t.Helper()
	w, err := newWorld("")
	if err != nil {
		t.Fatal(err)
	}
	return w
}
