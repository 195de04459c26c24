package agentsetup_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/agentsetup"
)

func place(t interface {
	TempDir() string
	Helper()
}, user bool,
) agentsetup.Place {
	t.Helper()
	dir := t.TempDir()
	return agentsetup.Place{
		Home:   filepath.Join(dir, "home"),
		Root:   filepath.Join(dir, "app"),
		User:   user,
		State:  filepath.Join(dir, "state"),
		Getenv: func(string) string { return "" },
	}
}

// tree is every file and folder below a folder, with its text.
func tree(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil || d.IsDir() {
				out[path] = "/"
				return err
			}

			text, err := os.ReadFile(path)
			out[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	return out
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func install(t *testing.T, p agentsetup.Place, h agenthost.Host) []agentsetup.Step {
	t.Helper()
	steps, err := p.Install(h)
	if err == nil {
		err = p.Carry(h, steps)
	}

	if err != nil {
		t.Fatal(err)
	}

	return steps
}

func uninstall(t *testing.T, p agentsetup.Place, h agenthost.Host) []agentsetup.Step {
	t.Helper()
	steps, err := p.Uninstall(h)
	if err == nil {
		err = p.TakeBack(h, steps)
	}

	if err != nil {
		t.Fatal(err)
	}

	return steps
}

// TestThereAndBack: every host, for a user and for a repository, into nothing: twice is once, and
// afterwards nothing is left.
func TestThereAndBack(t *testing.T) {
	for _, user := range []bool{true, false} {
		for _, h := range agenthost.Hosts() {
			p := place(t, user)
			put(t, filepath.Join(p.Home, "notes"), "x")
			put(t, filepath.Join(p.Root, "main.go"), "x")
			before := tree(t, p.Home, p.Root)
			first := install(t, p, h)
			if all, some, _, err := p.Installed(h); !all || !some || err != nil {
				t.Errorf("%s: %v, %v, %v", h, all, some, err)
			}

			after := tree(t, p.Home, p.Root)
			for _, s := range install(t, p, h) {
				if s.Kind != agentsetup.Same {
					t.Errorf("%s: %s once more: %s", h, s.Path, s.Kind)
				}
			}

			if again := tree(t, p.Home, p.Root); !maps.Equal(again, after) || len(first) < 2 {
				t.Errorf("%s: another installation changed something", h)
			}
			uninstall(t, p, h)
			if left := tree(t, p.Home, p.Root); !maps.Equal(left, before) {
				t.Errorf("%s: left behind: %v", h, left)
			}

			for _, s := range uninstall(t, p, h) {
				if s.Kind != agentsetup.Same {
					t.Errorf("%s: nothing is there, and %s: %s", h, s.Path, s.Kind)
				}
			}
		}
	}
}

// settings are files that people have: with comments, with hooks of their own, formatted as they
// like.
var settings = map[string]string{
	"plain":          "{\n  \"model\": \"x\"\n}\n",
	"no line break":  `{"model":"x"}`,
	"empty object":   "{}",
	"empty file":     "",
	"tabs":           "{\n\t\"model\": \"x\",\n\t\"env\": {\"A\": \"b\"}\n}\n",
	"comments":       "// mine\n{\n  // the model\n  \"model\": \"x\", // good\n  /* more */ \"a\": [1, 2,],\n}\n// end\n",
	"crlf":           "{\r\n  \"model\": \"x\"\r\n}\r\n",
	"own hooks":      "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]} // keep\n    ],\n    \"Other\": []\n  },\n  \"z\": 1\n}\n",
	"hooks on a row": `{"hooks":{"PreToolUse":[{"hooks":[]}],"BeforeTool":[],"preToolUse":[1]},"b":2}`,
	"of Windows":     "{\r\n  \"mine\": 1\r\n}\r\n",
	"empty hooks":    "{\"hooks\": {}}\n",
	"comment inside": "{\n  \"hooks\": {\n    // nothing yet\n  }\n}\n",
}

// TestSettingsStay: the user's settings and hooks are kept while ours are there, and are back byte
// for byte afterwards.
func TestSettingsStay(t *testing.T) {
	for name, text := range settings {
		for _, h := range []agenthost.Host{agenthost.ClaudeCode, agenthost.Codex, agenthost.Gemini, agenthost.Cursor} {
			p := place(t, false)
			steps, err := p.Install(h)
			if err != nil {
				t.Fatal(err)
			}

			file := steps[0].Path
			put(t, file, text)
			install(t, p, h)
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}

			if n := strings.Count(string(data), "label-state agent event "+string(h)); n != len(agenthost.Hooks(h)) {
				t.Errorf("%s, %s: %d hooks of ours:\n%s", h, name, n, data)
			}

			for _, part := range []string{
				"// mine", "// the model", "// good", "/* more */", "// end", "// keep",
				"// nothing yet", "mine\"", "[1, 2,]", "\"b\":2",
			} {
				if strings.Contains(text, part) && !strings.Contains(string(data), part) {
					t.Errorf("%s, %s: %q is gone:\n%s", h, name, part, data)
				}
			}

			if lines := strings.Count(string(data), "\n"); strings.Contains(text, "\r\n") &&
				strings.Count(string(data), "\r\n") != lines {
				t.Errorf("%s, %s: mixed line ends: %q", h, name, data)
			}

			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s, %s: mode %v, %v", h, name, info.Mode(), err)
			}
			uninstall(t, p, h)
			if got, err := os.ReadFile(file); err != nil || string(got) != text {
				t.Errorf("%s, %s: afterwards %q, %v; want %q", h, name, got, err, text)
			}
		}
	}
}

