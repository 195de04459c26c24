//go:build e2e

package hooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// config writes a manager's configuration into the clone.
func (w *world) config(t *testing.T, name, text string) {
	t.Helper()
	write(t, filepath.Join(w.clone, name), text)
	w.git(t, "add", name)
	w.git(t, "commit", "-q", "--no-verify", "-m", "Add "+name)
}

// preCommit gives a snippet the stage's older name where the installed pre-commit knows no other.
func preCommit(t *testing.T, text string) string {
	t.Helper()
	version := strings.TrimPrefix(needProgram(t, "pre-commit", "--version"), "pre-commit ")
	if strings.HasPrefix(version, "3.0.") || strings.HasPrefix(version, "3.1.") || strings.HasPrefix(version, "2.") {
		return strings.ReplaceAll(text, "[pre-push]", "[push]")
	}
	return text
}

// installPreCommit is how the page has it installed.
func installPreCommit(t *testing.T) string { return strings.TrimSpace(snippet(t, "pre-commit", 2)) }

func TestPreCommitLocal(t *testing.T) {
	text := preCommit(t, snippet(t, "pre-commit", 3))
	w := newWorld(t)
	w.config(t, ".pre-commit-config.yaml", text)
	w.otherHook(t, w.hookFile())
	w.shell(t, installPreCommit(t))
	w.guards(t)
	w.managed(t, "pre-commit")
}

// TestPreCommitRepository has pre-commit build the hook from this repository.
func TestPreCommitRepository(t *testing.T) {
	text := preCommit(t, snippet(t, "pre-commit", 1))
	w := newWorld(t)
	source, rev := publish(t, w)
	text = strings.Replace(text, "https://github.com/label-state/label-state", source, 1)
	text = strings.Replace(text, "v1.0.0", rev, 1)
	if !strings.Contains(text, source) || !strings.Contains(text, rev) {
		t.Fatalf("the snippet does not name the repository and v1.0.0:\n%s", text)
	}

	w.config(t, ".pre-commit-config.yaml", text)
	w.brings = true
	path := "PATH=" + os.Getenv("PATH") // the hook is not on it
	w = w.as(path, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOFLAGS="+goEnv(t, "GOFLAGS"),
		"GOPROXY="+goEnv(t, "GOPROXY"))
	w.shell(t, installPreCommit(t)+" --install-hooks")
	w.guards(t)
}

// publish makes a repository of this module's files, as they are now, and returns it and its only
// commit.
func publish(t *testing.T, w *world) (dir, rev string) {
	t.Helper()
	dir = filepath.Join(w.dir, "label-state")
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = "../.."
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}

	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}

		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}

	manifest := filepath.Join(dir, ".pre-commit-hooks.yaml")
	write(t, manifest, strings.Replace(preCommit(t, w.must(t, dir, "cat", manifest)), "3.2.0", "3.0.0", 1)+"\n")
	w.must(t, dir, "git", "init", "-q")
	w.must(t, dir, "git", "add", "--all")
	w.must(t, dir, "git", "commit", "-q", "-m", "all")

	return dir, w.must(t, dir, "git", "rev-parse", "HEAD")
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	return needProgram(t, "go", "env", name)
}

// TestPreCommitAndShim: whichever was installed first, and however often again, both run, each
// once. Under pre-commit's hook ours cannot keep pre-commit from running as well.
func TestPreCommitAndShim(t *testing.T) {
	pc, install := installPreCommit(t), "label-state hook install"
	for _, c := range []struct {
		name  string
		steps []string
		ran   string // by guards, of whose pushes that send something three pass and three are refused
	}{
		{"pre-commit first", []string{pc, install}, "xxx"},
		{"pre-commit second", []string{install, pc}, "xxxxxx"},
		{"pre-commit first and again", []string{pc, install, pc}, "xxxxxx"},
		{"pre-commit second, the shim again", []string{install, pc, install}, "xxxxxx"},
		{"both twice", []string{install, pc, install, pc, install}, "xxxxxx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			ran := filepath.Join(w.dir, "ran")
			w.config(t, ".pre-commit-config.yaml", preCommit(t, localHook("printf x >>"+ran)))

			for _, step := range c.steps {
				w.shell(t, step)
			}
			w.wantStatus(t, "current")
			w.guards(t)
			if text, err := os.ReadFile(ran); err != nil || string(text) != c.ran {
				t.Errorf("pre-commit's own hook ran %q (%v), want %q", text, err, c.ran)
			}

			w.shell(t, "label-state hook uninstall")
			w.commit(t, "Unguarded, closes #1")
			if out, err := w.push(t); err != nil || strings.Contains(out, "label-state") {
				t.Errorf("after uninstall: %v\n%s", err, out)
			}
		})
	}
}

