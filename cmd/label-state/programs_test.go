package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildOthers builds the programs besides label-state that people hear of, and returns their folder. Trials run them as git
// and the runner do, against the trial's GitHub.
func buildOthers(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, source := range map[string]string{
		"label-state-pre-push": "../pre-push", "label-state-pre-push-check": "../pre-push-check", "label-state-action": "../action",
	} {
		if out, err := exec.Command("go", "build", "-o", binary(dir, name), source).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return dir
}

// program runs NAME=VALUE... PROGRAM ARGUMENT..., as a shell does, and returns all that it says.
func (s *theatre) program(line []string) (text string, code int) {
	vars := []string{"PATH=" + s.programs + string(filepath.ListSeparator) + os.Getenv("PATH"), "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
	for strings.Contains(line[0], "=") {
		vars, line = append(vars, line[0]), line[1:]
	}
	url, stop, err := s.world.Listen("127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	defer stop()
	for name, value := range s.vars {
		vars = append(vars, name+"="+value)
	}
	return s.start(url, vars, line)
}

func (s *theatre) start(url string, vars, line []string) (text string, code int) {
	if line[0] == "git" {
		vars = append(vars, "LABEL_STATE_API_URL="+url)
		origin := exec.Command("git", "remote", "set-url", "origin", strings.Replace(url, "//", "//x:tok-agents@", 1)+"/acme/app.git")
		if origin.Dir = s.dir; origin.Run() != nil {
			s.Fatal("no origin")
		}
	} else {
		vars = append(vars, "GITHUB_API_URL="+url, "GITHUB_REPOSITORY=acme/app")
	}
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

// guarded has a commit in the clone that closes acme/app#1, and the hook before every push.
func (s *theatre) guarded() error {
	shim, err := filepath.Abs("../../hooks/pre-push")
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"switch", "-q", "-c", "work"},
		{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "Retry uploads", "-m", "Closes #1"},
		{"config", "core.hooksPath", filepath.Dir(shim)},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = s.clone
		if out, err := cmd.CombinedOutput(); err != nil {
			return errors.Join(err, errors.New(string(out)))
		}
	}
	s.dir = s.clone
	return nil
}

// slackSays is a Slack that answers everything with that JSON, or with a status and a Retry-After. It hangs up after each
// answer, so that nothing waits for it while time stands still.
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
