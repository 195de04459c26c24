package agentsetup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/agenthost"
)

// TestPackageLater: a package that is enabled after the installation does not keep our server in
// the host's file.
func TestPackageLater(t *testing.T) {
	p := place(t, true)
	file := filepath.Join(p.Home, ".codex", "config.toml")
	put(t, file, "model = \"o3\"\n")
	install(t, p, agenthost.Codex)
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "mcp_servers") {
		t.Fatalf("%v, %s", err, text)
	}

	put(t, file, string(text)+"\n[plugins.\"label-state@label-state\"]\nenabled = true\n")
	uninstall(t, p, agenthost.Codex)
	if text, err = os.ReadFile(file); err != nil || strings.Contains(string(text), "mcp_servers") ||
		!strings.Contains(string(text), "[plugins.") {
		t.Errorf("%v, left behind:\n%s", err, text)
	}
}

// TestLargeHistory: a file in which the host keeps its history and that is too large to be read has
// no server of ours; all else is set up and taken away.
func TestLargeHistory(t *testing.T) {
	p := place(t, true)
	file := filepath.Join(p.Home, ".claude.json")
	text := `{"history": "` + strings.Repeat("x", 8<<20) + `"}`
	put(t, file, text)
	install(t, p, agenthost.ClaudeCode)
	if all, some, _, err := p.Installed(agenthost.ClaudeCode); err != nil || !all || !some {
		t.Errorf("all %v, some %v, %v", all, some, err)
	}

	uninstall(t, p, agenthost.ClaudeCode)
	if _, some, _, err := p.Installed(agenthost.ClaudeCode); err != nil || some {
		t.Errorf("after uninstall: some %v, %v", some, err)
	}

	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("%v, %d bytes", err, len(got))
	}

	put(t, filepath.Join(p.Home, ".claude", "settings.json"), text)
	if _, err := p.Install(agenthost.ClaudeCode); err == nil {
		t.Error("hooks do not go without their file")
	}
}

// TestLinkToNothing: a link whose file is away, as of a folder that is not mounted, is not replaced
// by a file.
func TestLinkToNothing(t *testing.T) {
	p := place(t, true)
	file := filepath.Join(p.Home, ".codex", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink(filepath.Join(p.Home, "dot", "config.toml"), file); err != nil {
		t.Skipf("needs a file system with symbolic links: %v", err)
	}

	if _, err := p.Install(agenthost.Codex); err == nil ||
		!strings.Contains(err.Error(), "config.toml: it is a link to a file that is not there") {
		t.Errorf("%v", err)
	}
}