// TestEditedMeanwhile: what a person changes while our hooks are there stays when they go, and so
// does all they had.
func TestEditedMeanwhile(t *testing.T) {
	for name, text := range settings {
		p := place(t, false)
		file := filepath.Join(p.Root, ".claude", "settings.json")
		put(t, file, text)
		install(t, p, agenthost.ClaudeCode)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		put(t, file, strings.Replace(string(data), "{", "{\n  \"added\": true,", 1))
		uninstall(t, p, agenthost.ClaudeCode)
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		if strings.Contains(string(got), "label-state") || !strings.Contains(string(got), `"added": true`) {
			t.Errorf("%s: %s", name, got)
		}
		var a, b map[string]any
		had, now := standard(t, text), standard(t, string(got))
		if err := json.Unmarshal(had, &a); err != nil {
			t.Fatal(err)
		}

		if err := json.Unmarshal(now, &b); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, got)
		}

		for key := range a {
			if _, ok := b[key]; !ok && key != "hooks" {
				t.Errorf("%s: %s is gone: %s", name, key, got)
			}
		}
	}
}

func standard(t *testing.T, text string) []byte {
	t.Helper()
	if text == "" {
		text = "{}"
	}

	out, err := hujson.Standardize([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}

	return out
}

// TestOlderHooks: hooks of an earlier installation whose notes are gone are replaced, not doubled.
func TestOlderHooks(t *testing.T) {
	p := place(t, true)
	install(t, p, agenthost.Gemini)
	if err := os.RemoveAll(p.State); err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(p.Home, ".gemini", "settings.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	put(t, file, strings.Replace(string(data), "BeforeTool", "AfterModel", 1))
	if all, some, _, err := p.Installed(agenthost.Gemini); all || !some || err != nil {
		t.Errorf("outdated: %v, %v, %v", all, some, err)
	}

	install(t, p, agenthost.Gemini)
	data, err = os.ReadFile(file)
	if n := strings.Count(string(data), "agent event gemini"); err != nil ||
		n != len(agenthost.Hooks(agenthost.Gemini)) || strings.Contains(string(data), "AfterModel") {
		t.Errorf("%d hooks, %v:\n%s", n, err, data)
	}
}

// TestTheirs: a file of our name that somebody else has written stays, and so does one that was
// edited.
func TestTheirs(t *testing.T) {
	p := place(t, false)
	skill := filepath.Join(p.Root, ".claude", "skills", "label-state", "SKILL.md")
	put(t, skill, "my own")
	if steps := install(t, p, agenthost.ClaudeCode); steps[1].Kind != agentsetup.Theirs {
		t.Errorf("%s: %s", steps[1].Path, steps[1].Kind)
	}
	if all, some, _, err := p.Installed(agenthost.ClaudeCode); !all || !some || err != nil {
		t.Errorf("with their skill: %v, %v, %v", all, some, err)
	}

	uninstall(t, p, agenthost.ClaudeCode)
	if text, err := os.ReadFile(skill); err != nil || string(text) != "my own" {
		t.Errorf("%q, %v", text, err)
	}

	put(t, filepath.Join(p.Root, ".github", "hooks", "label-state.json"), agenthost.HookFile(agenthost.Copilot))
	install(t, p, agenthost.Copilot)
	put(t, filepath.Join(p.Root, ".github", "hooks", "label-state.json"), "{}")
	uninstall(t, p, agenthost.Copilot)
	if text, err := os.ReadFile(filepath.Join(p.Root, ".github", "hooks", "label-state.json")); err != nil ||
		string(text) != "{}" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSharedSkill: what several hosts read goes with the last of them, unless it was there before
// the first.
func TestSharedSkill(t *testing.T) {
	for _, before := range []string{"", agenthost.Skill()} {
		p := place(t, false)
		skill := filepath.Join(p.Root, ".agents", "skills", "label-state", "SKILL.md")
		if before != "" {
			put(t, skill, before)
		}

		for range 2 {
			install(t, p, agenthost.Codex)
			install(t, p, agenthost.Gemini)
		}
		uninstall(t, p, agenthost.Codex)
		if all, _, _, err := p.Installed(agenthost.Gemini); !all || err != nil {
			t.Errorf("Gemini's after Codex's went: %v, %v", all, err)
		}

		uninstall(t, p, agenthost.Gemini)
		if left := tree(t, p.Root); left[skill] != before || before == "" && len(left) > 1 {
			t.Errorf("left: %v", left)
		}
	}
}

// TestUnusable: a file that is not understood is named, and nothing at all is changed. Notes that
// cannot be kept are named as well.
func TestUnusable(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{", "a list": "[]", "hooks are a list": `{"hooks":[]}`,
		"an event is an object": `{"hooks":{"PreToolUse":{}}}`,
	} {
		p := place(t, false)
		put(t, filepath.Join(p.Root, ".claude", "settings.json"), text)
		before := tree(t, p.Root)
		if _, err := p.Install(agenthost.ClaudeCode); err == nil || !strings.Contains(err.Error(), "settings.json: ") {
			t.Errorf("%s: %v", name, err)
		}

		if !maps.Equal(tree(t, p.Root), before) {
			t.Errorf("%s: something was changed", name)
		}
	}

	p := place(t, false)
	if err := os.Symlink("nowhere", p.State); err != nil {
		t.Fatal(err)
	}
	steps, err := p.Install(agenthost.Codex)
	if err == nil {
		err = p.Carry(agenthost.Codex, steps)
	}
	if err == nil || !strings.HasPrefix(err.Error(), p.State) {
		t.Errorf("without a place for notes: %v", err)
	}
}

// TestServers: the MCP server is registered once for each host whose file is JSON, beside what the
// user has there, and taken away byte for byte, also where two hosts read one file. An entry of the
// user's own stays.
func TestServers(t *testing.T) {
	const theirs = "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"} // keep\n  }\n}\n"
	for _, user := range []bool{false, true} {
		for h, file := range map[agenthost.Host][2]string{
			agenthost.ClaudeCode: {".mcp.json", ".claude.json"},
			agenthost.Copilot:    {".mcp.json", ".copilot/mcp-config.json"},
			agenthost.Cursor:     {".cursor/mcp.json", ".cursor/mcp.json"},
			agenthost.Gemini:     {".gemini/settings.json", ".gemini/settings.json"},
			agenthost.OpenCode:   {"opencode.json", ".config/opencode/opencode.json"},
		} {
			p := place(t, user)
			path := filepath.Join(p.Root, filepath.FromSlash(file[0]))
			if user {
				path = filepath.Join(p.Home, filepath.FromSlash(file[1]))
			}

			put(t, path, theirs)
			install(t, p, h)
			text := tree(t, path)[path]
			if n := strings.Count(text, `"label-state"`); n < 1 || !strings.Contains(text, "// keep") ||
				!strings.Contains(text, `"mcp"`) {
				t.Errorf("%s: %s", h, text)
			}

			if data, err := hujson.Standardize([]byte(text)); err != nil || !json.Valid(data) {
				t.Errorf("%s: %v: %s", h, err, text)
			}
			uninstall(t, p, h)
			if got := tree(t, path)[path]; got != theirs {
				t.Errorf("%s: left %s", h, got)
			}

			put(t, path, "")
			install(t, p, h)
			if got := tree(t, path)[path]; strings.Contains(got, "$schema") != (h == agenthost.OpenCode) {
				t.Errorf("%s: of an empty file: %s", h, got)
			}
		}
	}

	p := place(t, false)
	shared := filepath.Join(p.Root, ".mcp.json")
	install(t, p, agenthost.ClaudeCode)
	install(t, p, agenthost.Copilot)
	uninstall(t, p, agenthost.ClaudeCode)
	if !strings.Contains(tree(t, shared)[shared], "label-state") {
		t.Error("Copilot's server went with Claude Code's")
	}

	uninstall(t, p, agenthost.Copilot)
	if left := tree(t, p.Root); len(left) > 1 {
		t.Errorf("left: %v", left)
	}

	own := "{\"mcpServers\": {\"label-state\": {\"command\": \"/opt/label-state\", \"args\": [\"mcp\"]}}}\n"
	put(t, shared, own)
	install(t, p, agenthost.ClaudeCode)
	if got := tree(t, shared)[shared]; got != own {
		t.Errorf("the user's own entry became %s", got)
	}

	uninstall(t, p, agenthost.ClaudeCode)
	if got := tree(t, shared)[shared]; got != own {
		t.Errorf("the user's own entry became %s", got)
	}
}

// TestCodexServer: Codex's own file is TOML. The server is a table behind everything else, and
// everything else of the file stays.
func TestCodexServer(t *testing.T) {
	const table = "[mcp_servers.label-state]\ncommand = \"label-state\"\nargs = [\"mcp\", \"--codename\", \"codex\"]\n"
	for name, theirs := range map[string]string{
		"no file": "", "empty": "", "comments and order": "# mine\nmodel = \"gpt\"   # keep\n\n[projects.\"/a b\"]\ntrust_level = 'trusted'\n", "no end of line": "model = \"gpt\"",
		"another server": "[mcp_servers.other]\ncommand = \"x\"\n",
		"servers above":  "[mcp_servers]\n[mcp_servers.other]\ncommand = \"x\"\n\n[analytics]\nenabled = false\n",
		"dotted":         "mcp_servers.other.command = \"x\"\n", "CRLF": "model = \"gpt\"\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, user := range []bool{false, true} {
				p := place(t, user)
				file := filepath.Join(p.Root, ".codex", "config.toml")
				if user {
					file = filepath.Join(p.Home, ".codex", "config.toml")
				}

				if name != "no file" {
					put(t, file, theirs)
				}
				install(t, p, agenthost.Codex)
				text := tree(t, file)[file]
				want := table
				if name == "CRLF" {
					want = strings.ReplaceAll(table, "\n", "\r\n")
				}
				rest, ok := strings.CutSuffix(text, want)
				if !ok || !strings.HasPrefix(rest, theirs) ||
					strings.TrimSpace(strings.TrimPrefix(rest, theirs)) != "" {
					t.Errorf("installed:\n%s", text)
				}

				var doc struct {
					Servers map[string]struct {
						Command string
						Args    []string
					} `toml:"mcp_servers"`
				}

				if err := toml.Unmarshal([]byte(text), &doc); err != nil ||
					doc.Servers["label-state"].Command != "label-state" {
					t.Errorf("%v: %+v", err, doc)
				}

				for _, s := range install(t, p, agenthost.Codex) {
					if s.Kind != agentsetup.Same {
						t.Errorf("installed again: %s %s", s.Kind, s.Path)
					}
				}

				uninstall(t, p, agenthost.Codex)
				got, there := tree(t, file)[file]
				if there != (name != "no file") || got != theirs {
					t.Errorf("left %q", got)
				}
			}
		})
	}
}

