package agenthost

// A Profile is all that differs between hosts, except what their events mean (event.go). A new host
// is a row of profiles, and a name in Hosts.
type Profile struct {
	Programs []string // names of its program, the first that is found; nil is the host's name
	First    string   // what a person does before it runs hooks; empty is to start a new session
	Session  string   // variable by which it names the session to commands; empty where it does not
	Inside   string   // variable that commands have where it does not
	Files    Files
	Server   Server // how its file registers the MCP server
	Version  bool   // its file of hooks has a version

	events []string // that its hooks hand over
	passes bool     // it says that a session ended because it was cleared, sooner or later
	fence  string   // the one of them before a call of the tools
	tools  string   // a pattern of their names
	entry  func(command string, k Hook) entry

	denial  func(e Event, why string) any // nil is refusal
	context string                        // key of text for the model; empty is below hookSpecificOutput
	listens func(event Event) bool        // whether it takes such text
}

// Files are where a host looks, with slashes. A folder is from the top of a repository, or from a
// user's home folder.
type Files struct {
	Folder   string // of the host
	User     string // the same below a home folder; empty is Folder
	Variable string // which takes the place of the first element of the user's folder
	Hooks    string // in the folder: its own file, where hooks are entries
	Whole    string // in the folder: a file of ours
	Text     string // of that file
	Skills   bool   // it looks for skills in its folder, and not in .agents

	// Where MCP servers are registered, in a repository and for a user: in the folder where it
	// begins with "./", else from the top, the home folder or the variable's. Empty is the file of
	// the hooks, and for a user what a repository has.
	Servers, UserServers string
}

// Profile is the host's; the zero value of what is not a host.
func (h Host) Profile() Profile {
	if h == Plugin {
		h = ClaudeCode
	}
	return profiles()[h]
}

