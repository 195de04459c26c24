package app

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/programs"
)

// compiled is the folder of TestMain in which a copy of each program is kept for all tests.
var compiled struct {
	sync.Mutex
	dir string
}

// copyProgram is programs.Copy that asks Go only once for each program.
func copyProgram(t *testing.T, name, to string) {
	t.Helper()
	compiled.Lock()
	defer compiled.Unlock()
	kept := filepath.Join(compiled.dir, name)
	if _, err := os.Stat(kept); err != nil {
		err := programs.Copy(name, kept+".new")
		if err == nil { // else the next test does not take a half for the whole
			err = os.Rename(kept+".new", kept)
		}

		if err != nil {
			t.Fatal(err)
		}
	}

	if err := os.Link(kept, to); err != nil {
		t.Fatal(err)
	}
}

// buildOthers builds the programs besides label-state that people hear of, and returns their
// folder. Trials run them as git and the runner do, against the trial's GitHub.
func buildOthers(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"pre-push", "pre-push-check", "action"} {
		copyProgram(t, name, cli.Binary(dir, "label-state-"+name))
	}
	return dir
}

// program runs NAME=VALUE... PROGRAM ARGUMENT..., as a shell does, and returns all that it says.
func (s *trialWorld) program(line []string) (text string, code int) {
	url, stop, err := s.world.Listen("127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}

	defer stop()
	vars := []string{
		"PATH=" + s.programs + string(filepath.ListSeparator) + os.Getenv("PATH"), "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"LABEL_STATE_API_URL=" + url, "GITHUB_API_URL=" + url, "GITHUB_REPOSITORY=acme/app",
		"GITHUB_EVENT_NAME=schedule",
		"INPUT_TOKEN=tok-agents",
		"LABEL_STATE_TOKEN=" + s.vars["GH_TOKEN"],
	}

	for name, value := range s.vars {
		vars = append(vars, name+"="+value)
	}

	for strings.Contains(line[0], "=") {
		vars, line = append(vars, line[0]), line[1:]
	}

	if line[0] == "git" {
		s.git("remote", "set-url", "origin", strings.Replace(url, "//", "//x:tok-agents@", 1)+"/acme/app.git")
	}

	return s.exec(vars, line)
}

func (s *trialWorld) exec(vars, line []string) (text string, code int) {
	cmd := exec.Command(line[0], line[1:]...)
	if path, err := exec.LookPath(filepath.Join(s.programs, line[0])); err == nil {
		cmd.Path, cmd.Err = path, nil
	}

	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, vars, strings.NewReader(s.typed)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Fatal(err)
	}

	return string(out), cmd.ProcessState.ExitCode()
}

// git runs git where the trial is.
func (s *trialWorld) git(args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// guarded has a commit in the clone that closes acme/app#1, and the hook before every push.
func (s *trialWorld) guarded() error {
	shim, err := filepath.Abs("../../../hooks/pre-push")
	if err != nil {
		return err
	}

	s.dir = s.clone
	s.git("switch", "-q", "-c", "work")
	s.git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "Retry uploads",
		"-m", "Closes #1")
	s.git("config", "core.hooksPath", filepath.Dir(shim))

	return nil
}

// slackSays is a Slack that answers everything with that JSON, or with a status and a Retry-After.
// It hangs up after each answer, so that nothing waits for it while time stands still.
func slackSays(t *testing.T, text string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		if text == "busy" {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}

		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text)) // nobody is left to tell
	}))
	t.Cleanup(server.Close)

	return server.URL
}
