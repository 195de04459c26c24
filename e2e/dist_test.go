//go:build release

package e2e

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// committed is when the commit was made that the tests release.
var committed = time.Date(2026, time.May, 4, 15, 10, 0, 0, time.UTC)

// TestDistSnapshot makes what CI makes of every commit.
func TestDistSnapshot(t *testing.T) {
	repo := copyOfRepository(t)
	if err := dist(t, repo, ""); err != nil {
		t.Fatal(err)
	}
	checkOffer(t, filepath.Join(repo, "dist"), "0.0.1-snapshot-"+git(t, repo, "rev-parse", "--short", "HEAD"))
}

// TestDistRelease makes a release of a version that no tag names, twice: in another folder, with
// another umask, time zone and remote the same bytes come out. Both are made side by side: each
// links one program at a time. It also compares the Action's program with the one that its image
// runs.
func TestDistRelease(t *testing.T) {
	here, there := copyOfRepository(t), copyOfRepository(t)
	git(t, there, "remote", "add", "origin", "https://github.com/acme/fork")
	elsewhere := make(chan error, 1)
	go func() { elsewhere <- dist(t, there, "umask 077; export TZ=Asia/Tokyo; ", "v1.2.3") }()
	if err := errors.Join(dist(t, here, "", "v1.2.3"), <-elsewhere); err != nil {
		t.Fatal(err)
	}

	offer := checkOffer(t, filepath.Join(here, "dist"), "1.2.3")
	again := readDir(t, filepath.Join(there, "dist"))
	for name, text := range offer {
		if again[name] != text {
			t.Errorf("%s has other bytes the second time", name)
		}
	}

	if len(again) != len(offer) {
		t.Errorf("%d files, the second time %d", len(offer), len(again))
	}

	for _, arch := range []string{"amd64", "arm64"} {
		name := "label-state_1.2.3_linux_" + arch
		if unpack(t, offer[name+".tar.gz"])[name+"/label-state-action"] != readText(t,
			compileAction(t, arch, "v1.2.3")) {
			t.Errorf("%s has another label-state-action than the image", name)
		}
	}
}

// TestDistRefuses what is not a version, before anything is compiled.
func TestDistRefuses(t *testing.T) {
	repo := copyOfRepository(t)
	if err := dist(t, repo, "", "1.2.3"); err == nil ||
		!strings.Contains(err.Error(), "release-version: 1.2.3: want v") {
		t.Errorf("dist 1.2.3: %v", err)
	}

	if _, err := os.Stat(filepath.Join(repo, "dist")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused version left dist: %v", err)
	}
}

// copyOfRepository returns a repository with one commit, without a tag and without a remote: the
// files as they are here, also those not yet committed.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	repo := t.TempDir()
	files := git(t, "..", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for _, file := range strings.FieldsFunc(files, func(r rune) bool { return r == 0 }) {
		from, to := filepath.Join("..", file), filepath.Join(repo, file)
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) { // removed, not yet committed
			continue
		}

		if err != nil {
			t.Fatal(err)
		}

		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(to, []byte(readText(t, from)), info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}

	t.Setenv("GIT_AUTHOR_DATE", committed.Format(time.RFC3339))
	t.Setenv("GIT_COMMITTER_DATE", committed.Format(time.RFC3339))
	git(t, repo, "init", "-q")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-q", "-m", "all of it")

	return repo
}

// dist runs the repository's tools/dist after the shell has done what first says.
func dist(t *testing.T, repo, first string, args ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh",
		append([]string{"-c", first + `exec tools/dist "$@"`, "sh"}, args...)...)
	cmd.Dir = repo
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("dist %q: %w\n%s", args, err, out)
	}

	return nil
}

