//go:build e2e

package e2e

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
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
	if len(lines) != 2 || strings.Count(sums, "\n") != 4 {
		t.Fatalf("SHA256SUMS:\n%s", sums)
	}
	for _, line := range lines {
		archive := readText(t, filepath.Join(dir, line[2]))
		if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(archive))); sum != line[1] {
			t.Errorf("%s has the sum %s", line[0], sum)
		}
		name := strings.TrimSuffix(line[2], ".tar.gz")
		checkArchive(t, archive, name, line[4])
		checkBill(t, readText(t, filepath.Join(dir, name+".sbom.json")))
		if !strings.Contains(sums, "  "+name+".sbom.json\n") {
			t.Errorf("SHA256SUMS has no %s.sbom.json", name)
		}
	}
	checkExtension(t, dir)
}

// checkBill wants every direct dependency of go.mod that a program is linked with in the bill of materials, and Go.
func checkBill(t *testing.T, text string) {
	t.Helper()
	var bill struct {
		BOMFormat  string
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal([]byte(text), &bill); err != nil || bill.BOMFormat != "CycloneDX" {
		t.Fatalf("bill of materials: %v\n%s", err, text)
	}
	versions := map[string]string{}
	for _, c := range bill.Components {
		versions[c.Name] = c.Version
		if c.PURL != "pkg:golang/"+c.Name+"@"+c.Version {
			t.Errorf("%s %s has the address %s", c.Name, c.Version, c.PURL)
		}
	}
	mod := readText(t, "../go.mod")
	for _, name := range []string{"github.com/urfave/cli/v2", "github.com/go-git/go-git/v5"} {
		if want := regexp.MustCompile(regexp.QuoteMeta(name) + ` (\S+)`).FindStringSubmatch(mod); want == nil || versions[name] != want[1] {
			t.Errorf("the bill has %s %q, go.mod %q", name, versions[name], want)
		}
	}
	if versions["std"] == "" {
		t.Error("the bill does not name Go itself")
	}
}

// checkExtension names the programs as gh finds them.
func checkExtension(t *testing.T, dist string) {
	t.Helper()
	dir := t.TempDir()
	if _, err := tool(t, "..", "../packaging/gh/assets", "v1.2.3", dist, dir); err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		wantStatic(t, readText(t, filepath.Join(dir, "gh-label-state_v1.2.3_linux-"+arch)), arch)
	}
	if _, err := tool(t, "..", "../packaging/gh/assets", "v9.9.9", dist, dir); err == nil {
		t.Error("a release without archives makes an extension")
	}
}

// TestFormula fills the Homebrew formula from sums, and refuses those of half a release.
func TestFormula(t *testing.T) {
	var sums strings.Builder
	for n, platform := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"} {
		fmt.Fprintf(&sums, "%s  label-state_1.2.3_%s.tar.gz\n", strings.Repeat(fmt.Sprint(n), 64), platform)
		fmt.Fprintf(&sums, "%s  label-state_1.2.3_%s.sbom.json\n", strings.Repeat("f", 64), platform)
	}
	whole, half := filepath.Join(t.TempDir(), "SHA256SUMS"), filepath.Join(t.TempDir(), "SHA256SUMS")
	for file, text := range map[string]string{whole: sums.String(), half: strings.ReplaceAll(sums.String(), "linux_arm64", "linux_arm")} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := tool(t, "..", "../packaging/homebrew/formula", "v1.2.3", whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`version "1.2.3"`, `releases/download/v1.2.3/label-state_1.2.3_darwin_arm64.tar.gz"` + "\n" + `      sha256 "` + strings.Repeat("1", 64),
		`label-state_1.2.3_linux_amd64.tar.gz"` + "\n" + `      sha256 "` + strings.Repeat("2", 64),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the formula has no\n%s\nbut is\n%s", want, got)
		}
	}
	if strings.Contains(got, "@") {
		t.Errorf("something was not filled in:\n%s", got)
	}
	for _, args := range [][]string{{"v1.2.3", half}, {"v1.2.4", whole}, {"1.2.3", whole}, {"v1.2.3/x", whole}} {
		if got, err := tool(t, "..", "../packaging/homebrew/formula", args...); err == nil {
			t.Errorf("formula %q = %s", args, got)
		}
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
		if strings.HasPrefix(file, "label-state") && file != "label-state.1" {
			wantStatic(t, text, arch)
		}
	}
	want := []string{"LICENSE", "README.md", "label-state", "label-state.1"}
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
