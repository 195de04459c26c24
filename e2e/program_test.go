//go:build e2e || release

package e2e

import (
	"archive/tar"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// untar hands out the regular files of an archive in their order.
func untar(t *testing.T, archive io.Reader, each func(header *tar.Header, text string)) {
	t.Helper()
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}

		if err != nil {
			t.Fatal(err)
		}

		if header.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}

		each(header, string(text))
	}
}

// wantStatic wants an ELF program for the architecture that asks for no loader and no library.
func wantStatic(t *testing.T, program, arch string) {
	t.Helper()
	file, err := elf.NewFile(strings.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}

	if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; file.Machine != want {
		t.Errorf("program for %v, want %v", file.Machine, want)
	}

	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			t.Errorf("the %s program has a %v part; it is not static", arch, part.Type)
		}
	}
}

// compileAction compiles the Action's program as the Dockerfile does and returns its path.
func compileAction(t *testing.T, arch, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "action")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+version, "-o", path, "./cmd/action")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux", "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build for %s: %v\n%s", arch, err, out)
	}

	return path
}
