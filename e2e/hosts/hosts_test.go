//go:build e2e

package hosts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func all() []host { return []host{claude, codex, geminiCLI, copilot, openCode} }

// TestSession: one session of each real host. Its start shows what the worktree holds; twenty
// minutes of tool calls renew the hold, and never sooner than after a third of the lease; when the
// hold is taken over by force the next edit and the push are denied.
func TestSession(t *testing.T) {
	for _, h := range all() {
		t.Run(h.name, func(t *testing.T) {
			w := newWorld(t, h)
			w.labelState("agent", "install", h.name, "--yes")
			const third = 10
			var minutes []int // at which a renewal was seen
			minute, seen := 0, 0
			tick := func() {
				n := w.renewals()
				if minute == 0 { // the claim itself edits its comment
					seen = n
				}

				if n > seen {
					minutes, seen = append(minutes, minute), n
				}
				minute++
				w.pass(time.Minute)
			}

			steps := []step{h.shell("label-state claim 1 --json")}
			for n := range 21 {
				s := h.shell(fmt.Sprintf("test %d -ge 0", n)) // Gemini ends a run that repeats itself
				s.before = tick
				steps = append(steps, s)
			}

			edit, file := w.editAfterTakeover()
			push := h.shell("git push origin main")
			steps = append(steps, edit, push)
			m := newModel(t, steps)
			cmd, out := w.start(m)
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, out())
			}

			m.check(t)
			told := m.text()
			if !strings.Contains(told, "this worktree holds no issue") {
				t.Error("the session's start did not say how to take work")
			}

			if len(minutes) != 2 || minutes[0] < third || minutes[1]-minutes[0] < third {
				t.Errorf("renewed at minutes %v of a lease of 30; %d times in all", minutes, w.renewals())
			}

			if n := strings.Count(m.last(), "is no longer yours"); n < 2 {
				t.Errorf("%d denials reached the model, want the edit's and the push's", n)
			}

			if _, err := os.Stat(file); err == nil {
				t.Error("the edit was made")
			}

			for _, r := range w.Requests() {
				if strings.Contains(r.Path, "git-receive-pack") {
					t.Error("the push reached GitHub")
				}
			}

			w.labelState("agent", "uninstall", h.name, "--yes")
		})
	}
}

// TestKilled: a session that is killed leaves an issue that is ready again after its lease, and a
// resumed or another one is told.
func TestKilled(t *testing.T) {
	for _, h := range all() {
		t.Run(h.name, func(t *testing.T) {
			w := newWorld(t, h)
			w.labelState("agent", "install", h.name, "--yes")
			claimed := make(chan struct{})
			last := h.shell("true")
			last.before = func() {
				close(claimed)
				<-t.Context().Done() // the host waits for its model
			}

			m := newModel(t, []step{h.shell("label-state claim 2 --json"), last})
			w.startUntil(m, claimed)()
			if got := w.labels(2); !slices.Equal(got, []string{"agent:in-flight"}) {
				t.Fatalf("labels of the killed session's issue: %v", got)
			}

			w.pass(29 * time.Minute)
			w.sweep()
			if got := w.labels(2); !slices.Equal(got, []string{"agent:in-flight"}) {
				t.Errorf("before the lease is over: %v", got)
			}

			w.pass(10 * time.Minute)
			w.sweep()
			if got := w.labels(2); !slices.Equal(got, []string{"agent:implement"}) {
				t.Errorf("after the lease: %v; the log:\n%s", got, w.labelState("log", "acme/app#2"))
			}
		})
	}
}

// startUntil starts a headless turn and waits until it is there. kill kills the host then, and waits
// for what it had started.
func (w *world) startUntil(m *model, there <-chan struct{}) (kill func()) {
	w.t.Helper()
	cmd, out := w.start(m)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	select {
	case <-there:
	case err := <-ended:
		w.t.Fatalf("it ended before it was killed: %v\n%s", err, out())
	}

	return func() {
		w.t.Helper()
		w.check(syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
		<-ended
		w.settle()
	}
}

// settle waits for what the killed host had started in process groups of their own: a hook among
// that may still renew.
func (w *world) settle() {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var left []string
		environments, err := filepath.Glob("/proc/[0-9]*/environ")
		w.check(err)

		for _, file := range environments {
			// else it has ended
			if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte("HOME="+w.home+"\x00")) {
				command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
				left = append(left, string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
			}
		}

		if len(left) == 0 {
			return
		}

		if time.Now().After(deadline) {
			w.t.Fatalf("the killed session left %q", left)
		}
	}
}

