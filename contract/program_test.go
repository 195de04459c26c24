package contract

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestProgram examines "label-state sim" as a stranger would: a program of its own, told by LABEL_STATE_CONTRACT_URL alone.
func TestProgram(t *testing.T) {
	t.Setenv("LABEL_STATE_CONTRACT_URL", program(t))
	t.Setenv("LABEL_STATE_CONTRACT_TOKEN", "tok-wes")
	t.Setenv("LABEL_STATE_CONTRACT_REPO", "acme/app")
	f := elsewhere(t)
	if f == nil {
		t.Fatal("the environment names a forge, and there is none")
	}
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) { b.test(t, f) })
	}
}

// program builds and starts the program and returns its address.
func program(t *testing.T) (url string) {
	t.Helper()
	binary, told := filepath.Join(t.TempDir(), "label-state"), filepath.Join(t.TempDir(), "url")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "..", "-o", binary, "./cmd/label-state")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build label-state: %v\n%s", err, out)
	}
	var said bytes.Buffer
	ctx, stop := context.WithCancel(context.Background())
	run := exec.CommandContext(ctx, binary, "sim", "--seed", "testdata/seed.json", "--dir", t.TempDir(), "--url-file", told)
	run.Stdout, run.Stderr = &said, &said
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 10 * time.Second
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = run.Wait() // it was interrupted
	})
	for range 300 {
		if text, err := os.ReadFile(told); err == nil && len(text) > 0 {
			return string(bytes.TrimSpace(text))
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("label-state sim does not answer: %s", said.String())
	return ""
}
