//go:build e2e

// Package hosts drives real hosts of coding agents, offline, against a scripted model and the
// embedded GitHub.
package hosts

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// A host is how one host is found, started headless and spoken to by the model.
type host struct {
	name    string
	folder  string   // of the package.json that pins it; "more" is not installed by .ci/run
	program string   // below the folder, as npm puts it
	link    string   // the program's name on the search path
	turn    []string // arguments of one headless turn, with the prompt
	chat    []string // arguments of a session in a terminal
	ready   string   // what the terminal shows when it can be typed into
	env     func(m *model) map[string]string
	files   func(m *model, w *world) map[string]string // below the home folder, or the worktree with "tree/" before it
	shell   func(command string) step
	edit    func(file string) step
	agent   func(prompt string) step // hands work to a sub-agent
	label   string                   // what LABEL_STATE_REQUIRE calls it
}

var claude = host{
	name:    "claude-code",
	program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
	link:    "claude",
	label:   "hosts",
	turn: []string{
		"-p", prompt, "--model", "fake-model", "--allowedTools", "Bash Edit Write Read", "--output-format",
		"json",
	},
	chat:  []string{"--model", "fake-model", "--allowedTools", "Bash Edit Write Read", "--permission-mode", "default"},
	ready: "for shortcuts",
	env: func(m *model) map[string]string {
		return map[string]string{
			"ANTHROPIC_BASE_URL": m.url, "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
			"DISABLE_AUTOUPDATER": "1",
		}
	},
	files: func(_ *model, w *world) map[string]string { // what a person has agreed to once, in a terminal
		return map[string]string{".claude.json": text(obj{
			"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": obj{"approved": []string{"x"}},
			"projects": obj{w.tree: obj{
				"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
				"enabledMcpjsonServers": []string{"label-state"},
			}},
		})}
	},
	shell: func(command string) step {
		return step{name: "Bash", input: obj{"command": command, "description": "work"}}
	},
	edit: func(file string) step { return step{name: "Write", input: obj{"file_path": file, "content": "new\n"}} },
	agent: func(prompt string) step {
		return step{name: "Agent", input: obj{
			"description": "work", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false,
		}}
	},
}

var codex = host{
	name:    "codex",
	program: "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
	link:    "codex",
	label:   "hosts",
	turn:    []string{"exec", "--json", "--dangerously-bypass-hook-trust", prompt},
	chat:    []string{"--dangerously-bypass-hook-trust"},
	ready:   "for shortcuts",
	env:     func(*model) map[string]string { return map[string]string{"FAKE_KEY": "x"} },
	files: func(m *model, w *world) map[string]string {
		return map[string]string{".codex/config.toml": fmt.Sprintf(`model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[shell_environment_policy]
inherit = "all"
ignore_default_excludes = true
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[projects."%s"]
trust_level = "trusted"
[analytics]
enabled = false
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
`, m.url, w.tree)}
	},
	shell: func(command string) step { return step{name: "exec_command", input: obj{"cmd": command}} },
	edit: func(file string) step {
		return step{name: "apply_patch", raw: "*** Begin Patch\n*** Add File: " + filepath.Base(file) +
			"\n+new\n*** End Patch"}
	},
	agent: func(prompt string) step {
		return step{name: "multi_agent_v1/spawn_agent", input: obj{"message": prompt, "agent_type": "default"}}
	},
}