func (w *world) sweep() { w.labelState("sweep-claims", "--repo", "acme/app") }

func (w *world) labels(n int) []string {
	w.t.Helper()
	out, err := w.Labels("acme/app", n)
	w.check(err)
	return out
}

// TestValidators: the packages in the repository pass what the hosts themselves say of packages.
func TestValidators(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		host host
		args []string
	}{
		{claude, []string{"plugin", "validate", "--strict", filepath.Join(root, "agents", "plugin")}},
		{claude, []string{"plugin", "validate", "--strict", root}},
		{geminiCLI, []string{"extensions", "validate", filepath.Join(root, "agents", "gemini")}},
	} {
		t.Run(c.host.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), c.host.find(t), c.args...)
			cmd.Env = []string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=dumb",
				"GEMINI_CLI_TRUST_WORKSPACE=true",
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestPlugin: the package that three hosts share, from this repository, denies an edit under a lost
// hold in each of them.
func TestPlugin(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}

	folder := filepath.Join(root, "agents", "plugin")
	for _, c := range []struct {
		host  host
		turn  []string   // besides the host's own
		setup [][]string // commands of the host
	}{
		{claude, []string{"--plugin-dir", folder}, nil},
		{codex, nil, [][]string{{"plugin", "marketplace", "add", root}, {"plugin", "add", "label-state@label-state"}}},
		{copilot, []string{"--plugin-dir", folder}, nil},
	} {
		t.Run(c.host.name, func(t *testing.T) {
			h := c.host
			h.turn = append(slices.Clone(h.turn), c.turn...)
			w := newWorld(t, h)
			edit, file := w.editAfterTakeover()
			m := newModel(t, []step{h.shell("label-state claim 1 --json"), edit})
			w.prepare(m)

			for _, args := range c.setup {
				if out, err := w.command(t.Context(), h.link, args...).CombinedOutput(); err != nil {
					t.Fatalf("%s %v: %v\n%s", h.link, args, err, out)
				}
			}

			cmd, out := w.start(m)
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, out())
			}

			if !strings.Contains(m.text(), "this worktree holds no issue") ||
				!strings.Contains(m.last(), "is no longer yours") {
				t.Errorf("the model was told neither at the start nor at the edit\n%s", out())
			}

			if _, err := os.Stat(file); err == nil {
				t.Error("the edit was made")
			}
		})
	}
}

// TestCodexTrust: hooks that nobody has reviewed are left out by Codex in silence; status says so.
func TestCodexTrust(t *testing.T) {
	w := newWorld(t, codex)
	w.write(".codex/config.toml", "model = \"gpt-5.5\"\n")
	w.labelState("agent", "install", "codex", "--user", "--yes")
	out, err := w.command(t.Context(), "label-state", "agent", "status").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "start codex, type /hooks and trust the hooks of label-state") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRegistered: the server that agent install registers is one that the host itself lists, for a
// repository and for a user, and lists no more afterwards.
func TestRegistered(t *testing.T) {
	for _, c := range []struct {
		host        host
		scope, want string
	}{
		{claude, "--project", "label-state: label-state mcp - .*Pending approval"}, // a person approves what a repository brings
		{claude, "--user", "label-state: label-state mcp - .*Connected"},
		{codex, "--project", "label-state +label-state +mcp --codename codex"},
		{codex, "--user", "label-state +label-state +mcp --codename codex"},
	} {
		t.Run(c.host.name+c.scope, func(t *testing.T) {
			w := newWorld(t, c.host)
			w.prepare(newModel(t, nil))
			if c.host.name == claude.name {
				w.write(".claude.json", "{}") // nobody has approved anything
			}
			list := func() string {
				t.Helper()
				out, err := w.command(t.Context(), c.host.link, "mcp", "list").CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}

			w.labelState("agent", "install", c.host.name, c.scope, "--yes")
			if got := list(); !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("installed: %s", got)
			}

			w.labelState("agent", "uninstall", c.host.name, c.scope, "--yes")
			if got := list(); strings.Contains(got, "label-state") {
				t.Errorf("uninstalled: %s", got)
			}
		})
	}
}
