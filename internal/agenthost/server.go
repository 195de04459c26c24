package agenthost

import "encoding/json"

// ServerName is the name of the MCP server in every host's file.
const ServerName = "label-state"

// A Server is how a host's file registers the MCP server: an entry of its name below the key.
type Server struct {
	Key   string
	Value json.RawMessage // the entry where the file is JSON; empty where it is TOML
	Table string          // the entry's lines where the file is TOML; empty where it is JSON
	New   string          // how a new file begins: what the host would add by itself, and change the worktree
}

// MCPServer returns the entry of a host.
func MCPServer(h Host, user bool) Server {
	if h == Copilot && !user { // the file that Claude Code reads as well, with the same entry
		h = ClaudeCode
	}
	return h.Profile().Server
}
