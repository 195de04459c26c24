package agenthost

import "encoding/json"

// A Server is how a host's file registers the MCP server: an entry of that name below the key.
type Server struct {
	Key, Name string
	Value     json.RawMessage // the entry where the file is JSON; empty where it is TOML
	Table     string          // the entry's lines where the file is TOML; empty where it is JSON
	New       string          // how a new file begins: what the host would add by itself, and change the worktree
}

// MCPServer returns the entry of a host. ok is false for what is not a host.
func MCPServer(h Host, user bool) (s Server, ok bool) {
	s = Server{Key: "mcpServers", Name: "label-state"}
	switch h {
	case ClaudeCode:
		s.Value = encode(object{{"command", "label-state"}, {"args", []string{"mcp"}}})
	case Copilot:
		if !user { // the file that Claude Code reads as well, with the same entry
			return MCPServer(ClaudeCode, false)
		}
		s.Value = encode(object{
			{"type", "local"},
			{"command", "label-state"},
			{"args", []string{"mcp"}},
			{"tools", []string{"*"}},
		})
	case Gemini, Cursor: // whose commands do not say which session they are in
		s.Value = encode(object{{"command", "label-state"}, {"args", []string{"mcp", "--codename", string(h)}}})
	case Codex: // whose servers are not told the session either
		s.Key, s.Table = "mcp_servers", `command = "label-state"`+"\n"+`args = ["mcp", "--codename", "codex"]`+"\n"
	case OpenCode:
		s.Key, s.New = "mcp", "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n"
		s.Value = encode(object{{"type", "local"}, {"command", []string{"label-state", "mcp"}}, {"enabled", true}})
	default:
		return Server{}, false
	}

	return s, true
}
