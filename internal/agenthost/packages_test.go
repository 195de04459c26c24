package agenthost_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/golden"
)

// TestPackages: the packages in the repository are what this program makes; with -update they are
// written anew.
func TestPackages(t *testing.T) {
	known := map[string]bool{}
	for _, f := range agenthost.Packages() {
		known[f.Path] = true
		path := filepath.Join("..", "..", filepath.FromSlash(f.Path))
		if golden.Updating() {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
		}

		golden.Check(t, path, f.Text)
		if strings.HasSuffix(f.Path, ".json") && !json.Valid([]byte(f.Text)) {
			t.Errorf("%s is no JSON", f.Path)
		}
	}

	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, "agents"), func(path string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(root, path); err == nil && !d.IsDir() && !known[filepath.ToSlash(rel)] {
			t.Errorf("%s is of no package", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCommand: the command line of hooks is what users have trusted, for good.
func TestCommand(t *testing.T) {
	for _, h := range append(agenthost.Hosts(), agenthost.Plugin) {
		if got, want := agenthost.Command(h), "command -v label-state >/dev/null || exit 0; label-state agent event "+
			string(h); got != want {
			t.Errorf("%q, want %q: everybody would have to review it again", got, want)
		}
	}
}

// TestHooksAreKnown: every event that is handed over means something here, and every fenced tool is
// one that the reader knows.
func TestHooksAreKnown(t *testing.T) {
	for _, h := range append(agenthost.Hosts(), agenthost.Plugin) {
		for _, k := range agenthost.Hooks(h) {
			if _, err := regexp.Compile(k.Matcher); err != nil {
				t.Errorf("%s %s: %v", h, k.Event, err)
			}
			text, err := json.Marshal(map[string]any{
				"session_id": "s", "conversation_id": "s",
				"hook_event_name": k.Event,
			})
			if err != nil {
				t.Fatal(err)
			}

			if e, err := agenthost.Read(h, text); err != nil || e.Kind == agenthost.Ignored {
				t.Errorf("%s hands over %s, which is ignored (%v)", h, k.Event, err)
			}
		}
	}
}

// TestServers: the server of each host is started as that host's, and the file in a repository that
// Copilot and Claude Code both read has one entry.
func TestServers(t *testing.T) {
	nameless := []agenthost.Host{agenthost.Codex, agenthost.Cursor, agenthost.Gemini}
	for _, h := range agenthost.Hosts() {
		s := agenthost.MCPServer(h, true)
		text := string(s.Value) + s.Table
		named := strings.Contains(text, "--codename") && strings.Contains(text, `"`+string(h)+`"`)
		if s.Key == "" || !strings.Contains(text, "mcp") || named != slices.Contains(nameless, h) {
			t.Errorf("%s: %s has %s", h, s.Key, text)
		}
	}

	if got, want := agenthost.MCPServer(agenthost.Copilot, false), agenthost.MCPServer(agenthost.ClaudeCode, false); string(
		got.Value) != string(want.Value) || string(got.Value) == string(agenthost.MCPServer(agenthost.Copilot, true).Value) {
		t.Errorf("in a repository Copilot has %s, Claude Code %s", got.Value, want.Value)
	}
}
