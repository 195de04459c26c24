package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/setup"
)

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("oh\x1b[31m\nno") }

// endless never has anything to read.
type endless struct{ released chan struct{} }

func (e endless) Read([]byte) (int, error) {
	<-e.released
	return 0, io.EOF
}

// newHook is a run of the program in an empty folder; vars are its environment.
func newHook(t *testing.T, stdin io.Reader, vars map[string]string, args ...string) (*hook, *strings.Builder) {
	t.Helper()
	var stderr strings.Builder
	return &hook{
		args: args, stdin: stdin, stdout: io.Discard, stderr: &stderr, start: time.Now(), zone: time.UTC,
		env: setup.Environment{
			Getenv: func(name string) string { return vars[name] }, Dir: t.TempDir(), Stderr: io.Discard,
			Run: func(context.Context, setup.Command) ([]byte, error) { panic("no such thing") },
		},
	}, &stderr
}

func careful(t *testing.T, h *hook) {
	t.Helper()
	file := filepath.Join(h.env.Dir, filepath.FromSlash(config.Path))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("version: 1\nhook: {on_unknown: refuse}\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestPanic(t *testing.T) {
	preCommit := map[string]string{"PRE_COMMIT_REMOTE_NAME": "origin", "PRE_COMMIT_TO_REF": "HEAD"}
	for _, c := range []struct {
		name  string
		stdin io.Reader
		vars  map[string]string
		args  []string
		want  string
	}{
		{"while reading", panicking{}, nil, []string{"origin", "https://github.com/acme/app"}, "internal error: oh[31m no"},
		{"afterwards", strings.NewReader(""), preCommit, nil, "internal error: no such thing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, stderr := newHook(t, c.stdin, c.vars, c.args...)
			if code := h.run(t.Context()); code != exitPass || stderr.String() != "label-state: not checked, pushing anyway: "+c.want+"\n" {
				t.Errorf("exit %d with\n%s", code, stderr)
			}
			h, stderr = newHook(t, c.stdin, c.vars, c.args...)
			careful(t, h)
			if code := h.run(t.Context()); code != exitRefuse || !strings.Contains(stderr.String(), "push refused, could not check it: "+c.want) {
				t.Errorf("careful: exit %d with\n%s", code, stderr)
			}
		})
	}
}

// TestEndlessInput is lefthook without use_stdin.
func TestEndlessInput(t *testing.T) {
	in := endless{make(chan struct{})}
	defer close(in.released)
	h, stderr := newHook(t, in, nil, "origin", "https://github.com/acme/app")
	h.start = h.start.Add(-budget)
	if code := h.run(t.Context()); code != exitPass || stderr.String() != "label-state: not checked, pushing anyway: read from git: the input does not end\n" {
		t.Errorf("exit %d with\n%s", code, stderr)
	}
}
