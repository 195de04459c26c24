package agentsetup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/agenthost"
)

// ofUser is a user's place.
func ofUser(t *testing.T) Place {
	dir := t.TempDir()
	return Place{Home: filepath.Join(dir, "home"), User: true, State: filepath.Join(dir, "state"), Getenv: func(string) string { return "" }}
}

// set writes a file of the user's.
func set(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func install(t *testing.T, p Place, h agenthost.Host) {
	t.Helper()
	steps, err := p.Install(h)
	if err == nil {
		err = p.Carry(h, steps)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func uninstall(t *testing.T, p Place, h agenthost.Host) {
	t.Helper()
	steps, err := p.Uninstall(h)
	if err == nil {
		err = p.TakeBack(h, steps)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPackageLater: a package that is enabled after the installation does not keep our server in the host's file.
func TestPackageLater(t *testing.T) {
	p := ofUser(t)
	file := filepath.Join(p.Home, ".codex", "config.toml")
	set(t, file, "model = \"o3\"\n")
	install(t, p, agenthost.Codex)
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "mcp_servers") {
		t.Fatalf("%v, %s", err, text)
	}
	set(t, file, string(text)+"\n[plugins.\"label-state@label-state\"]\nenabled = true\n")
	uninstall(t, p, agenthost.Codex)
	if text, err = os.ReadFile(file); err != nil || strings.Contains(string(text), "mcp_servers") || !strings.Contains(string(text), "[plugins.") {
		t.Errorf("%v, left behind:\n%s", err, text)
	}
}

// TestLargeHistory: a file in which the host keeps its history and that is too large to be read has no server of ours; all else is set up
// and taken away.
func TestLargeHistory(t *testing.T) {
	p := ofUser(t)
	file := filepath.Join(p.Home, ".claude.json")
	text := `{"history": "` + strings.Repeat("x", largest) + `"}`
	set(t, file, text)
	install(t, p, agenthost.ClaudeCode)
	if all, some, err := p.Installed(agenthost.ClaudeCode); err != nil || !all || !some {
		t.Errorf("all %v, some %v, %v", all, some, err)
	}
	uninstall(t, p, agenthost.ClaudeCode)
	if _, some, err := p.Installed(agenthost.ClaudeCode); err != nil || some {
		t.Errorf("after uninstall: some %v, %v", some, err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("%v, %d bytes", err, len(got))
	}
}

// TestLinkToNothing: a link whose file is away, as of a folder that is not mounted, is not replaced by a file.
func TestLinkToNothing(t *testing.T) {
	p := ofUser(t)
	file := filepath.Join(p.Home, ".codex", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(p.Home, "dot", "config.toml"), file); err != nil {
		t.Skip(err)
	}
	if _, err := p.Install(agenthost.Codex); err == nil || !strings.Contains(err.Error(), "config.toml: it is a link to a file that is not there") {
		t.Errorf("%v", err)
	}
}
