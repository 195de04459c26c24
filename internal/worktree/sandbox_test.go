package worktree_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/worktree"
)

// A sandbox is a machine with nothing on it but three repositories: app and web are ordinary
// clones, lib is a bare one.
type sandbox struct {
	t    testing.TB
	dir  string
	env  []string
	book worktree.Book
}

func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	from, err := template()
	if err != nil {
		t.Fatal(err)
	}

	b := at(t, dir)
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"app", "web", "lib"} {
		config := filepath.Join(b.gitDir(name), "config")
		data, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		b.write(config, strings.ReplaceAll(string(data), from, dir))
	}

	return b
}

// template makes the repositories once; a copy costs no git.
var template = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "worktree-test-*"); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}

	script := exec.Command("sh", "-e", "-c", `
for name in app web lib; do
	git init -q -b main seed/$name
	echo "about $name" >seed/$name/README
	echo '*.o' >seed/$name/.gitignore
	cd seed/$name
	git add -A
	git commit -q -m first
	git tag v1
	git tag -a -m 'signed off' v1-annotated
	git switch -q -c feature/x
	echo x >x
	git add -A
	git commit -q -m second
	git switch -q main
	cd ../..
	git clone -q --bare seed/$name origin/$name.git
	case $name in
	lib) git clone -q --bare "$PWD/origin/$name.git" src/$name ;;
	*) git clone -q "$PWD/origin/$name.git" src/$name ;;
	esac
done`)
	script.Dir, script.Env = dir, here(at(nil, dir).env)
	if out, err := script.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}

	return dir, nil
})

// here is the environment without what points git elsewhere.
func here(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.Contains(v, "=/nowhere") })
}

// at is a sandbox that is there already.
func at(t testing.TB, dir string) *sandbox {
	return &sandbox{
		t:    t,
		dir:  dir,
		book: worktree.Journal(filepath.Join(dir, "state")),
		env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" +
				filepath.Join(dir, "gitconfig"),
			"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.com", "GIT_COMMITTER_NAME=x",
			"GIT_COMMITTER_EMAIL=x@example.com",
			"GIT_DIR=/nowhere", "GIT_INDEX_FILE=/nowhere/index", // as a hook that starts us has them
			"DIE_PID=" + fmt.Sprint(os.Getpid()),
		},
	}
}

func (b *sandbox) path(name string) string { return filepath.Join(b.dir, "src", name) }

func (b *sandbox) program() worktree.Git { return worktree.Program(b.env) }

func (b *sandbox) features() *worktree.Features { return worktree.New(b.program(), b.book) }

func (b *sandbox) git(dir string, args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, here(b.env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %q: %v\n%s", args, err, out)
	}

	return strings.TrimSpace(string(out))
}

func (b *sandbox) write(path, text string) {
	b.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *sandbox) commit(dir, message string) {
	b.t.Helper()
	b.git(dir, "add", "-A")
	b.git(dir, "commit", "-q", "-m", message)
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// request asks for a feature over some of the repositories, given as NAME or NAME@BASE.
func (b *sandbox) request(repos ...string) worktree.Request {
	r := worktree.Request{
		Feature: "checkout",
		Agent:   "lucius",
		Folder:  filepath.Join(b.dir, "trees", "checkout"),
		At:      noon.In(time.FixedZone("", 2*60*60)), // its names are in UTC anywhere
	}

	for _, repo := range repos {
		name, base, _ := strings.Cut(repo, "@")
		r.Specs = append(r.Specs, worktree.Spec{Name: name, Path: b.path(name), Base: base})
	}

	return r
}

func (b *sandbox) create(repos ...string) worktree.Feature {
	b.t.Helper()
	f, err := b.features().Create(context.Background(), b.request(repos...))
	if err != nil {
		b.t.Fatalf("create: %v", err)
	}
	return f
}

func (b *sandbox) gitDir(name string) string {
	if name == "lib" {
		return b.path(name)
	}
	return filepath.Join(b.path(name), ".git")
}

// picture is everything that a run could leave behind: branches, registered trees, settings,
// folders, pages.
func (b *sandbox) picture() string {
	b.t.Helper()
	var out strings.Builder
	for _, name := range []string{"app", "web", "lib"} {
		dir := b.gitDir(name)
		for _, what := range []string{"refs/heads", "refs/tags", "packed-refs", "config"} {
			b.files(&out, filepath.Join(dir, what))
		}
		b.folder(&out, filepath.Join(dir, "worktrees"))
	}

	b.folder(&out, filepath.Join(b.dir, "state"))
	b.folder(&out, filepath.Join(b.dir, "trees", "checkout"))
	return out.String()
}

// files writes what is in a file, or in all files below a folder.
func (b *sandbox) files(out io.Writer, root string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintln(out, path, string(data))
		return err
	})

	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
}

func (b *sandbox) folder(out io.Writer, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}

	for _, e := range entries {
		fmt.Fprintln(out, dir, e.Name())
	}
}

func (b *sandbox) unchanged(before string) {
	b.t.Helper()
	if now := b.picture(); now != before {
		b.t.Errorf("something is left:\n%s\nbefore:\n%s", now, before)
	}
}

// tidy removes the lock's file, which the system has freed but nobody deleted yet.
func (b *sandbox) tidy() {
	p, err := b.book.Open("checkout")
	if err != nil {
		b.t.Fatalf("the page of a dead process is held: %v", err)
	}

	if err := p.Close(); err != nil {
		b.t.Fatal(err)
	}
}
