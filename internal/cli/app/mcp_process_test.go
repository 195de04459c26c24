package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/setup"
)

// TestToolRace has several servers, each a process with a client of its own, claim one issue.
func TestToolRace(t *testing.T) {
	t.Parallel()
	ar := newArena(t)
	ar.serve("--fault", "delay=1s:mutation:addComment")
	const contenders = 6
	answers := make([]toolAnswer, contenders)
	var running sync.WaitGroup
	for n := range contenders {
		a := connected(t, &sdk.CommandTransport{Command: ar.command(t.Context(), "mcp", "--codename", codename(n),
			"--repo", "acme/app")})
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

// TestToolProcess: standard output has the protocol and nothing else; the server ends with its
// input, and when it is told to.
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

		if err := replies.Decode(&reply); err != nil || reply.JSONRPC != "2.0" || reply.ID != id ||
			len(reply.Result) == 0 {
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

// TestExampleServer starts the server as the example does and finds its tools.
func TestExampleServer(t *testing.T) {
	var example struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	data, err := os.ReadFile("../../../examples/mcp.json")
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
		done <- cli.Run(t.Context(), append([]string{server.Command}, server.Args...), cli.Terminal{
			Verbs: Verbs(),
			In:    in,
			Out:   said,
			Err:   io.Discard,
			Env:   setup.OS(),
		})
	}()

	c := connected(t, &sdk.IOTransport{Reader: out, Writer: ask})
	if got := c.InitializeResult().ServerInfo.Name; got != "label-state" {
		t.Errorf("it is %s", got)
	}

	if err := ask.Close(); err != nil {
		t.Error(err)
	}

	if code := <-done; code != answer.ExitYes {
		t.Errorf("exit code %d", code)
	}
}
