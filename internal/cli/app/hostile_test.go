//go:build unix

package app

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/sample"
)

// A strangers is a clone of a repository whose author means harm, and what would show that
// something of it ran.
type strangers struct {
	*testing.T
	clone, bare string
	env         []string
	seen        string // whatever runs writes to it

	mu    sync.Mutex
	heard []string // what reached the host that the remote names
}

// evil is a command of the shell that leaves a trace.
func (s *strangers) evil(what string) string { return "echo " + what + " >>" + s.seen + "; false" }

func hostileClone(t *testing.T) *strangers {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	s := &strangers{T: t, clone: filepath.Join(root, "clone"), seen: filepath.Join(root, "seen")}
	s.bare = filepath.Join(s.clone, "docs", "x")
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "LABEL_STATE_HOME=" +
			filepath.Join(root, "state"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com",
		"GH_ENTERPRISE_TOKEN=tok-secret", "GITHUB_ENTERPRISE_TOKEN=tok-secret", "GITHUB_TOKEN=tok-secret",
		"LABEL_STATE_TOKEN=tok-secret",
		"HTTPS_PROXY=" + s.listen(), "HTTP_PROXY=" + s.listen(), "GIT_TERMINAL_PROMPT=0",
	}
	s.author(filepath.Join(root, "theirs"))
	s.git(root, "clone", "-q", filepath.Join(root, "theirs"), s.clone)
	s.git(s.clone, "remote", "set-url", "origin", "https://github.evil.example/acme/app.git")

	for _, name := range []string{"objects", "refs"} { // git keeps no empty folders; a file in them does
		if _, err := os.Stat(filepath.Join(s.bare, name)); err != nil {
			t.Fatal(err)
		}
	}

	if err := syscall.Mkfifo(filepath.Join(s.clone, ".github", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}

	return s
}

// author makes what the stranger publishes: a bare repository as ordinary files, links to devices,
// hooks.
func (s *strangers) author(dir string) {
	s.Helper()
	bare := filepath.Join(dir, "docs", "x")
	s.git(filepath.Dir(dir), "init", "-q", "-b", "main", dir)
	s.git(dir, "init", "-q", "--bare", bare)

	for key, value := range map[string]string{
		"core.bare": "false", "core.worktree": ".", "core.fsmonitor": s.evil("fsmonitor"),
		"core.sshCommand": s.evil("ssh"), "core.pager": s.evil("pager"),
		"core.hooksPath": "hooks", "core.askPass": s.evil("askpass"), "core.editor": s.evil("editor"),
		"credential.helper": "!" + s.evil("helper"),
		"alias.rev-parse":   "!" + s.evil("alias"), "alias.version": "!" + s.evil("alias"),
		"url.ssh://evil/.insteadOf": "https://github.com/",
		"remote.origin.url":         "ext::sh -c '" + s.evil("ext") + "'",
		"remote.origin.uploadpack":  s.evil("uploadpack"),
		"protocol.ext.allow":        "always",
		"label-state.repo":          "mallory/app", "label-state.host": "github.evil.example",
		"remote.origin.promisor":  "true",
		"extensions.partialClone": "origin",
	} {
		s.git(bare, "config", "--file", filepath.Join(bare, "config"), key, value)
	}

	for name, text := range map[string]string{
		"docs/x/objects/keep": "", "docs/x/refs/keep": "", "docs/x/hooks/pre-push": "#!/bin/sh\n" +
			s.evil("hook") + "\n",
		"docs/x/hooks/post-checkout": "#!/bin/sh\n" + s.evil("hook") + "\n", "README": "x",
	} {
		s.write(filepath.Join(dir, name), text)
	}

	for link, to := range map[string]string{
		".github/label-state.yml": "/dev/zero", ".github/workflows/label-state.yml": "/dev/zero",
		".pre-commit-config.yaml": "/dev/zero",
		"lefthook.yml":            "/dev/zero", ".husky/pre-push": "/dev/zero", "plan.md": "pipe",
	} {
		path := filepath.Join(dir, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(to, path)); err != nil {
			s.Fatal(err)
		}
	}

	s.git(dir, "add", "--all", "--force")
	s.git(dir, "commit", "-q", "-m", "Closes #1")
}

func (s *strangers) write(path, text string) {
	s.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		s.Fatal(err)
	}
}

