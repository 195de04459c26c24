//go:build e2e

package e2e

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDist makes what a release offers for Linux. ci makes the other platforms too; here they would cost minutes.
func TestDist(t *testing.T) {
	dir := t.TempDir()
	if _, err := tool(t, "..", "dist", "v1.2.3", dir, "linux/amd64", "linux/arm64"); err != nil {
		t.Fatal(err)
	}
	sums := readText(t, filepath.Join(dir, "SHA256SUMS"))
	lines := regexp.MustCompile(`(?m)^([0-9a-f]{64})  (label-state_1\.2\.3_(\w+)_(\w+)\.tar\.gz)$`).FindAllStringSubmatch(sums, -1)
	if len(lines) != 2 || strings.Count(sums, "\n") != 2 {
		t.Fatalf("SHA256SUMS:\n%s", sums)
	}
	for _, line := range lines {
		archive := readText(t, filepath.Join(dir, line[2]))
		if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(archive))); sum != line[1] {
			t.Errorf("%s has the sum %s", line[0], sum)
		}
		checkArchive(t, archive, strings.TrimSuffix(line[2], ".tar.gz"), line[4])
	}
}

// checkArchive wants every program of cmd in the archive, static and for the architecture.
func checkArchive(t *testing.T, archive, name, arch string) {
	t.Helper()
	plain, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := untar(t, plain)
	var got []string
	for path, text := range files {
		file := strings.TrimPrefix(path, name+"/")
		got = append(got, file)
		if strings.HasPrefix(file, "label-state") {
			wantStatic(t, text, arch)
		}
	}
	want := []string{"LICENSE", "README.md", "label-state"}
	commands, err := os.ReadDir("../cmd")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		if command.Name() != "label-state" {
			want = append(want, "label-state-"+command.Name())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

// untar returns the files of an archive by their path.
func untar(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if header.Uid != 0 || header.Gid != 0 {
			t.Errorf("%s belongs to %d:%d, somebody's account", header.Name, header.Uid, header.Gid)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(text)
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