// TestCodexServerLater: Codex writes to the file itself. What it or its user has added since stays,
// in front of our table and behind it.
func TestCodexServerLater(t *testing.T) {
	p := place(t, true)
	own := filepath.Join(p.Home, "own") // where its user has put its files
	p.Getenv = func(name string) string { return map[string]string{"CODEX_HOME": own}[name] }
	file := filepath.Join(own, "config.toml")
	put(t, file, "model = \"gpt\"\n")
	install(t, p, agenthost.Codex)
	text := tree(t, file)[file]
	put(t, file, "# new\n"+text+"\n# trusted\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n")
	if all, _, _, err := p.Installed(agenthost.Codex); !all || err != nil {
		t.Errorf("installed: %v, %v", all, err)
	}

	uninstall(t, p, agenthost.Codex)
	if got, want := tree(t, file)[file], "# new\nmodel = \"gpt\"\n\n# trusted\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n"; got != want {
		t.Errorf("left %q, want %q", got, want)
	}
}

// TestCodexServerKept: an entry of the user's own stays, and a file that no table can be added to
// is named and not changed.
func TestCodexServerKept(t *testing.T) {
	for name, c := range map[string]struct{ text, problem string }{
		"own":           {"[mcp_servers.label-state]\ncommand = \"/opt/label-state\"\n", ""},
		"own, inline":   {"mcp_servers = {label-state = {command = \"/opt/label-state\"}}\n", ""},
		"more settings": {"[mcp_servers.label-state]\ncommand = \"label-state\"\nargs = [\"mcp\", \"--codename\", \"codex\"]\n[mcp_servers.label-state.env]\nA = \"b\"\n", ""},
		"ours, dotted":  {"mcp_servers.label-state.command = \"label-state\"\nmcp_servers.label-state.args = [\"mcp\", \"--codename\", \"codex\"]\n", ""},
		"no TOML":       {"model = \n", "config.toml: it is not valid TOML: line 1"},
		"no table":      {"mcp_servers = 1\n", "config.toml: mcp_servers is not a table"},
		"an inline list": {
			"mcp_servers = {other = {command = \"x\"}}\n",
			"config.toml: mcp_servers is an inline table",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := place(t, true)
			file := filepath.Join(p.Home, ".codex", "config.toml")
			put(t, file, c.text)
			_, err := p.Install(agenthost.Codex)
			if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%v, want %q", err, c.problem)
			}

			if err == nil {
				install(t, p, agenthost.Codex)
				if got := tree(t, file)[file]; got != c.text {
					t.Errorf("installed: %q", got)
				}

				if err := os.RemoveAll(p.State); err != nil { // without a note of what was there
					t.Fatal(err)
				}
				uninstall(t, p, agenthost.Codex)
			}

			if got := tree(t, file)[file]; got != c.text {
				t.Errorf("left %q", got)
			}
		})
	}
}

