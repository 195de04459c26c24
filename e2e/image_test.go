//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
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
	t.Logf("%s: %s/%s, %.1f MB", name, got.Os, got.Architecture, float64(got.Size)/1e6)
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

// TestImageIsReproducible compiles the program once more on this machine and wants the bytes that are in the image.
func TestImageIsReproducible(t *testing.T) {
	needDocker(t)
	name, err := image()
	if err != nil {
		t.Fatal(err)
	}
	inImage := extract(t, name, "/label-state-action")
	info, err := buildinfo.Read(bytes.NewReader(inImage))
	if err != nil {
		t.Fatal(err)
	}
	if info.GoVersion != runtime.Version() {
		need(t, "go", fmt.Errorf("the image is compiled by %s, this machine has %s", info.GoVersion, runtime.Version()))
	}
	path := filepath.Join(t.TempDir(), "action")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version=dev", "-o", path, "./cmd/action")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	here, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(inImage, here) {
		t.Errorf("the image holds %d bytes, this machine made %d, and they differ", len(inImage), len(here))
	}
}

// extract returns a file of the image.
func extract(t *testing.T, image, path string) []byte {
	t.Helper()
	id, err := exec.CommandContext(t.Context(), "docker", "create", image).Output()
	if err != nil {
		t.Fatal(err)
	}
	container := strings.TrimSpace(string(id))
	defer exec.Command("docker", "rm", container).Run() // a container that never ran; nothing depends on it
	out, err := exec.CommandContext(t.Context(), "docker", "cp", container+":"+path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(bytes.NewReader(out))
	if _, err := archive.Next(); err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(archive)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
