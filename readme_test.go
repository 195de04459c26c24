package labelstate_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/programs"
	"github.com/label-state/label-state/internal/sample"
)

// testCommand is the one line of the README that a test cannot run: it is running.
const testCommand = "go test ./..."

// install is the block of the README that an ordinary run does in a shorter way.
const install = "go install ./cmd/label-state\n"

// TestReadme runs the README's shell blocks in their order, in this module for programs and in a
// clone of acme/app for the hook, against the embedded GitHub; the last in the clone of "label-state sim". An ordinary run leaves the demo out
// and copies the programs from the build cache.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}

	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 4 || !strings.Contains(blocks[0][1], testCommand+"\n") {
		t.Fatalf("README.md has %d shell blocks, want 4, the first with %q", len(blocks), testCommand)
	}

	pictured(t, string(text))
	firstTag(t, string(text))
	env, clone := stage(t)
	module, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	for n, dir := range []string{module, module, clone} {
		block := strings.ReplaceAll(blocks[n][1], testCommand+"\n", "")
		switch {
		case n == 0 && !sample.All(): // internal/cli/try plays the demo
			continue
		case block == install && !sample.All():
			installed(t, filepath.Join(clone, "..", "go", "bin"))
			continue
		}

		cmd := exec.Command("sh", "-ec", block)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("block %d: %v\n%s\n%s", n+1, err, block, out)
		}
	}

	t.Run("sim", func(t *testing.T) { simSays(t, env, blocks[3][1]) })
}

// installed puts the program where "go install" does.
func installed(t *testing.T, bin string) {
	t.Helper()
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}

	if err := programs.Copy("label-state", filepath.Join(bin, "label-state")); err != nil {
		t.Fatal(err)
	}
}

// pictured wants every picture to be there, and that of the refusal to show one.
func pictured(t *testing.T, text string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`!\[[^\]]+\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		picture, err := os.ReadFile(m[1])
		if err != nil {
			t.Fatal(err)
		}

		if m[1] == "docs/refusal.svg" && !strings.Contains(string(picture), "push refused") {
			t.Errorf("%s shows no refusal; make pictures", m[1])
		}
	}
}

// simSays starts the sim that the README has installed and does, line by line, what it says, and then
// in the clone what the README has agents do.
func simSays(t *testing.T, env []string, agents string) {
	dir := t.TempDir()
	env = append(env, "LABEL_STATE_API_URL=", "GH_TOKEN=", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=you", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=you@example.com")
	sim := exec.CommandContext(t.Context(), "sh", "-c", "exec label-state sim")
	sim.Dir, sim.Env = dir, env
	out, err := sim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		sim.Process.Kill()
		sim.Wait()
	})
	var try strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasPrefix(lines.Text(), "  label-state board"); {
		if line, ok := strings.CutPrefix(lines.Text(), "  "); ok {
			try.WriteString(line + "\n")
		}
	}

	cmd := exec.Command("sh", "-c", "set -e\n"+try.String())
	cmd.Dir, cmd.Env = dir, env
	said, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "push refused") ||
		!strings.Contains(string(said), "in flight: lucius") {
		t.Errorf("the push was not refused: %v\n%s\n%s", err, try.String(), said)
	}

	exports := strings.Join(regexp.MustCompile(`(?m)^export LABEL_STATE_.*\n`).FindAllString(try.String(), -1), "")
	cmd = exec.Command("sh", "-ec", exports+"cd app\n"+agents)
	cmd.Dir, cmd.Env = dir, env
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("what the README has agents do: %v\n%s\n%s", err, agents, said)
	}
}

// stage starts an embedded GitHub, and returns an environment that knows it
// and a clone of its repository.
func stage(t *testing.T) (env []string, clone string) {
	t.Helper()
	dir := t.TempDir()
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login: "you", Token: "tok-you",
			Permissions: map[string]string{"acme/app": "write"},
		}},
		Repos: []githubsim.SeedRepo{{
			Name: "acme/app",
		}},
	}, githubsim.Options{Dir: filepath.Join(dir, "github")})
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	gopath := filepath.Join(dir, "go")
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "LABEL_STATE_") && !strings.HasPrefix(kv, "GH_") {
			env = append(env, kv)
		}
	}

	env = append(env, "HOME="+dir, "LABEL_STATE_API_URL="+url, "LABEL_STATE_TOKEN=tok-you", "GIT_CONFIG_NOSYSTEM=1",
		"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOPATH="+gopath,
		"PATH="+filepath.Join(gopath, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	clone = filepath.Join(dir, "app")
	cmd := exec.Command("git", "clone", "-q", url+"/acme/app.git", clone)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("clone: %v\n%s", err, out)
	}

	return env, clone
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// firstTag wants the page to say that there is no v1 as long as the list of changes has no release.
func firstTag(t *testing.T, page string) {
	t.Helper()
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}

	released := regexp.MustCompile(`(?m)^## v?[0-9]`).Match(changes)
	if says := strings.Contains(page, "There is no release yet, so there is no tag `v1` yet."); says == released {
		t.Errorf("README.md says that there is no release: %t, and CHANGELOG.md has one: %t", says, released)
	}
}