// TestClaudeUserServer: Claude Code keeps its user's servers in a file that it writes to all the
// time. What it has written since stays.
func TestClaudeUserServer(t *testing.T) {
	p := place(t, true)
	file := filepath.Join(p.Home, ".claude.json")
	const theirs = "{\n  \"userID\": \"u\",\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}"
	put(t, file, theirs)
	install(t, p, agenthost.ClaudeCode)
	text := tree(t, file)[file]
	if !strings.Contains(text, `"label-state"`) || !strings.Contains(text, `"other"`) {
		t.Errorf("installed: %s", text)
	}

	uninstall(t, p, agenthost.ClaudeCode)
	if got := tree(t, file)[file]; got != theirs {
		t.Errorf("left %s", got)
	}

	install(t, p, agenthost.ClaudeCode)
	later := strings.Replace(tree(t, file)[file], `"u"`, `"u2"`, 1) // by the host
	put(t, file, strings.Replace(later, "\n    }\n  }", "\n    },\n    \"third\": {}\n  }", 1))
	if all, _, _, err := p.Installed(agenthost.ClaudeCode); !all || err != nil {
		t.Errorf("with another server behind: %v, %v\n%s", all, err, tree(t, file)[file])
	}

	put(t, file, later)
	uninstall(t, p, agenthost.ClaudeCode)
	if got := tree(t, file)[file]; got != strings.Replace(theirs, `"u"`, `"u2"`, 1) {
		t.Errorf("left %s", got)
	}

	own := filepath.Join(p.Home, "cfg")
	p.Getenv = func(name string) string { return map[string]string{"CLAUDE_CONFIG_DIR": own}[name] }
	install(t, p, agenthost.ClaudeCode)
	file = filepath.Join(own, ".claude.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file that will hold secrets: %v, %v", info, err)
	}

	uninstall(t, p, agenthost.ClaudeCode)
	if _, err := os.Stat(own); err == nil {
		t.Error("the folder is left")
	}
}

