//go:build unix

package worktree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/testmain"
	"github.com/label-state/label-state/internal/worktree"
)

// TestMain is also the program that gets killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("WORKTREE_TEST_DIR"); dir != "" {
		os.Exit(victim(dir))
	}

	os.Exit(testmain.Tests{Play: func() int {
		code := m.Run()
		if dir, err := template(); err == nil {
			_ = os.RemoveAll(dir) // of the tests only
		}
		return code
	}}.Run())
}

// victim creates or removes a feature, and dies at a step: before it, or after it.
func victim(dir string) int {
	var at int
	var after bool
	if _, err := fmt.Sscan(os.Getenv("WORKTREE_TEST_AT"), &at, &after); err != nil {
		return 2
	}

	b := newVictim(dir, func(when bool) {
		if when != after || at == 0 {
			return
		}
		if at--; at == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	var err error
	if os.Getenv("WORKTREE_TEST_DO") == "remove" {
		_, err = b.features.Remove(context.Background(), "checkout")
	} else {
		_, err = b.features.Create(context.Background(), b.sandbox.request("app", "lib"))
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	return 0
}

type dying struct {
	sandbox  *sandbox
	features *worktree.Features
}

func newVictim(dir string, step func(after bool)) dying {
	b := at(nil, dir)
	git := func(ctx context.Context, dir string, args ...string) (string, error) {
		step(false)
		if writes(args) { // after any other the disk is as before it
			defer step(true)
		}
		return b.program()(ctx, dir, args...)
	}

	return dying{b, worktree.New(git, steppingBook{b.book, step})}
}

// writes reports whether a git command may change anything.
func writes(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "add" || a == "remove" || a == "fetch" || a == "update-ref" || a == "config"
	})
}

type steppingBook struct {
	worktree.Book
	step func(bool)
}

func (b steppingBook) Open(name string) (worktree.Page, error) {
	b.step(false)
	defer b.step(true)
	p, err := b.Book.Open(name)
	return steppingPage{p, b.step}, err
}

type steppingPage struct {
	worktree.Page
	step func(bool)
}

func (p steppingPage) Save(f worktree.Feature) error {
	p.step(false)
	defer p.step(true)
	return p.Page.Save(f)
}

func (p steppingPage) Remove() error {
	p.step(false)
	defer p.step(true)
	return p.Page.Remove()
}

// kill runs the victim and reports whether it was killed.
func (b *sandbox) kill(do string, at int, after bool) bool {
	b.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WORKTREE_TEST_DIR="+b.dir, "WORKTREE_TEST_DO="+do,
		fmt.Sprintf("WORKTREE_TEST_AT=%d %t", at, after))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return true
	}

	if err != nil {
		b.t.Fatalf("%s, to be killed at %d: %v\n%s", do, at, err, out)
	}

	return false
}

// TestKilledCreate kills the run that makes trees before and after each git command and each file
// that it writes. Then prune, once, leaves everything as it was; and after that it can be made.
func TestKilledCreate(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		b := newSandbox(t)
		before := b.picture()
		deaths, pruned := 0, 0
		first, stride := sample.Steps(fmt.Sprint("create ", after), 8)
		for at := first; b.kill("create", at, after); at += stride {
			deaths++
			f, known, err := b.book.Read("checkout")
			if err != nil {
				t.Fatal(err)
			}

			found, err := b.features().Prune(t.Context())
			for _, p := range found {
				pruned++
				err = errors.Join(err, p.Err)
				if len(p.Kept) > 0 {
					t.Errorf("kept %+v", p.Kept)
				}
			}

			if err != nil {
				t.Errorf("prune: %v", err)
			}

			if known && f.Ready { // killed when all was done
				if _, err := b.features().Remove(t.Context(), "checkout"); err != nil {
					t.Errorf("remove: %v", err)
				}
			}

			b.tidy()
			b.unchanged(before)
			if t.Failed() {
				t.Fatalf("killed at step %d, after it: %t", at, after)
			}
		}

		if deaths < sample.Size(1, 6) || pruned < sample.Size(0, 3) {
			t.Errorf("%d deaths, %d pruned", deaths, pruned)
		}
	}
}

// TestKilledRemove: a removal that was killed anywhere is finished by the next.
func TestKilledRemove(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	before := b.picture()
	first, stride := sample.Steps("remove", 8)
	for at := first; ; at += stride {
		b.create("app", "lib")
		killed := b.kill("remove", at, false)
		_, err := b.features().Remove(t.Context(), "checkout")
		if err != nil && !answer.Is(err, answer.Declined) {
			t.Fatalf("killed at step %d: remove: %v", at, err)
		}

		b.tidy()
		b.unchanged(before)
		if t.Failed() {
			t.Fatalf("killed at step %d", at)
		}

		if !killed {
			break
		}
	}
}

// TestKilledCheckout: git and we are killed while files are being written into a tree. Prune
// removes it although it looks as if files were missing from it.
func TestKilledCheckout(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	seed := filepath.Join(b.dir, "seed", "lib")
	b.write(filepath.Join(seed, ".gitattributes"), "z-last filter=die\n")
	b.write(filepath.Join(seed, "z-last"), "z")
	b.commit(seed, "deadly")
	b.git(seed, "push", "-q", filepath.Join(b.dir, "origin", "lib.git"), "main")
	b.git(b.path("lib"), "fetch", "-q", "origin", "main:main")
	before := b.picture()
	b.git(b.path("lib"), "config", "filter.die.smudge", `kill -9 $DIE_PID; kill -9 0`)
	if !b.kill("create", 1000, false) {
		t.Fatal("nobody was killed")
	}

	b.git(b.path("lib"), "config", "--remove-section", "filter.die")
	if !strings.Contains(b.git(b.path("lib"), "worktree", "list"), "checkout") {
		t.Fatal("the kill came too early: git has no such tree")
	}

	list, err := b.features().List(t.Context())
	if err != nil || len(list) != 1 || list[0].Trees[0].State != "unfinished" ||
		list[0].Trees[1].State != "unfinished" {
		t.Errorf("list: %+v, %v", list, err)
	}

	if _, err := b.features().Create(t.Context(), b.request("app")); !answer.Is(err, answer.Declined) ||
		!strings.Contains(err.Error(), "was killed") {
		t.Errorf("create: %v", err)
	}

	if pruned, err := b.features().Prune(t.Context()); err != nil || len(pruned) != 1 || pruned[0].Err != nil ||
		len(pruned[0].Gone) != 2 {
		t.Errorf("prune: %+v, %v", pruned, err)
	}

	b.tidy()
	b.unchanged(before)
}
