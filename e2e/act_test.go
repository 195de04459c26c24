//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// actModule is a second, independent implementation of the runner.
const actModule = "github.com/nektos/act@v0.2.89"

// buildAct installs act into a folder of the test's and returns its path.
func buildAct(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), "go", "install", actModule)
	install.Env = append(os.Environ(), "GOBIN="+dir)
	out, err := install.CombinedOutput()
	if err != nil {
		t.Logf("%s", out)
	}
	need(t, "act", err)
	return filepath.Join(dir, "act")
}

// act runs the workflow in testdata for the event and returns its log. Our image is built by act from action.yml.
func (w world) act(t *testing.T, program string, s step) string {
	t.Helper()
	home := t.TempDir()
	event := filepath.Join(home, "event.json")
	writeFile(t, event, s.file)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, program, s.event, "--workflows", "e2e/testdata/label-state.yml", "--eventpath", event,
		"--platform", "ubuntu-latest="+goImage(t), "--pull=false", "--rm", "--no-cache-server",
		"--container-options", "--network host",
		"--secret", "GITHUB_TOKEN="+s.token,
		"--env", "GITHUB_REPOSITORY="+w.repo, "--env", "GITHUB_API_URL="+w.api,
		"--env", "GITHUB_GRAPHQL_URL="+w.api+"/graphql", "--env", "GITHUB_SERVER_URL="+w.api)
	run.Dir = ".."
	run.Env = append(os.Environ(), "HOME="+home)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("act: %v\n%s", err, out)
	}
	return string(out)
}

// goImage is the build image that the Dockerfile names; it is here once our image is built, and has the few
// programs that act wants of the machine a job runs on.
func goImage(t *testing.T) string {
	t.Helper()
	if _, err := image(); err != nil {
		t.Fatal(err)
	}
	text := readText(t, "../Dockerfile")
	_, after, _ := strings.Cut(text, "ARG GO_IMAGE=")
	name, _, found := strings.Cut(after, "\n")
	if !found {
		t.Fatal("the Dockerfile names no GO_IMAGE")
	}
	return name
}

func TestWorkflowUnderAct(t *testing.T) {
	w := newWorld(t, held("Retry the upload", 6*time.Hour))
	program := buildAct(t)

	log := w.act(t, program, sweep())
	w.wantLabels(t, 1, implt)
	if want := "examined=1 swept=1 incomplete=false"; !strings.Contains(log, want) {
		t.Errorf("the next step does not see %q:\n%s", want, log)
	}

	w.act(t, program, w.opened(t, tokDev))
	w.wantLabels(t, 1, prOpen)
}
