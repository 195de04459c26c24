//go:build e2e

package hosts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inspector is the protocol's own client. It is not a host, and is found like one.
var inspector = host{
	name:    "the MCP inspector",
	folder:  "inspector",
	program: "node_modules/.bin/mcp-inspector",
	link:    "mcp-inspector",
	label:   "inspector",
}

// TestInspector: the official MCP inspector lists the default tools and calls two of them: one
// claims the next issue, the other shows who has it.
func TestInspector(t *testing.T) {
	w := newWorld(t, inspector)
	config := filepath.Join(w.root, "mcp.json")
	data, err := json.Marshal(obj{"mcpServers": obj{"label-state": obj{
		"command": filepath.Join(w.root, "bin", "label-state"), "args": []string{"mcp", "--codename", "lucius"},
		"env": obj{
			"LABEL_STATE_API_URL": w.base, "LABEL_STATE_TOKEN": "tok-agents", "HOME": w.home,
			"PATH": os.Getenv("PATH"),
		},
	}}})
	w.check(err)
	w.check(os.WriteFile(config, data, 0o600))
	ask := func(into any, method string, more ...string) {
		t.Helper()
		cmd := w.command(t.Context(), inspector.link,
			append([]string{"--cli", "--config", config, "--server", "label-state", "--method", method}, more...)...)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, into)
		}

		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", method, err, out, &said)
		}
	}

	var list struct {
		Tools []struct{ Name string }
	}
	ask(&list, "tools/list")
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}

	if want := strings.Fields("board claim dedup_check list log next release renew status"); !slices.Equal(names, want) {
		t.Errorf("it lists %q, want %q", names, want)
	}

	var called struct {
		IsError           bool
		StructuredContent struct {
			Answer string
			Result struct {
				Issue  string
				Renew  string `json:"renew_before"`
				Holder struct {
					Codename string
					Renew    string `json:"renew_before"`
				}
			}
		}
	}
	ask(&called, "tools/call", "--tool-name", "next", "--tool-arg", "ttl=30m")
	if r := called.StructuredContent; called.IsError || r.Answer != "yes" || r.Result.Issue != "acme/app#1" ||
		r.Result.Renew == "" {
		t.Errorf("next: %+v", called)
	}

	ask(&called, "tools/call", "--tool-name", "status", "--tool-arg", "issue=github-1")
	if r := called.StructuredContent; called.IsError || r.Answer != "yes" || r.Result.Holder.Codename != "lucius" ||
		r.Result.Holder.Renew == "" {
		t.Errorf("status: %+v", called)
	}
}
