package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/mcp"
)

// TestToolCancelled: a claim that the client cancels in the middle takes back what it asked for,
// and the next one wins at once.
func TestToolCancelled(t *testing.T) {
	w := embedded(t)
	slow := filepath.Join(t.TempDir(), "slow.yml")
	if err := os.WriteFile(slow, []byte("version: 1\nclaim: {settle: 30s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	term, ended := quiet(t, t.TempDir(), w.Transport(),
		map[string]string{"LABEL_STATE_CONFIG": slow}), make(chan error, 1)
	a := newAgent(t, term, func(o *mcp.Options) {
		o.Do = func(ctx context.Context, t cli.Terminal, v cli.Verb, params any) error {
			err := t.Do(ctx, v, params)
			ended <- err
			return err
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	posted := func(r *http.Request) *githubsim.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/comments") {
			cancel()
		}
		return nil
	}

	w.fault.Store(&posted)
	if r, err := a.CallTool(ctx, &sdk.CallToolParams{
		Name:      "claim",
		Arguments: map[string]any{"issue": "acme/app#1"},
	}); err == nil {
		t.Errorf("cancelled, and answered: %+v", r)
	}

	if err := <-ended; cli.ExitCode(err) != answer.ExitUnknown {
		t.Errorf("the claim ended with %v", err)
	}
	wants(t, w, 1, "agent:implement")
	fox := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Codename = "fox" })
	fox.want("yes", "claim", map[string]any{"issue": "acme/app#1"}, nil)
}