var geminiCLI = host{
	name:    "gemini",
	folder:  "more",
	program: "node_modules/.bin/gemini",
	link:    "gemini",
	label:   "more-hosts",
	turn:    []string{"-p", prompt, "--yolo", "-m", "gemini-2.5-flash", "-o", "json"},
	chat:    []string{"--yolo", "-m", "gemini-2.5-flash"},
	ready:   "Type your message",
	env: func(m *model) map[string]string {
		return map[string]string{
			"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": m.url,
			"GEMINI_CLI_TRUST_WORKSPACE": "true",
		}
	},
	files: func(*model, *world) map[string]string {
		return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},` +
			`"telemetry":{"enabled":false},"general":{"disableAutoUpdate":true,"enableAutoUpdate":false}}`}
	},
	shell: func(command string) step {
		return step{name: "run_shell_command", input: obj{"command": command, "description": "work"}}
	},
	edit: func(file string) step {
		return step{name: "write_file", input: obj{"file_path": file, "content": "new\n"}}
	},
	agent: func(prompt string) step {
		return step{name: "invoke_agent", input: obj{"agent_name": "generalist", "prompt": prompt}}
	},
}

var copilot = host{
	name:    "copilot",
	folder:  "more",
	program: "node_modules/@github/copilot-linux-x64/copilot",
	link:    "copilot",
	label:   "more-hosts",
	turn:    []string{"-p", prompt, "--allow-all-tools", "--trust-folder", "--output-format", "json"},
	chat:    []string{"--allow-all-tools"},
	ready:   "/ commands",
	env: func(m *model) map[string]string {
		return map[string]string{
			"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": m.url + "/v1", "COPILOT_PROVIDER_API_KEY": "x",
			"COPILOT_MODEL":       "fake-model",
			"COPILOT_AUTO_UPDATE": "false",
		}
	},
	files: func(_ *model, w *world) map[string]string {
		return map[string]string{".copilot/config.json": text(obj{"trustedFolders": []string{w.tree}})}
	},
	shell: func(command string) step {
		return step{name: "bash", input: obj{"command": command, "description": "work"}}
	},
	edit: func(file string) step {
		return step{name: "create", input: obj{"path": file, "file_text": "new\n"}}
	},
	agent: func(prompt string) step {
		return step{name: "task", input: obj{
			"name": "helper", "description": "work", "prompt": prompt, "agent_type": "general-purpose", "mode": "sync",
		}}
	},
}

var openCode = host{
	name:    "opencode",
	folder:  "more",
	program: "node_modules/opencode-linux-x64/bin/opencode",
	link:    "opencode",
	label:   "more-hosts",
	turn:    []string{"run", "--format", "json", prompt},
	env: func(*model) map[string]string {
		return map[string]string{
			"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
		}
	},
	files: func(m *model, _ *world) map[string]string {
		return map[string]string{".config/opencode/opencode.json": `{"$schema":"https://opencode.ai/config.json","autoupdate":false,"share":"disabled","provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"fake",` +
			`"options":{"baseURL":"` + m.url +
			`/v1","apiKey":"x"},"models":{"m":{"name":"m","tool_call":true,"limit":{"context":100000,"output":8000}}}}},` +
			`"model":"fake/m","small_model":"fake/m","permission":{"edit":"allow","bash":"allow"}}`}
	},
	shell: func(command string) step {
		return step{name: "bash", input: obj{"command": command, "description": "work"}}
	},
	edit: func(file string) step {
		return step{name: "write", input: obj{"filePath": file, "content": "new\n"}}
	},
	agent: func(prompt string) step {
		return step{name: "task", input: obj{"description": "work", "prompt": prompt, "subagent_type": "general"}}
	},
}

// need ends the test when reason says that a host is not to be had: it skips with the reason, or
// fails where LABEL_STATE_REQUIRE, a list with commas, promises it.
func need(t *testing.T, label string, reason error) {
	t.Helper()
	switch {
	case reason == nil:
	case promised(label):
		t.Fatalf("LABEL_STATE_REQUIRE promises %s: %v", label, reason)
	default:
		t.Skipf("needs %s: %v", label, reason)
	}
}

func promised(label string) bool {
	return slices.Contains(strings.Split(os.Getenv("LABEL_STATE_REQUIRE"), ","), label)
}