// localHook is a configuration of pre-commit with one hook, which runs a line of shell.
func localHook(line string) string {
	return `repos:
- repo: local
  hooks:
  - {id: x, name: x, entry: 'sh -c "` + line + `"', language: system, stages: [pre-push], always_run: true, pass_filenames: false}
`
}

// npm installs the packages of this folder's lock file into the clone.
func npm(t *testing.T, w *world) {
	t.Helper()
	needProgram(t, "npm", "--version")
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(w.clone, name), string(text))
	}

	needProgram(t, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", w.clone)
}

func TestLefthook(t *testing.T) {
	w := newWorld(t)
	npm(t, w)
	w.config(t, "lefthook.yml", snippet(t, "lefthook", 1)+"    other:\n      use_stdin: true\n")
	w.config(t, filepath.Join(".lefthook", "pre-push", "label-state"), snippet(t, "lefthook", 2))
	w.otherHook(t, filepath.Join(w.clone, ".lefthook", "pre-push", "other"))
	w.shell(t, "npx lefthook install")
	w.guards(t)
	w.managed(t, "lefthook")
}

// managed wants a clone whose hook manager runs ours to be left as it is, by all who look.
func (w *world) managed(t *testing.T, manager string) {
	t.Helper()
	w.wantStatus(t, "delegated")
	w.must(t, w.clone, "label-state", "hook", "install") // which may set git's setting label-state.hook
	if out := w.must(t, w.clone, "label-state", "hook", "install"); !strings.HasPrefix(out, "unchanged: ") {
		t.Errorf("hook install: %s", out)
	}

	w.must(t, w.clone, "label-state", "init", "--yes")
	if out := w.must(t, w.clone, "label-state", "init"); !strings.Contains(out, "run by "+manager) ||
		!strings.Contains(out, "nothing to do here: the files count once they are on the default branch\nworks now: pushes from here are checked if "+
			manager+" runs the hook, which was not tried\n") {
		t.Errorf("init, again: %s", out)
	}

	if out := w.must(t, w.clone, "label-state", "doctor"); !strings.Contains(out, "ok    hook         "+manager+
		" runs ours") || !strings.Contains(out, "pushes from here are checked") {
		t.Errorf("doctor: %s", out)
	}
}

// TestInit follows what init says where a manager is at home and knows nothing of us yet.
func TestInit(t *testing.T) {
	t.Run("husky", func(t *testing.T) {
		w := newWorld(t)
		npm(t, w)
		w.shell(t, "npx husky && label-state init --yes")
		w.managed(t, "husky")
		w.guards(t)
	})

	t.Run("lefthook", func(t *testing.T) {
		w := newWorld(t)
		npm(t, w)
		w.config(t, "lefthook.yml", "pre-push:\n  commands:\n    other: {run: 'true'}\n")
		w.shell(t, "npx lefthook install && label-state init --yes")
		w.managed(t, "lefthook")
		w.guards(t)
		w.shell(t, "npx lefthook install")
		w.guards(t)
	})

	t.Run("lefthook with jobs", func(t *testing.T) {
		w := newWorld(t)
		npm(t, w)
		w.config(t, "lefthook.yml", "pre-push:\n  jobs:\n    - run: 'true'\n")
		w.shell(t, "npx lefthook install && label-state init --yes")
		w.managed(t, "lefthook")
		w.guards(t)
	})

	t.Run("lefthook by hand", func(t *testing.T) {
		w := newWorld(t)
		npm(t, w)
		w.config(t, "lefthook.yml", "pre-push: {commands: {other: {run: 'true'}}}\n")
		w.shell(t, "npx lefthook install")
		said := w.must(t, w.clone, "label-state", "init", "--yes")
		_, lines, found := strings.Cut(said, "add to lefthook.yml:\n")
		lines, _, _ = strings.Cut(lines, "\n      commit")
		if !found {
			t.Fatalf("init: %s", said)
		}

		write(t, filepath.Join(w.clone, "lefthook.yml"), strings.ReplaceAll("\n"+lines+"\n", "\n        ", "\n"))
		w.managed(t, "lefthook")
		w.guards(t)
	})

	t.Run("lefthook in TOML", func(t *testing.T) {
		w := newWorld(t)
		npm(t, w)
		w.config(t, "lefthook.toml", "[pre-push.commands.other]\nrun = 'true'\n")
		w.shell(t, "npx lefthook install")
		said := w.must(t, w.clone, "label-state", "init", "--yes")
		_, lines, _ := strings.Cut(said, "add to lefthook.toml:\n")
		lines, _, _ = strings.Cut(lines, "\n      commit")
		write(t, filepath.Join(w.clone, "lefthook.toml"), strings.ReplaceAll("\n"+lines+"\n", "\n        ", "\n"))
		w.managed(t, "lefthook")
		w.guards(t)
	})

	// Something for pre-push comes later: lefthook puts its own hook in the place of ours, and the
	// push is refused all the same.
	t.Run("lefthook later", func(t *testing.T) {
		w := newWorld(t)
		npm(t, w)
		w.config(t, "lefthook.yml", "pre-commit:\n  commands:\n    other: {run: 'true'}\n")
		w.shell(t, "npx lefthook install && label-state init --yes")
		w.wantStatus(t, "current")
		w.guards(t)
		w.shell(t, "npx lefthook install")
		w.wantStatus(t, "delegated")
		w.guards(t)
	})

	t.Run("lefthook later, without init", func(t *testing.T) {
		w := newWorld(t)
		npm(t, w)
		w.config(t, "lefthook.yml", "pre-commit:\n  commands:\n    other: {run: 'true'}\n")
		w.shell(t, "npx lefthook install && label-state hook install")
		w.config(t, "lefthook.yml", "pre-push:\n  commands:\n    other: {run: 'true'}\n")
		w.shell(t, "npx lefthook install")
		if out, err := w.run(w.clone, "label-state", "hook", "status"); err == nil ||
			!strings.Contains(out, "lefthook has disabled label-state's hook, as ") {
			t.Errorf("hook status: %v\n%s", err, out)
		}

		w.shell(t, "label-state init --yes")
		w.managed(t, "lefthook")
		w.guards(t)
	})
}