// checkOffer holds everything that a release of the version offers against what docs/install.md
// says of it.
func checkOffer(t *testing.T, dir, version string) map[string]string {
	t.Helper()
	offer := readDir(t, dir)
	want := append([]string{"SHA256SUMS"}, filled...)
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"} {
		system, arch, _ := strings.Cut(platform, "/")
		suffix, archive := "", ".tar.gz"
		if system == "windows" {
			suffix, archive = ".exe", ".zip"
		}

		name := fmt.Sprintf("label-state_%s_%s_%s", version, system, arch)
		extension := fmt.Sprintf("gh-label-state_v%s_%s-%s%s", version, system, arch, suffix)
		want = append(want, name+archive, name+".cdx.json", extension)

		files := checkArchive(t, offer[name+archive], name, system, arch, "v"+version)
		checkBill(t, offer[name+".cdx.json"], "v"+version)
		if system == "linux" {
			want = append(want, name+".deb", name+".rpm")
			t.Run("packages "+arch, func(t *testing.T) {
				_, deb := exec.LookPath("dpkg-deb")
				_, rpm := exec.LookPath("rpm")
				need(t, "packages", errors.Join(deb, rpm))
				checkPackages(t, filepath.Join(dir, name), arch, func(file string) string { return files[name+"/"+file] })
			})
		}

		program := files[name+"/label-state"+suffix]
		if offer[extension] != program {
			t.Errorf("%s is not the label-state of %s", extension, name)
		}

		if system == runtime.GOOS && arch == runtime.GOARCH {
			checkVersion(t, program, "v"+version)
		}
	}

	got := make([]string, 0, len(offer))
	for name := range offer {
		got = append(got, name)
	}

	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("offered are %q, want %q", got, want)
	}

	checkSums(t, offer)
	for _, name := range filled {
		if !strings.Contains(offer[name], `"`+version+`"`) {
			t.Errorf("%s is not of %s:\n%s", name, version, offer[name])
		}
	}

	checkServer(t, offer["server.json"])

	return offer
}

// filled are the files that tools/dist makes of the sums (packaging).
var filled = []string{"label-state.json", "label-state.rb", "server.json"}

// checkPackages wants in the .deb and the .rpm of that path the archive's programs that people call,
// its manual page and license, and the completions, of root and with the commit's time.
func checkPackages(t *testing.T, path, arch string, archive func(file string) string) {
	t.Helper()
	completion := func(shell string) string { return readText(t, "../internal/cli/local/completion/"+shell) }
	for kind, zsh := range map[string]string{".deb": "vendor-completions", ".rpm": "site-functions"} {
		var want []string
		for name, text := range map[string]string{
			"bin/label-state":                                  archive("label-state"),
			"bin/label-state-pre-push":                         archive("label-state-pre-push"),
			"bin/label-state-pre-push-check":                   archive("label-state-pre-push-check"),
			"share/bash-completion/completions/label-state":    completion("bash"),
			"share/doc/label-state/copyright":                  archive("LICENSE"),
			"share/fish/vendor_completions.d/label-state.fish": completion("fish"),
			"share/man/man1/label-state.1":                     archive("label-state.1"),
			"share/zsh/" + zsh + "/_label-state":               completion("zsh"),
		} {
			mode := 0o100644
			if strings.HasPrefix(name, "bin/") {
				mode = 0o100755
			}
			want = append(want, packaged("/usr/"+name, mode, committed, text))
		}

		slices.Sort(want)
		got := debFiles
		if kind == ".rpm" {
			got = rpmFiles
		}

		if files := got(t, path+kind, arch); !slices.Equal(files, want) {
			t.Errorf("%s has\n%s\nwant\n%s", path+kind, strings.Join(files, "\n"), strings.Join(want, "\n"))
		}
	}
}

// packaged is a line about a file of root in a package.
func packaged(path string, mode int, changed time.Time, text string) string {
	return fmt.Sprintf("%s %o root:root %d %x", path, mode, changed.Unix(), sha256.Sum256([]byte(text)))
}

// debFiles lists the files of a .deb for the architecture that needs git.
func debFiles(t *testing.T, path, arch string) []string {
	t.Helper()
	about := readWith(t, "dpkg-deb", "--show", "--showformat", "${Package} ${Architecture} ${Depends}", path)
	if want := "label-state " + arch + " git"; about != want {
		t.Errorf("%s is %q, want %q", path, about, want)
	}

	var files []string
	untar(t, strings.NewReader(readWith(t, "dpkg-deb", "--fsys-tarfile", path)), func(header *tar.Header, text string) {
		line := packaged(strings.TrimPrefix(header.Name, "."), 0o100000|int(header.Mode), header.ModTime, text)
		files = append(files, strings.Replace(line, "root:root", header.Uname+":"+header.Gname, 1))
	})
	slices.Sort(files)

	return files
}

