//go:build e2e

package e2e

import (
	"archive/tar"
	"bufio"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const imageName = "label-state-e2e"

// image builds the image once for all tests and returns its name.
var image = sync.OnceValues(func() (string, error) {
	build := exec.Command("./build-image", imageName)
	build.Env = append(os.Environ(), "BUILDKIT_PROGRESS=plain")
	began := time.Now()
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the image: %w\n%s", err, out)
	}

	fmt.Printf("built %s in %s\n", imageName, time.Since(began).Round(100*time.Millisecond))
	return imageName, nil
})

// TestImage holds the image against what the runner asks of one and what we promise of it.
func TestImage(t *testing.T) {
	needDocker(t)
	name, err := image()
	if err != nil {
		t.Fatal(err)
	}

	out, err := exec.CommandContext(t.Context(), "docker", "image", "inspect", name).Output()
	if err != nil {
		t.Fatal(err)
	}

	var images []struct {
		Architecture, Os string
		Size             int64
		Config           struct {
			User, WorkingDir string
			Entrypoint, Cmd  []string
		}
	}

	if err := json.Unmarshal(out, &images); err != nil {
		t.Fatal(err)
	}
	got := images[0]
	t.Logf("image: %s/%s, %.1f MB", got.Os, got.Architecture, float64(got.Size)/1e6)
	if got.Config.User != "" || got.Config.WorkingDir != "" {
		t.Errorf("user %q, working directory %q: the runner wants neither", got.Config.User, got.Config.WorkingDir)
	}

	if !slices.Equal(got.Config.Entrypoint, []string{"/label-state-action"}) || len(got.Config.Cmd) != 0 {
		t.Errorf("entry point %q %q", got.Config.Entrypoint, got.Config.Cmd)
	}

	if got.Os != "linux" || got.Architecture != runtime.GOARCH {
		t.Errorf("platform %s/%s, want linux/%s", got.Os, got.Architecture, runtime.GOARCH)
	}

	if limit := int64(30e6); got.Size > limit {
		t.Errorf("%d bytes, at most %d: something was added that a static binary does not need", got.Size, limit)
	}
}

// TestImageIsFromScratch wants the two files that the Dockerfile copies and nothing else: no shell,
// no package manager, nothing to patch.
func TestImageIsFromScratch(t *testing.T) {
	needDocker(t)
	files := imageFiles(t)
	got := slices.Sorted(maps.Keys(files))
	if want := []string{"etc/ssl/certs/ca-certificates.crt", "label-state-action"}; !slices.Equal(got, want) {
		t.Errorf("the image holds %q, want %q", got, want)
	}

	if roots := strings.Count(files["etc/ssl/certs/ca-certificates.crt"], "BEGIN CERTIFICATE"); roots < 50 {
		t.Errorf("%d CA certificates", roots)
	} else {
		t.Logf("image: from scratch, the program and %d CA certificates", roots)
	}
}

// TestImageProgram wants a static program that compiles to the same bytes here, and for arm64 as
// well.
func TestImageProgram(t *testing.T) {
	needDocker(t)
	name, err := image()
	if err != nil {
		t.Fatal(err)
	}

	inImage := imageFiles(t)["label-state-action"]
	wantStatic(t, inImage, runtime.GOARCH)
	info, err := buildinfo.Read(strings.NewReader(inImage))
	if err != nil {
		t.Fatal(err)
	}

	t.Logf("image: a static program of %.1f MB, %s", float64(len(inImage))/1e6, info.GoVersion)
	if info.GoVersion != runtime.Version() {
		need(t, "go", fmt.Errorf("the image is compiled by %s, this machine has %s", info.GoVersion, runtime.Version()))
	}

	here := compileAction(t, runtime.GOARCH, "dev")
	if _, err := tool(t, ".", "same-program", name, runtime.GOARCH, here); err != nil {
		t.Errorf("the image's program is not reproducible: %v", err)
	}

	writeFile(t, here, []byte(inImage+"\x00"))
	if _, err := tool(t, ".", "same-program", name, runtime.GOARCH, here); err == nil {
		t.Error("one byte more is called the same program")
	}

	arm := readText(t, compileAction(t, "arm64", "dev"))
	wantStatic(t, arm, "arm64")
	t.Logf("image: the program for arm64 has %.1f MB", float64(len(arm))/1e6)
}

