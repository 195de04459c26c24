package agenthost_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/agenthost"
)

// opencodeScript plays a session with a child session to the plugin, as opencode does.
const opencodeScript = `import { LabelState } from "./label-state.mjs"
const p = await LabelState({ directory: "/w/app" })
await p.event({ event: { type: "session.created", properties: { info: { id: "parent" } } } })
await p.event({ event: { type: "session.created", properties: { info: { id: "child", parentID: "parent" } } } })
const system = []
await p["experimental.chat.system.transform"]({ sessionID: "child" }, { system })
console.log("system " + system)
const env = {}
await p["shell.env"]({ sessionID: "child" }, { env })
console.log("env " + env.LABEL_STATE_SESSION)
await p["tool.execute.before"]({ sessionID: "child", tool: "edit" }, { args: { filePath: "a.txt" } }).then(() => console.log("allowed"), (e) => console.log("denied " + e.message))
await p["tool.execute.before"]({ sessionID: "child", callID: "c", tool: "bash" }, { args: { command: "label-state claim 42" } }).then(() => console.log("allowed"), (e) => console.log("denied " + e.message))
await p["tool.execute.after"]({ sessionID: "child", callID: "c", tool: "bash" }, {})
const output = { output: "done" }
await p["tool.execute.after"]({ sessionID: "child", tool: "edit" }, output)
console.log("output " + output.output.replaceAll("\n", "|"))
await p.event({ event: { type: "session.deleted", properties: { info: { id: "child", parentID: "parent" } } } })
await p.event({ event: { type: "session.deleted", properties: { info: { id: "parent" } } } })
`

// opencodeProgram stands in for label-state: it keeps the event and answers it.
const opencodeProgram = `#!/bin/sh
event=$(cat)
echo "$event" >>"$EVENTS"
case $event in
*SessionStart*) echo '{"context":"you hold 42"}' ;;
*PreToolUse*edit*) echo '{"deny":"it is lost"}' ;;
*PostToolUse*) echo '{"context":"renewed"}' ;;
esac
`

// TestOpenCodePlugin: a child session acts under its parent's hold, a denial is thrown, and what
// the model is to know reaches it. Without the program on the search path everything goes on.
func TestOpenCodePlugin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell for the program that stands in")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("LABEL_STATE_REQUIRE"), ","), "npm") {
			t.Fatalf("LABEL_STATE_REQUIRE promises npm: %v", err)
		}
		t.Skipf("needs node: %v", err)
	}

	dir := t.TempDir()
	events := filepath.Join(dir, "events")
	for name, text := range map[string]string{
		"label-state.mjs": agenthost.OpenCode.Profile().Files.Text, "play.mjs": opencodeScript,
		"label-state": opencodeProgram,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	play := func(path string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), node, "play.mjs")
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + path, "EVENTS=" + events}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}

		return string(out)
	}

	if got, want := play(dir+string(os.PathListSeparator)+os.Getenv("PATH")),
		"system you hold 42\nenv opencode:parent\ndenied it is lost\nallowed\noutput done||renewed\n"; got != want {
		t.Errorf("with the program:\n%s\nwant:\n%s", got, want)
	}

	data, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}

	var kinds []string
	for line := range strings.Lines(string(data)) {
		e, err := agenthost.Read(agenthost.OpenCode, []byte(line))
		if err != nil || e.Session.ID != "parent" || e.Dir != "/w/app" {
			t.Errorf("%s: %+v, %v", line, e, err)
		}
		if e.Tool == "bash" && e.Changes {
			t.Errorf("%s: a claim is taken for a change", line)
		}
		kinds = append(kinds, string(e.Kind))
	}

	if want := []agenthost.Kind{
		agenthost.SessionStart, agenthost.BeforeTool, agenthost.BeforeTool, agenthost.AfterTool,
		agenthost.AfterTool, agenthost.SessionEnd,
	}; !slices.Equal(kinds, texts(want)) {
		t.Errorf("events %q, want %q", kinds, want)
	}

	if got, want := play(""), "system \nenv opencode:parent\nallowed\nallowed\noutput done\n"; got != want {
		t.Errorf("without the program:\n%s\nwant:\n%s", got, want)
	}
}

func texts(kinds []agenthost.Kind) (out []string) {
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return out
}