// rpmFiles lists the files of a .rpm for the architecture that needs git.
func rpmFiles(t *testing.T, path, arch string) []string {
	t.Helper()
	const format = "%{NAME} %{ARCH} [%{REQUIRES}]\n" +
		"[%{FILENAMES} %{FILEMODES:octal} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILEMTIMES} %{FILEDIGESTS}\n]"
	said := readWith(t, "rpm", "--query", "--package", "--nosignature", "--queryformat", format, path)
	about, files, _ := strings.Cut(strings.TrimSpace(said), "\n")
	name := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
	if want := "label-state " + name + " git"; about != want {
		t.Errorf("%s is %q, want %q", path, about, want)
	}

	return strings.Split(files, "\n")
}

// readWith returns what a program for packages prints.
func readWith(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", program, args, err)
	}
	return string(out)
}

// registry has the schema of server.json.
const registry = "github.com/modelcontextprotocol/registry@v1.8.8"

// checkServer wants a server.json that the schema of the MCP registry allows, for an image that has
// the server's name.
func checkServer(t *testing.T, text string) {
	t.Helper()
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(readWith(t, "go", "mod", "download", "-json", registry)), &module); err != nil {
		t.Fatal(err)
	}

	var server map[string]any
	if err := json.Unmarshal([]byte(text), &server); err != nil {
		t.Fatal(err)
	}

	of, _ := server["$schema"].(string)
	path := filepath.Join(module.Dir, "internal/validators/schemas", filepath.Base(filepath.Dir(of))+".json")
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(readText(t, path)), &schema); err != nil {
		t.Fatalf("the schema %s: %v", of, err)
	}

	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}

	if err := resolved.Validate(server); err != nil {
		t.Errorf("server.json: %v", err)
	}

	if label := fmt.Sprintf("LABEL io.modelcontextprotocol.server.name=%q\n", server["name"]); !strings.Contains(
		readText(t, "../packaging/image/Dockerfile"), label) {
		t.Errorf("the image has no %s", label)
	}
}

// checkSums wants every offered file in SHA256SUMS, except itself and those that have the sums in
// them.
func checkSums(t *testing.T, offer map[string]string) {
	t.Helper()
	var want strings.Builder
	names := make([]string, 0, len(offer))
	for name := range offer {
		names = append(names, name)
	}

	slices.Sort(names)
	for _, name := range names {
		if name != "SHA256SUMS" && !slices.Contains(filled, name) {
			fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256([]byte(offer[name])), name)
		}
	}

	if got := offer["SHA256SUMS"]; got != want.String() {
		t.Errorf("SHA256SUMS:\n%s\nwant:\n%s", got, want.String())
	}
}

// checkArchive wants every program of cmd that runs on the platform, the manual page and two pages
// in the archive, and nobody's account, umask or clock. It returns the files by their path.
func checkArchive(t *testing.T, archive, name, system, arch, version string) map[string]string {
	t.Helper()
	files := unpack(t, archive)
	var got []string
	for path, text := range files {
		file, inside := strings.CutPrefix(path, name+"/")
		if !inside {
			t.Errorf("%s has %s", name, path)
		}

		got = append(got, file)
		if strings.HasPrefix(file, "label-state") && file != "label-state.1" {
			checkProgram(t, path, text, system, arch, version)
		}
	}

	if page := files[name+"/label-state.1"]; !strings.Contains(strings.ReplaceAll(page, `\-`, "-"), version) {
		t.Errorf("%s: the manual page is not of %s", name, version)
	}
	want := append(programsFor(t, system), "LICENSE", "README.md", "label-state.1")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %q, want %q", name, got, want)
	}

	return files
}

// programsFor are the programs of cmd that a system's archive has, by the names that people call.
func programsFor(t *testing.T, system string) []string {
	t.Helper()
	commands, err := os.ReadDir("../cmd")
	if err != nil {
		t.Fatal(err)
	}

	var names []string
	for _, command := range commands {
		name := "label-state"
		switch {
		case command.Name() == "action" && system != "linux":
			continue
		case command.Name() != name:
			name += "-" + command.Name()
		}

		if system == "windows" {
			name += ".exe"
		}
		names = append(names, name)
	}

	return names
}