func profiles() map[Host]Profile {
	return map[Host]Profile{
		ClaudeCode: {
			Programs: []string{"claude"},
			First: "start a new session of claude-code, which reads hooks when it starts; it asks once " +
				"whether it may use a repository's MCP server",
			Session: "CLAUDE_CODE_SESSION_ID",
			Files: Files{
				Folder:      ".claude",
				Variable:    "CLAUDE_CONFIG_DIR",
				Hooks:       "settings.json",
				Skills:      true,
				Servers:     ".mcp.json",
				UserServers: ".claude.json",
			},
			Server: Server{Key: "mcpServers", Value: []byte(`{"command":"label-state","args":["mcp"]}`)},
			events: []string{
				"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop",
				"SessionEnd",
			},
			passes:  true,
			fence:   "PreToolUse",
			tools:   claudeTools,
			entry:   grouped,
			listens: toClaude,
		},
		Codex: {
			First: "start codex, type /hooks and trust the hooks of label-state; until then Codex ignores " +
				"them silently",
			Session: "CODEX_SESSION_ID",
			Files: Files{
				Folder:   ".codex",
				Variable: "CODEX_HOME",
				Hooks:    "hooks.json",
				Servers:  "./config.toml",
			},
			// whose servers are not told the session
			Server: Server{
				Key:   "mcp_servers",
				Table: `command = "label-state"` + "\n" + `args = ["mcp", "--codename", "codex"]` + "\n",
			},
			events:  []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"},
			fence:   "PreToolUse",
			tools:   claudeTools,
			entry:   grouped,
			listens: toClaude,
		},
		Gemini: {
			First: "start gemini and trust the folder when it asks; in a folder that is not trusted it " +
				"loads no hooks",
			Session: "GEMINI_SESSION_ID",
			Inside:  "GEMINI_CLI",
			Files:   Files{Folder: ".gemini", Hooks: "settings.json"},
			Server:  nameless("gemini"),
			events:  []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"},
			fence:   "BeforeTool",
			tools:   "run_shell_command|write_file|replace|.*pull_request|.*push_files",
			entry: func(command string, k Hook) entry {
				hook := entry{
					Name:    "label-state",
					Type:    "command",
					Command: command,
					Timeout: 1000 * k.Seconds,
				}
				return entry{Matcher: k.Matcher, Hooks: []entry{hook}}
			},
			denial: func(_ Event, why string) any { return map[string]string{"decision": "deny", "reason": why} },
			listens: func(e Event) bool {
				return e.Kind == SessionStart && !e.clears() || e.Kind == AfterTool || e.Name == "BeforeAgent"
			},
		},
		Cursor: {
			Programs: []string{"cursor-agent", "cursor"},
			Files: Files{
				Folder:  ".cursor",
				Hooks:   "hooks.json",
				Servers: "./mcp.json",
			},
			Server: nameless("cursor"),
			events: []string{"sessionStart", "preToolUse", "beforeMCPExecution", "postToolUse", "stop", "sessionEnd"},
			fence:  "preToolUse",
			tools:  "Shell|Write|Edit|Delete",
			entry: func(command string, k Hook) entry {
				return entry{Command: command, Matcher: k.Matcher, Timeout: k.Seconds}
			},
			Version: true,
			denial: func(_ Event, why string) any {
				return map[string]string{"permission": "deny", "user_message": why, "agent_message": why}
			},
			context: "additional_context",
			listens: func(e Event) bool { return e.Kind == SessionStart },
		},
		Copilot: {
			First: "start copilot and trust the folder when it asks; in a folder that is not trusted it " +
				"loads no hooks",
			Session: "COPILOT_AGENT_SESSION_ID",
			Files: Files{
				Folder:      ".github",
				User:        ".copilot",
				Whole:       "hooks/label-state.json",
				Servers:     ".mcp.json",
				UserServers: "./mcp-config.json",
			},
			Server: Server{
				Key:   "mcpServers",
				Value: []byte(`{"type":"local","command":"label-state","args":["mcp"],"tools":["*"]}`),
			},
			events: []string{
				"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd",
			},
			fence: "preToolUse",
			tools: "bash|edit|create|apply_patch|.*pull_request|.*push_files",
			entry: func(command string, k Hook) entry {
				return entry{
					Type:       "command",
					Matcher:    k.Matcher,
					Bash:       command,
					TimeoutSec: k.Seconds,
				}
			},
			Version: true,
			denial: func(e Event, why string) any {
				if e.Name != "" {
					return refusal(e, why)
				}
				return map[string]string{"permissionDecision": "deny", "permissionDecisionReason": why}
			},
			context: "additionalContext",
			listens: func(e Event) bool { return e.Kind == SessionStart || e.Kind == AfterTool },
		},
		OpenCode: {
			Inside: "OPENCODE",
			Files: Files{
				Folder:      ".opencode",
				User:        ".config/opencode",
				Variable:    "XDG_CONFIG_HOME",
				Whole:       "plugins/label-state.js",
				Text:        openCodePlugin,
				Servers:     "opencode.json",
				UserServers: "./opencode.json",
			},
			Server: Server{
				Key:   "mcp",
				Value: []byte(`{"type":"local","command":["label-state","mcp"],"enabled":true}`),
				New:   "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n",
			},
			denial:  func(_ Event, why string) any { return map[string]string{"deny": why} },
			context: "context", // which its plugin adds to the system's text and to results
			listens: func(e Event) bool { return e.Kind == SessionStart || e.Kind == AfterTool },
		},
	}
}

// nameless is the MCP server of a host whose commands do not say which session they are in.
func nameless(codename string) Server {
	return Server{
		Key:   "mcpServers",
		Value: []byte(`{"command":"label-state","args":["mcp","--codename","` + codename + `"]}`),
	}
}

const claudeTools = "Bash|Edit|Write|MultiEdit|NotebookEdit|apply_patch|.*pull_request|.*push_files"

func toClaude(e Event) bool {
	return e.Kind == SessionStart || e.Kind == BeforeTool || e.Kind == AfterTool || e.Name == "UserPromptSubmit"
}
