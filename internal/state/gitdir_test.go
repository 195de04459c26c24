package state_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/state"
)

// git runs git with nobody's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}

	return strings.TrimSuffix(string(out), "\n")
}

// TestGitDirIsGits asks git and GitDir the same question in every kind of place.
func TestGitDirIsGits(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	git(t, root, "init", "-q", "library")
	git(t, at("library"), "commit", "-q", "--allow-empty", "-m", "one")
	git(t, root, "init", "-q", "main")
	git(t, at("main"), "submodule", "--quiet", "add", at("library"), "sub")
	git(t, at("main"), "commit", "-q", "-m", "one")
	git(t, at("main"), "worktree", "add", "-q", at("linked"))
	git(t, root, "init", "-q", "--bare", "bare.git")
	git(t, at("bare.git"), "fetch", "-q", at("main"), "HEAD:refs/heads/b")
	git(t, at("bare.git"), "worktree", "add", "-q", at("of-bare"), "b")
	git(t, root, "init", "-q", "--separate-git-dir", at("elsewhere"), "separate")

	for _, dir := range []string{at("main", "deep", "er"), at("linked", "deep"), at("main", "not", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.Symlink(at("linked", "deep"), at("way in")); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, dir := range []string{
		at("main"), at("main", "deep", "er"), at("main", "sub"), at("main", ".git"), at("main", ".git", "refs"),
		at("main", "not"),
		at("linked"), at("linked", "deep"), at("way in"), at("bare.git"), at("bare.git", "refs"), at("of-bare"),
		at("separate"),
	} {
		want := git(t, dir, "rev-parse", "--absolute-git-dir")
		got, err := state.GitDir(dir, "")
		if err != nil || got != want {
			t.Errorf("GitDir(%s) = %s, %v; git says %s", dir, got, err, want)
		}
		seen[dir] = got
	}

	if seen[at("main")] == seen[at("linked")] || seen[at("main")] == seen[at("main", "sub")] {
		t.Error("worktrees share a git directory")
	}
}

func TestGitDirVariable(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	git(t, root, "init", "-q", "a")
	git(t, root, "init", "-q", "--separate-git-dir", filepath.Join(root, "b-git"), "b")
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	for _, c := range []struct{ dir, env, want string }{
		{a, ".git", filepath.Join(a, ".git")},
		{b, filepath.Join(a, ".git"), filepath.Join(a, ".git")},
		{a, filepath.Join(b, ".git"), filepath.Join(root, "b-git")},
		{root, "b-git", filepath.Join(root, "b-git")},
		{a, "nowhere", ""},
		{a, "..", ""},
	} {
		got, err := state.GitDir(c.dir, c.env)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("GitDir(%s, %s) = %q, %v; want %q", c.dir, c.env, got, err, c.want)
		}
	}
}

// TestTop: a worktree is known by one path, whichever way leads into it.
func TestTop(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	main, link := filepath.Join(root, "main"), filepath.Join(root, "link")
	git(t, root, "init", "-q", "main")
	if err := os.Mkdir(filepath.Join(main, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(main, link); err != nil {
		t.Fatal(err)
	}

	for _, dir := range []string{main, filepath.Join(main, "deep"), link, filepath.Join(link, "deep")} {
		if got, err := state.Top(dir); err != nil || got != main {
			t.Errorf("Top(%s) = %s, %v", dir, got, err)
		}
	}
}

func TestNoGitDir(t *testing.T) {
	root := t.TempDir()
	git(t, root, "init", "-q", "clone")
	git(t, root, "init", "-q", "--bare", "clone/brought along")
	for _, dir := range []string{root, filepath.Join(root, "clone", "brought along")} {
		if got, err := state.GitDir(dir, ""); got != "" || !errors.Is(err, state.ErrNoRepository) {
			t.Errorf("GitDir(%s) = %s, %v", dir, got, err)
		}
	}

	if _, err := state.GitDir(filepath.Join(root, "nowhere"), ""); err == nil || errors.Is(err, state.ErrNoRepository) {
		t.Errorf("GitDir of a folder that does not exist: %v", err)
	}

	for name, content := range map[string]string{
		"empty": "", "words": "hello", "nothing": "gitdir: \n", "dangling": "gitdir: ../gone/.git/worktrees/x\n",
	} {
		dir := filepath.Join(root, name)
		write(t, filepath.Join(dir, ".git"), content)
		if got, err := state.GitDir(dir, ""); err == nil || errors.Is(err, state.ErrNoRepository) {
			t.Errorf("GitDir with a %s .git file = %s, %v; want an error that names it", name, got, err)
		}
	}
}

func TestWorkTreesHaveTheirOwn(t *testing.T) {
	root := t.TempDir()
	git(t, root, "init", "-q", "main")
	main, linked := filepath.Join(root, "main"), filepath.Join(root, "linked")
	git(t, main, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, main, "worktree", "add", "-q", linked)
	open := func(dir string) state.Holds {
		gitDir, err := state.GitDir(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		return state.OpenHolds(gitDir)
	}

	if err := open(linked).Save(hold(1)); err != nil {
		t.Fatal(err)
	}

	if all, err := open(main).All(); err != nil || len(all) != 0 {
		t.Errorf("the main worktree has %v, %v", all, err)
	}
	want := git(t, linked, "rev-parse", "--git-path", "label-state/holds/acme@app.web@1.json")
	if _, err := os.Stat(want); err != nil {
		t.Errorf("not where git says this worktree's files go: %v", err)
	}
}