// git is git as the stranger has it.
func (s *strangers) git(dir string, args ...string) {
	s.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// listen is a proxy that hears every host that a program tries to reach, and lets nobody through.
func (s *strangers) listen() string {
	s.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}

	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.heard = append(s.heard, fmt.Sprint(r.Method, " ", r.Host, " ", r.Header))
		s.mu.Unlock()
		w.WriteHeader(http.StatusForbidden)
	})}
	go func() { _ = server.Serve(l) }()
	s.Cleanup(func() { _ = server.Close() })

	return "http://" + l.Addr().String()
}

// run runs a program there and holds it to its time; memory is bounded by the shell.
func (s *strangers) run(dir, program string, stdin string, args ...string) {
	s.Helper()
	ctx := s.Context()
	cmd := exec.CommandContext(ctx, "sh",
		append([]string{"-c", `ulimit -d 1500000; exec "$@"`, "sh", program}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = dir, s.env, strings.NewReader(stdin), time.Second
	out, err := os.CreateTemp(s.TempDir(), "out")
	if err != nil {
		s.Fatal(err)
	}

	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}

	hung := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	text, _ := os.ReadFile(out.Name())
	name := filepath.Base(program) + " " + strings.Join(args, " ") + " in " + dir
	if !hung.Stop() {
		s.Errorf("%s hangs:\n%s", name, text)
	}

	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() > 4 ||
		strings.Contains(string(text), "goroutine ") {
		s.Errorf("%s: %v\n%.2000s", name, err, text)
	}

	if ran, err := os.ReadFile(s.seen); err == nil {
		s.Errorf("%s had the repository's programs run: %s", name, ran)
		_ = os.Remove(s.seen)
	}

	if strings.Contains(string(text), "tok-secret") {
		s.Errorf("%s shows the token:\n%s", name, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, request := range s.heard {
		// A worktree begins at its remote's branch, which git fetches as the user would; a token of
		// ours goes nowhere.
		if strings.Contains(request, "evil") && args[0] != "worktree" || strings.Contains(request, "tok-secret") {
			s.Errorf("%s sent %s", name, request)
		}
	}

	s.heard = nil
}

// TestHostileRepository runs every command, and both stages of the hook, in a clone whose author
// means harm, and in the bare repository that it brings along (an ordinary run plays each command
// in one of the two): nothing of it runs, nothing is sent to the host that its remote names, and
// all of it ends.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	programs := buildOthers(t)
	s := hostileClone(t)
	plain := exec.Command("git", "credential", "fill")
	plain.Dir, plain.Env, plain.Stdin = s.bare, s.env, strings.NewReader("protocol=https\nhost=x\n\n")
	_ = plain.Run()
	if _, err := os.Stat(s.seen); err != nil {
		t.Fatal("this git does not fall for the repository: the test shows nothing")
	}

	_ = os.Remove(s.seen)
	self, err := exec.LookPath("label-state") // this very test, as testscript runs it
	if err != nil {
		t.Fatal(err)
	}

	head, err := exec.Command("git", "-C", s.clone, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}

	for n, dir := range []string{s.clone, s.bare} {
		for _, args := range everyCommand() {
			if !sample.Plays(strings.Join(args, " "), n, 2) {
				continue
			}
			s.run(dir, self, "", args...)
		}

		line := "refs/heads/main " + strings.TrimSpace(string(head)) + " refs/heads/main " +
			strings.Repeat("0", 40) + "\n"
		for _, program := range []string{"label-state-pre-push", "label-state-pre-push-check"} {
			s.run(dir, filepath.Join(programs, program), line, "origin", "https://github.evil.example/acme/app.git")
		}
	}
}

// everyCommand are command lines of all commands that read something of the folder they are run in.
func everyCommand() (all [][]string) {
	arguments := map[string][]string{
		"claim": {"1", "--codename", "c"}, "renew": {"1"}, "release": {"1"}, "push": {"--issue", "1"},
		"dedup-check": {"1"}, "status": {"1"}, "log": {"1"},
		"plan": {"1", "--codename", "c", "--firing-id", "f", "--body-file", "README"}, "approve": {"1"},
		"reject": {"1"}, "reconcile": {"1"}, "advance": {"1"},
		"run": {"1", "--codename", "c", "--", "true"}, "worktree create": {"--feature", "f", "--repo", "x=."},
		"init":       {"--yes"},
		"repo pause": {"--reason", "x"},
	}

	for _, v := range Verbs() {
		if !slices.Contains([]string{"demo", "sim", "mcp", "board", "completion", "man", "version"}, v.Name) {
			all = append(all, append(v.Words(), arguments[v.Name]...))
		}
	}

	return all
}