func TestHusky(t *testing.T) {
	w := newWorld(t)
	npm(t, w)
	w.shell(t, "npx husky")
	write(t, filepath.Join(w.clone, ".husky", "pre-push"), strings.TrimPrefix(snippet(t, "lefthook", 2), "#!/bin/sh\n"))
	w.guards(t)
	w.managed(t, "husky")
}

// TestHuskyBesideAnother installs the hook beside another command, which reads git's input as well.
func TestHuskyBesideAnother(t *testing.T) {
	w := newWorld(t)
	npm(t, w)
	w.shell(t, "npx husky")
	w.otherHook(t, filepath.Join(w.clone, "other"))
	write(t, filepath.Join(w.clone, ".husky", "pre-push"), "./other \"$@\"\n")
	w.shell(t, snippet(t, "For one clone", 1))
	w.guards(t)
	w.managed(t, "husky")
}

// lfsTrack has git-lfs track *.bin and keep the contents below the clone's parent; push must carry
// them there.
func lfsTrack(t *testing.T, w *world) (store string) {
	t.Helper()
	store = filepath.Join(w.dir, "store.git")
	w.must(t, w.dir, "git", "init", "-q", "--bare", store)
	w.git(t, "config", "lfs.url", "file://"+store)
	w.git(t, "lfs", "track", "*.bin")
	w.git(t, "add", ".gitattributes")

	return store
}

// stored counts the contents that arrived.
func stored(t *testing.T, store string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(store, "lfs", "objects", "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// TestLFS pushes contents that git-lfs's own pre-push hook must carry to its store, or the push
// would be of no use.
func TestLFS(t *testing.T) {
	needProgram(t, "git", "lfs", "version")
	const lfs = "git lfs install"
	for _, c := range []struct{ name, steps string }{
		{"git-lfs first", lfs + " && " + snippet(t, "For one clone", 1)},
		{"git-lfs second", snippet(t, "For one clone", 1) + snippet(t, "git-lfs", 1)},
		{"for every repository", lfs + " && " + snippet(t, "For every repository", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.shell(t, c.steps)
			store := lfsTrack(t, w)
			put := func(text, message string) {
				write(t, filepath.Join(w.clone, "big.bin"), text)
				w.git(t, "add", "big.bin")
				w.commit(t, message)
			}

			put("one", "Add contents")
			w.passes(t, "")
			put("two", "More contents, closes #1")
			w.refuses(t)
			if got := stored(t, store); got != 1 {
				t.Errorf("%d contents in the store after a refusal, want the first only", got)
			}

			w.as("LABEL_STATE_CODENAME=drake", "LABEL_STATE_FIRING_ID=d1").passes(t, "")
			if got := stored(t, store); got != 2 {
				t.Errorf("%d contents in the store, want 2", got)
			}

			w.git(t, "lfs", "pull")
			w.git(t, "lfs", "track", "*.dat") // both look after git-lfs's hooks
			w.guards(t)
		})
	}
}
