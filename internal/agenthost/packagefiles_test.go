package agenthost

import (
	"bytes"
	"encoding/json"
)

// A File is a file of a package, by its path in the repository.
type File struct{ Path, Text string }

// PackageVersion is raised when a package changes: hosts that have it copy it anew then. The
// program itself has versions of its own.
const PackageVersion = "1.0.0"

const about = "Nobody does the same issue twice: sessions hold the issues they work on, and release them."

// Packages returns the packages of the repository, which hosts install from there: a plugin that
// Claude Code, Codex and Copilot CLI share, Gemini's extension in a folder of its own, and the
// files for opencode and Cursor.
func Packages() []File {
	const (
		name   = "label-state"
		plugin = "agents/plugin/"
		gemini = "agents/gemini/"
		skills = "skills/label-state/SKILL.md"
		home   = "https://github.com/label-state/label-state"
	)
	owner := object{{"name", name}, {"url", home}}
	server := object{{"label-state", object{{"command", name}, {"args", []string{"mcp"}}}}}
	geminis := object{{
		"label-state",
		object{{"command", name}, {"args", []string{"mcp", "--codename", string(Gemini)}}},
	}}

	return []File{
		{".claude-plugin/marketplace.json", pretty(object{
			{"name", name},
			{"owner", owner},
			{"description", about},
			{"plugins", []any{object{{"name", name}, {"source", "./agents/plugin"}, {"description", about}}}},
		})},
		{plugin + ".claude-plugin/plugin.json", pretty(object{
			{"name", name},
			{"version", PackageVersion},
			{"description", about},
			{"author", owner},
			{"homepage", home},
			{"license", "MIT"},
		})},
		{plugin + "hooks/hooks.json", HookFile(Plugin)},
		{plugin + ".mcp.json", pretty(object{{"mcpServers", server}})},
		{plugin + skills, skill},
		{
			gemini + "gemini-extension.json",
			pretty(object{
				{"name", name},
				{"version", PackageVersion},
				{"description", about},
				{"mcpServers", geminis},
			}),
		},
		{gemini + "hooks/hooks.json", HookFile(Gemini)},
		{gemini + skills, skill},
		{"agents/opencode/label-state.js", openCodePlugin},
		{"agents/cursor/hooks.json", HookFile(Cursor)},
	}
}

// An object is a JSON object whose keys keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for n, m := range o {
		b.WriteByte("{,"[min(n, 1)])
		b.Write(encode(m.key))
		b.WriteByte(':')
		b.Write(encode(m.value))
	}

	b.WriteByte('}')
	return b.Bytes(), nil
}

// pretty is a whole file.
func pretty(v any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, encode(v), "", "  "); err != nil {
		panic(err)
	}
	return b.String() + "\n"
}