// find returns the host's program: from the cache folder where npm has put what the lock file pins.
// What is not there is fetched only where it is promised, because it is large.
func (h host) find(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(h.folder, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}

	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}

	dir := filepath.Join(cache, "label-state-hosts", fmt.Sprintf("%x", sha256.Sum256(lock))[:12])
	program := filepath.Join(dir, filepath.FromSlash(h.program))
	if _, err := os.Stat(program); err == nil {
		return program
	}

	if !promised(h.label) {
		need(t, h.label, fmt.Errorf("%s is not in %s; make hosts fetches it", h.name, dir))
	}
	manifest, err := os.ReadFile(filepath.Join(h.folder, "package.json"))
	if err == nil {
		err = errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o644),
			os.WriteFile(filepath.Join(dir, "package-lock.json"), lock, 0o644))
	}

	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix",
		dir).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("npm ci: %w: %.300s", err, out)
	}

	if err == nil {
		_, err = os.Stat(program)
	}
	need(t, h.label, err)

	return program
}

// A world is one host in a worktree of acme/app on an embedded GitHub.
type world struct {
	*githubsim.Server
	t                *testing.T
	host             host
	root, home, tree string
	base             string
	extra            map[string]string
	outage           atomic.Bool // GitHub cannot be reached
}

// prompt is what a session is asked to do, unless the test says otherwise.
const prompt = "script-one"

func newWorld(t *testing.T, h host) *world {
	t.Helper()
	program := h.find(t)
	write := map[string]string{"acme/app": "write"}
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "agents", Token: "tok-agents", Permissions: write},
			{Login: "olga", Token: "tok-olga", Permissions: map[string]string{"acme/app": "admin"}},
		},
		Repos: []githubsim.SeedRepo{{
			Name:          "acme/app",
			DefaultBranch: "main",
			Labels: []githubsim.SeedLabel{
				{Name: "agent:implement"},
				{Name: "agent:in-flight"},
				{Name: "agent:pr-open"},
				{Name: "agent:done"},
			},
			Issues: []githubsim.SeedIssue{
				{Number: 1, Title: "Retry the upload", Author: "olga", Labels: []string{"agent:implement"}},
				{Number: 2, Title: "Say which file", Author: "olga", Labels: []string{"agent:implement"}},
			},
		}},
	}, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	w := &world{Server: server, t: t, host: h, root: root, home: filepath.Join(root, "home"), tree: filepath.Join(root, "app")}
	server.Fault = func(*http.Request) *githubsim.Fault {
		if w.outage.Load() {
			return &githubsim.Fault{Reset: true}
		}
		return nil
	}
	base, stop, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	w.base = base
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{w.home, w.tree, bin, filepath.Join(root, "tmp")} {
		w.check(os.MkdirAll(dir, 0o755))
	}

	w.check(os.Symlink(program, filepath.Join(bin, h.link)))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "label-state"),
		"./cmd/label-state")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}

	w.write(".bash_profile", "export PATH="+bin+":$PATH\n") // Codex runs commands in login shells
	w.write("tree/.github/label-state.yml", "version: 1\nclaim: {settle: 0s}\n")
	w.git("init", "-q", "-b", "main")
	w.commit()
	w.git("remote", "add", "origin", strings.Replace(base, "//", "//x:tok-agents@", 1)+"/acme/app.git")

	return w
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// write writes a file below the home folder, or below the worktree when its path begins with tree/.
func (w *world) write(path, text string) {
	w.t.Helper()
	file := filepath.Join(w.home, filepath.FromSlash(path))
	if rest, ok := strings.CutPrefix(path, "tree/"); ok {
		file = filepath.Join(w.tree, filepath.FromSlash(rest))
	}

	w.check(os.MkdirAll(filepath.Dir(file), 0o755))
	w.check(os.WriteFile(file, []byte(text), 0o644))
}

