//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// actModule is a second, independent implementation of the runner.
const actModule = "github.com/nektos/act@v0.2.89"

// buildAct installs act once for all tests and returns its path.
var buildAct = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(scratch, "act")
	if err != nil {
		return "", err
	}

	install := exec.Command("go", "install", actModule)
	install.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install %s: %w\n%s", actModule, err, out)
	}

	return filepath.Join(dir, "act"), nil
})

// scratch holds what the tests share, and goes when they are over.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "label-state-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// checkout is the part of this repository that a workflow with "uses: ./" needs, copied once, with
// the workflows of testdata and the examples. It is small, because act copies it into a container
// for every run.
var checkout = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "checkout")
	for _, part := range []string{
		".dockerignore", "action.yml", "go.mod", "go.sum", "answer", "cmd", "internal",
		"examples", "e2e/testdata",
	} {
		if err := copyPart("..", dir, part); err != nil {
			return "", err
		}
	}

	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		return "", err
	}

	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), pinnedGo.ReplaceAll(text, []byte("$1")), 0o644); err != nil {
		return "", err
	}

	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "The checkout"},
	} {
		git := exec.Command("git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %q: %w\n%s", args, err, out)
		}
	}

	return dir, nil
})

// copyPart copies a file or a folder of one directory to another, without the tests and their data.
func copyPart(from, to, part string) error {
	return filepath.WalkDir(filepath.Join(from, part), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal") &&
			strings.Contains(name, "/testdata/") {
			return err
		}

		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		info, err := entry.Info()
		if err != nil {
			return err
		}

		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}

		return os.WriteFile(target, text, info.Mode().Perm())
	})
}

// released is a folder with action.yml as a release has it: it names the image that the tests have
// built.
var released = sync.OnceValues(func() (string, error) {
	name, err := image()
	if err != nil {
		return "", err
	}

	text, err := os.ReadFile("../action.yml")
	if err != nil {
		return "", err
	}

	pinned := bytes.Replace(text, []byte("image: Dockerfile"), []byte("image: docker://"+name), 1)
	if bytes.Equal(pinned, text) {
		return "", errors.New(`action.yml has no line "image: Dockerfile"`)
	}

	dir := filepath.Join(scratch, "released")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}

	return dir, os.WriteFile(filepath.Join(dir, "action.yml"), pinned, 0o644)
})

// An actRun is what act said and how it ended.
type actRun struct {
	log    string
	failed bool
}

// act runs a workflow of the checkout for the step's event. What namedAction names is the Action
// here.
func (w world) act(t *testing.T, workflow string, s step) actRun {
	t.Helper()
	dir, program, action := w.actParts(t)
	home := t.TempDir()
	event := filepath.Join(home, "event.json")
	writeFile(t, event, s.file)
	stub, err := filepath.Abs("testdata/create-github-app-token")
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	began := time.Now()
	run := exec.CommandContext(ctx, program, s.event, "--workflows", workflow, "--eventpath", event,
		"--platform", "ubuntu-latest="+goImage(t), "--pull=false", "--rm", "--no-cache-server",
		"--use-new-action-cache",
		"--local-repository", namedAction+"="+action,
		"--local-repository", appTokenAction(t)+"="+stub,
		"--container-options", "--network host",
		"--secret", "GITHUB_TOKEN="+s.token, "--secret", "LABEL_STATE_PRIVATE_KEY=pem", "--var",
		"LABEL_STATE_CLIENT_ID=Iv1",
		"--env", "GITHUB_REPOSITORY="+w.repo, "--env", "GITHUB_API_URL="+w.api,
		"--env", "GITHUB_GRAPHQL_URL="+w.api+"/graphql", "--env", "GITHUB_SERVER_URL="+w.api)
	run.Dir = dir
	run.Env = append(os.Environ(), "HOME="+home)
	out, err := run.CombinedOutput()
	t.Logf("act %s of %s: %s", s.event, workflow, time.Since(began).Round(100*time.Millisecond))
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("act: %v", err)
	}

	return actRun{string(out), err != nil}
}

// actParts makes what every run of act shares.
func (w world) actParts(t *testing.T) (dir, program, action string) {
	t.Helper()
	program, err := buildAct()
	need(t, "act", err)
	if dir, err = checkout(); err != nil {
		t.Fatal(err)
	}

	if action, err = released(); err != nil {
		t.Fatal(err)
	}

	return dir, program, action
}

// appTokenAction is the action that mints an App's token, as the example pins it.
func appTokenAction(t *testing.T) string {
	t.Helper()
	text := readText(t, "../examples/many-repositories.yml")
	return regexp.MustCompile(`actions/create-github-app-token@\w+`).FindString(text)
}

// goImage is the build image under the name that build-image gives it; it is here once our image is
// built, and has the few programs that act wants of the machine a job runs on.
func goImage(t *testing.T) string {
	t.Helper()
	if _, err := image(); err != nil {
		t.Fatal(err)
	}

	found := pinnedGo.FindStringSubmatch(readText(t, "../Dockerfile"))
	if found == nil {
		t.Fatal("the Dockerfile names no build image")
	}

	return found[1]
}

// pinnedGo is the build image in the Dockerfile. No local image can have the digest.
var pinnedGo = regexp.MustCompile(`(golang:\S+)@sha256:\S+`)

func (r actRun) wantGreen(t *testing.T) {
	t.Helper()
	if r.failed {
		t.Fatalf("the workflow failed:\n%s", r.log)
	}
}
