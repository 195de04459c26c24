package setup_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/setup"
)

// A machine is somebody's computer: variables, programs, a working directory, and a network that
// remembers what went where.
type machine struct {
	t         *testing.T
	variables map[string]string
	dir       string
	home      string
	ceiling   string                                         // above it git looks for no repository
	programs  map[string]func(setup.Command) (string, error) // instead of real ones; git credential is "git credential"
	stderr    bytes.Buffer

	mu    sync.Mutex
	files map[string]string // configuration by host and owner/repo
	sent  []request
	ran   []ran
}

// ran is a program that was started, and what it was told.
type ran struct {
	setup.Command
	stdin string
}

type request struct{ host, path, token string }

func newMachine(t *testing.T, variables map[string]string) *machine {
	t.Helper()
	dir := t.TempDir()
	return &machine{
		t:         t,
		variables: variables,
		dir:       dir,
		home:      t.TempDir(),
		ceiling:   filepath.Dir(dir),
		programs:  map[string]func(setup.Command) (string, error){},
		files:     map[string]string{},
	}
}

func (m *machine) environment() setup.Environment {
	return setup.Environment{
		Getenv: func(name string) string { return m.variables[name] },
		Dir:    m.dir,
		Stderr: &m.stderr,
		Run:    m.run,
		HTTP:   m,
		Exec: func(ctx context.Context, c git.Command) ([]byte, error) {
			return m.carry(ctx, ran{setup.Command{
				Name: "git",
				Args: c.Args,
				Dir:  c.Dir,
				Env:  c.Env,
			}, c.Stdin})
		},
	}
}

func (m *machine) run(ctx context.Context, c setup.Command) ([]byte, error) {
	return m.carry(ctx, ran{Command: c})
}

// carry runs the real git without anybody's configuration, and what the test made of other programs.
func (m *machine) carry(ctx context.Context, c ran) ([]byte, error) {
	m.mu.Lock()
	m.ran = append(m.ran, c)
	m.mu.Unlock()
	name := c.Name
	if slices.Contains(c.Args, "credential") {
		name = "git credential"
	}

	if program, ok := m.programs[name]; ok {
		out, err := program(c.Command)
		return []byte(out), err
	}
	if name != "git" {
		return nil, fmt.Errorf("run %s: %w", c.Name, exec.ErrNotFound)
	}

	cmd := exec.CommandContext(ctx, "git", c.Args...)
	cmd.Dir = c.Dir
	cmd.Stdin = strings.NewReader(c.stdin)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES=" + m.ceiling,
	}

	return cmd.Output()
}

func (m *machine) git(args ...string) {
	m.t.Helper()
	if out, err := m.run(m.t.Context(), setup.Command{Name: "git", Args: args, Dir: m.dir}); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			out = exit.Stderr
		}
		m.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (m *machine) write(name, content string) {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// RoundTrip is a GitHub that has repositories with configuration files and nothing else: no query finds anything.
func (m *machine) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	m.sent = append(m.sent, request{r.URL.Host, r.URL.Path, token})
	answer := func(status int, body any) (*http.Response, error) {
		text, err := json.Marshal(body)
		return &http.Response{
			StatusCode: status,
			Status:     fmt.Sprint(status),
			Proto:      "HTTP/1.1",
			ProtoMajor: 1,
			ProtoMinor: 1,
			Request:    r,
			Header:     http.Header{"Content-Type": {"application/json"}},
			Body:       io.NopCloser(bytes.NewReader(text)),
		}, err
	}

	if strings.HasSuffix(r.URL.Path, "/graphql") {
		none := map[string]any{
			"type": "NOT_FOUND", "path": []string{"r0"},
			"message": "Could not resolve to a Repository.",
		}
		return answer(http.StatusOK, map[string]any{"data": map[string]any{
			"viewer": map[string]string{"login": "me"},
			"r0":     nil,
		}, "errors": []any{none}})
	}

	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/v3"), "/repos/")
	repo, ok := strings.CutSuffix(path, "/contents/.github/label-state.yml")
	content, found := m.files[r.URL.Host+" "+repo]
	switch {
	case strings.Count(path, "/") == 1:
		return answer(http.StatusOK, map[string]string{"full_name": path})
	case content == "forbidden":
		return answer(http.StatusForbidden, map[string]string{"message": "Resource not accessible by integration"})
	case !ok || !found:
		return answer(http.StatusNotFound, map[string]string{"message": "Not Found"})
	}

	return answer(http.StatusOK, map[string]string{
		"type": "file", "encoding": "base64", "content": base64.StdEncoding.EncodeToString([]byte(content)),
	})
}
