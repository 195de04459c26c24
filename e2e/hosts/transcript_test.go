//go:build e2e

package hosts

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/golden"
)

// TestTranscript plays one session of Claude Code from its claim to its lost hold and compares
// testdata/session.txt, to which docs/agents.md links, with what the model was told: the start, and
// each tool's result. What differs from run to run is shortened. With -update the file is written.
func TestTranscript(t *testing.T) {
	w := newWorld(t, claude)
	w.labelState("agent", "install", "claude-code", "--yes")
	write := func(name string) step { return w.host.edit(filepath.Join(w.tree, name)) }
	mine := write("retry.go")
	late := write("upload.go")
	late.before = func() {
		claim := w.command(t.Context(), "label-state", "claim", "acme/app#1", "--force", "--reason", "a customer waits")
		claim.Dir, claim.Env = w.root, append(claim.Env, "LABEL_STATE_TOKEN=tok-olga")
		if out, err := claim.CombinedOutput(); err != nil {
			t.Errorf("take over: %v\n%s", err, out)
		}
		w.pass(11 * time.Minute)
	}

	steps := []struct {
		step
		line string // as the page shows it
	}{
		{w.host.shell("label-state claim 1"), "Bash: label-state claim 1"},
		{mine, "Write: retry.go"},
		{late, "Write: upload.go (olga has taken the issue meanwhile, and a heartbeat is due)"},
		{w.host.shell("git push origin main"), "Bash: git push origin main"},
		{w.host.shell("label-state next"), "Bash: label-state next"},
	}
	var script []step
	for _, s := range steps {
		script = append(script, s.step)
	}

	m := newModel(t, script)
	cmd, out := w.start(m)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out())
	}

	results := m.told(t)
	if len(results) != len(steps) {
		t.Fatalf("%d results of %d steps\n%s", len(results), len(steps), out())
	}

	var b strings.Builder
	start := regexp.MustCompile(`label-state: this worktree [^"\\]*`).FindString(m.text())
	fmt.Fprintf(&b, "The session starts\n    %s\n", start)

	for n, s := range steps {
		fmt.Fprintf(&b, "%s\n%s", s.line, indented(w.stable(results[n])))
	}

	golden.Check(t, filepath.Join("testdata", "session.txt"), b.String())
}

var (
	aMoment = regexp.MustCompile(`(\d{4}-\d\d-\d\d[ T])?\d\d:\d\d(:\d\d)?( UTC|Z)`)
	anID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(-[0-9a-f]+)?`)
)

// stable is a text without what differs from run to run: folders, times, ids and the address of the
// embedded GitHub.
func (w *world) stable(text string) string {
	text = strings.NewReplacer(w.tree+"/", "", w.tree, ".", w.base, "https://github.com").Replace(text)
	return anID.ReplaceAllString(aMoment.ReplaceAllString(text, "HH:MM UTC"), "SESSION")
}

func indented(text string) string {
	out := ""
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		out += "    " + line
	}
	return out
}
