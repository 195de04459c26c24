package agenthost_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
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
