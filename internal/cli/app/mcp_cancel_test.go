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
	"github.com/label-state/label-state/internal/cli/local"
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
		map[string]string{"LABEL_STATE_CONFIG": slow}), make(chan mcp.Outcome, 1)
	a := newAgent(t, term, func(o *mcp.Options) {
		o.Program = func(ctx context.Context, words []string, input string) mcp.Outcome {
			out := local.RunTool(ctx, term, words, input)
			ended <- out
			return out
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

	if out := <-ended; out.Code != answer.ExitUnknown {
		t.Errorf("the claim ended with %+v", out)
	}
	wants(t, w, 1, "agent:implement")
	fox := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Codename = "fox" })
	fox.want("yes", "claim", map[string]any{"issue": "acme/app#1"}, nil)
}