// environ is nobody's but the test's.
func (w *world) environ() []string {
	env := []string{
		"PATH=" + filepath.Join(w.root, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + w.home,
		"TERM=dumb", "LANG=C.UTF-8",
		"TMPDIR=" + filepath.Join(w.root, "tmp"), "GIT_CONFIG_NOSYSTEM=1", "LABEL_STATE_API_URL=" + w.base,
		"LABEL_STATE_TOKEN=tok-agents",
	}

	for name, value := range w.extra {
		env = append(env, name+"="+value)
	}

	return env
}

func (w *world) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(w.root, "bin", name), args...)
	cmd.Dir, cmd.Env = w.tree, w.environ()
	return cmd
}

func (w *world) git(args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = w.tree, w.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// commit commits everything in the worktree.
func (w *world) commit() {
	w.t.Helper()
	w.git("add", ".")
	w.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one")
}

// labelState runs the program outside the host.
func (w *world) labelState(args ...string) string {
	w.t.Helper()
	out, err := w.command(w.t.Context(), "label-state", args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("label-state %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// turnTime is how long one headless turn may take on a busy machine.
const turnTime = 4 * time.Minute

// prepare writes the host's own settings, once.
func (w *world) prepare(m *model) {
	w.t.Helper()
	if w.extra != nil {
		return
	}

	w.extra = w.host.env(m)
	if w.host.files != nil {
		for path, text := range w.host.files(m, w) {
			w.write(path, text)
		}
	}
}

// start starts one headless turn, in a process group of its own.
func (w *world) start(m *model) (*exec.Cmd, func() string) { return w.startWith(m, prompt) }

func (w *world) startWith(m *model, word string) (*exec.Cmd, func() string) {
	w.t.Helper()
	w.prepare(m)
	ctx, cancel := context.WithTimeout(w.t.Context(), turnTime)
	w.t.Cleanup(cancel)
	args := slices.Clone(w.host.turn)
	args[slices.Index(args, prompt)] = word
	cmd := w.command(ctx, w.host.link, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	w.check(cmd.Start())

	return cmd, out.String
}

// pass lets so much time pass for GitHub and, because every record is so much older then, for this
// machine.
func (w *world) pass(d time.Duration) {
	w.Skip(d)
	err := filepath.WalkDir(filepath.Join(w.tree, ".git", "label-state"),
		func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Base(filepath.Dir(file)) != "holds" ||
				filepath.Ext(file) != ".json" {
				return nil // nothing was claimed yet, or it has just been replaced
			}

			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}

			var record map[string]any
			if err := json.Unmarshal(data, &record); err != nil {
				return err
			}

			for _, key := range []string{"claimed", "renewed", "tried", "ended"} {
				if at, err := time.Parse(time.RFC3339, fmt.Sprint(record[key])); err == nil {
					record[key] = at.Add(-d)
				}
			}

			if data, err = json.Marshal(record); err != nil {
				return err
			}

			return os.WriteFile(file, data, 0o600)
		})
	if err != nil {
		w.t.Error(err)
	}
}

// editAfterTakeover is the step in which the host writes a file that is not there yet, and that
// file. Before it somebody else claims issue 1 by force, and so much time passes that a heartbeat
// is due.
func (w *world) editAfterTakeover() (edit step, file string) {
	file = filepath.Join(w.tree, "new.txt")
	edit = w.host.edit(file)
	edit.before = func() {
		outside := w.command(w.t.Context(), "label-state", "claim", "acme/app#1", "--codename", "rex", "--firing-id",
			"r1", "--force")
		outside.Dir = w.root
		if out, err := outside.CombinedOutput(); err != nil {
			w.t.Errorf("take over: %v\n%s", err, out)
		}

		w.pass(11 * time.Minute)
	}

	return edit, file
}

// renewals is how often a claim comment was edited.
func (w *world) renewals() int {
	n := 0
	for _, r := range w.Requests() {
		if r.Method == "PATCH" && strings.Contains(r.Path, "/issues/comments/") {
			n++
		}
	}

	return n
}