// stamped are the programs that tell their version. The hook's first stage asks the second, and the
// Action's has no command line.
var stamped = []string{"label-state", "label-state-pre-push-check"}

// checkProgram wants a program for the platform, without C, and with the version if it can tell it.
func checkProgram(t *testing.T, path, program, system, arch, version string) {
	t.Helper()
	info, err := buildinfo.Read(strings.NewReader(program))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}

	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}

	for key, want := range map[string]string{"GOOS": system, "GOARCH": arch, "CGO_ENABLED": "0", "-trimpath": "true"} {
		if settings[key] != want {
			t.Errorf("%s has %s %q, want %q", path, key, settings[key], want)
		}
	}

	if name := strings.TrimSuffix(filepath.Base(path), ".exe"); slices.Contains(stamped, name) &&
		!strings.Contains(program, version) {
		t.Errorf("%s is not stamped with %s", path, version)
	}

	if system == "linux" {
		wantStatic(t, program, arch)
	}
}

func checkVersion(t *testing.T, program, version string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "label-state")
	if err := os.WriteFile(path, []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}

	out, err := exec.CommandContext(t.Context(), path, "version").Output()
	if got := strings.TrimSpace(string(out)); err != nil ||
		!strings.HasPrefix(got, "label-state "+version+" (commit ") || strings.Contains(got, "not known") {
		t.Errorf("label-state version = %q, %v, want %s and a commit", got, err, version)
	}
}

// checkBill wants every direct dependency of go.mod that a program is linked with in the bill of
// materials, and Go.
func checkBill(t *testing.T, text, version string) {
	t.Helper()
	type component struct{ Name, Version, PURL string }
	var bill struct {
		BOMFormat, SpecVersion string
		Metadata               struct{ Component component }
		Components             []component
	}

	if err := json.Unmarshal([]byte(text), &bill); err != nil || bill.BOMFormat != "CycloneDX" ||
		bill.SpecVersion != "1.5" {
		t.Fatalf("bill of materials: %v\n%s", err, text)
	}

	if about := bill.Metadata.Component; about.Name != "label-state" || about.Version != version {
		t.Errorf("the bill is of %+v, want %s", about, version)
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
		if want := regexp.MustCompile(regexp.QuoteMeta(name) + ` (\S+)`).FindStringSubmatch(mod); want == nil ||
			versions[name] != want[1] {
			t.Errorf("the bill has %s %q, go.mod %q", name, versions[name], want)
		}
	}

	if versions["std"] == "" {
		t.Error("the bill does not name Go itself")
	}
}

// unpack returns the files of a .tar.gz or a .zip by their path.
func unpack(t *testing.T, archive string) map[string]string {
	t.Helper()
	files := map[string]string{}
	add := func(name string, mode fs.FileMode, changed time.Time, text string) {
		files[name] = text
		want := fs.FileMode(0o755)
		if base := filepath.Base(name); !strings.HasPrefix(base, "label-state") || base == "label-state.1" {
			want = 0o644
		}

		if mode.Perm() != want || !changed.Equal(committed) {
			t.Errorf("%s: mode %o, of %s", name, mode, changed)
		}
	}

	if strings.HasPrefix(archive, "PK") {
		zipped, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}

		for _, file := range zipped.File {
			text, err := fs.ReadFile(zipped, file.Name)
			if err != nil {
				t.Fatal(err)
			}
			add(file.Name, file.Mode(), file.Modified, string(text))
		}

		return files
	}

	plain, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}

	untar(t, plain, func(header *tar.Header, text string) {
		add(header.Name, header.FileInfo().Mode(), header.ModTime, text)
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "root" || header.Gname != "root" {
			t.Errorf("%s: by %d:%d %s:%s", header.Name, header.Uid, header.Gid, header.Uname, header.Gname)
		}
	})

	return files
}

// readDir returns the files of a folder that has no other folders.
func readDir(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}

	files := map[string]string{}
	for _, entry := range entries {
		files[entry.Name()] = readText(t, filepath.Join(dir, entry.Name()))
	}

	return files
}