// TestServerImage starts the MCP server in its image as a client that has read server.json does.
func TestServerImage(t *testing.T) {
	needDocker(t)
	dir, name := t.TempDir(), imageName+"-cli"
	writeFile(t, filepath.Join(dir, "Dockerfile"), []byte(readText(t, "../packaging/image/Dockerfile")))
	writeFile(t, filepath.Join(dir, "ca-certificates.crt"), []byte(imageFiles(t)["etc/ssl/certs/ca-certificates.crt"]))
	compile := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
		"-o", filepath.Join(dir, runtime.GOARCH)+"/", "./cmd/label-state")
	compile.Dir, compile.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	build := exec.CommandContext(t.Context(), "docker", "build", "--build-arg", "TARGETARCH="+runtime.GOARCH, "--tag", name, dir)
	for _, cmd := range []*exec.Cmd{compile, build} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}

	var server struct {
		Packages []struct {
			PackageArguments     []struct{ Name, Value, Placeholder string }
			EnvironmentVariables []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(readText(t, "../packaging/mcp/server.json")), &server); err != nil {
		t.Fatal(err)
	}

	args := []string{"run", "--rm", "--interactive"}
	for _, v := range server.Packages[0].EnvironmentVariables {
		args = append(args, "--env", v.Name+"=x")
	}

	args = append(args, name)
	for _, a := range server.Packages[0].PackageArguments {
		if a.Name != "" {
			args = append(args, a.Name)
		}
		args = append(args, a.Value+a.Placeholder)
	}

	run := exec.CommandContext(t.Context(), "docker", args...)
	in, inErr := run.StdinPipe()
	out, outErr := run.StdoutPipe()
	if err := errors.Join(inErr, outErr, run.Start()); err != nil {
		t.Fatal(err)
	}

	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"client","version":"1"}}}`)
	answer, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(answer, `"serverInfo":{"name":"label-state"`) {
		t.Errorf("docker %q: %v\n%s", args, err, answer)
	}

	if err := errors.Join(in.Close(), run.Wait()); err != nil {
		t.Error(err)
	}
}

// TestImageStartsAtOnce measures how long a run takes that is refused before its first request, in
// a container and without one. The times are for people to read; that every run ends as it should
// is the test.
func TestImageStartsAtOnce(t *testing.T) {
	needDocker(t)
	name, err := image()
	if err != nil {
		t.Fatal(err)
	}

	program := filepath.Join(t.TempDir(), "action")
	if err := os.WriteFile(program, []byte(imageFiles(t)["label-state-action"]), 0o755); err != nil {
		t.Fatal(err)
	}

	alone := fastest(t, 20, program)
	container := fastest(t, 5, "docker", "run", "--rm", "--env", "INPUT_MODE", name)
	t.Logf("image: a refused run takes %s, and %s with everything Docker does around it",
		alone.Round(100*time.Microsecond), container.Round(time.Millisecond))
}

// fastest runs the command with a mode that does not exist and returns the shortest of n times.
func fastest(t *testing.T, n int, name string, args ...string) time.Duration {
	t.Helper()
	best := time.Hour
	for range n {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = append(os.Environ(), "INPUT_MODE=none")
		began := time.Now()
		out, _ := cmd.CombinedOutput() // the exit code is looked at
		best = min(best, time.Since(began))
		if cmd.ProcessState.ExitCode() != 2 {
			t.Fatalf("exit %d, want 2\n%s", cmd.ProcessState.ExitCode(), out)
		}
	}

	return best
}

// imageFiles returns the files of the image by their path, without the empty ones that Docker lays
// over.
func imageFiles(t *testing.T) map[string]string {
	t.Helper()
	name, err := image()
	if err != nil {
		t.Fatal(err)
	}

	id, err := exec.CommandContext(t.Context(), "docker", "create", name).Output()
	if err != nil {
		t.Fatal(err)
	}

	container := strings.TrimSpace(string(id))
	defer exec.Command("docker", "rm", container).Run() // a container that never ran; nothing depends on it
	out, err := exec.CommandContext(t.Context(), "docker", "export", container).Output()
	if err != nil {
		t.Fatal(err)
	}

	files := map[string]string{}
	untar(t, bytes.NewReader(out), func(header *tar.Header, text string) {
		if text != "" {
			files[header.Name] = text
		}
	})

	return files
}