// TestChangedMeanwhile: a file that its host has written between the preview and the yes is not
// written over.
func TestChangedMeanwhile(t *testing.T) {
	p := place(t, true)
	file := filepath.Join(p.Home, ".claude.json")
	change := func(take func(agenthost.Host, []agentsetup.Step) error, steps []agentsetup.Step, err error,
		text string,
	) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}

		put(t, file, text)
		if err := take(agenthost.ClaudeCode, steps); err == nil || !strings.HasPrefix(err.Error(), file+": ") {
			t.Errorf("carried out: %v", err)
		}

		if got := tree(t, file)[file]; got != text {
			t.Errorf("written over: %s", got)
		}
	}

	put(t, file, `{"a":1}`)
	steps, err := p.Install(agenthost.ClaudeCode)
	change(p.Carry, steps, err, `{"a":2}`)
	install(t, p, agenthost.ClaudeCode)
	steps, err = p.Uninstall(agenthost.ClaudeCode)
	change(p.TakeBack, steps, err, `{"a":3}`)
}

// TestServerOnce: where the plugin registers the server, installing the hooks does not.
func TestServerOnce(t *testing.T) {
	p := place(t, false)
	put(t, filepath.Join(p.Root, ".claude", "settings.json"), `{"enabledPlugins": {"label-state@label-state": true}}`)
	install(t, p, agenthost.ClaudeCode)
	if file := filepath.Join(p.Root, ".mcp.json"); tree(t, file)[file] != "" {
		t.Error("the server is registered twice")
	}

	put(t, filepath.Join(p.Root, ".claude", "settings.json"), `{"enabledPlugins": {"label-state@label-state": false}}`)
	install(t, p, agenthost.ClaudeCode)
	if file := filepath.Join(p.Root, ".mcp.json"); tree(t, file)[file] == "" {
		t.Error("a plugin that is switched off registers nothing, and neither do we")
	}

	p = place(t, true)
	file := filepath.Join(p.Home, ".codex", "config.toml")
	const plugin = "[plugins.\"label-state@label-state\"]\nenabled = true\n"
	put(t, file, plugin)
	install(t, p, agenthost.Codex)
	if got := tree(t, file)[file]; got != plugin {
		t.Errorf("the server is registered twice: %s", got)
	}

	off := strings.Replace(plugin, "true", "false", 1)
	put(t, file, off)
	install(t, p, agenthost.Codex)
	if got := tree(t, file)[file]; got == off {
		t.Error("a plugin that is switched off registers nothing, and neither do we")
	}
}
