package worktree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/worktree"
)

func TestParseSpec(t *testing.T) {
	for in, want := range map[string]worktree.Spec{
		"app=/src/app":            {Name: "app", Path: "/src/app"},
		"app=/src/app@main":       {Name: "app", Path: "/src/app", Base: "main"},
		"app=/src/app@origin/x@y": {Name: "app", Path: "/src/app@origin/x", Base: "y"},
		"app=/src/a@b/app@v1":     {Name: "app", Path: "/src/a@b/app", Base: "v1"},
		"app=/src/app@@{u}":       {Name: "app", Path: "/src/app", Base: "@{u}"},
		"app=/src/app@main@{1}":   {Name: "app", Path: "/src/app", Base: "main@{1}"},
		"app=/src/app@-x":         {Name: "app", Path: "/src/app", Base: "-x"},
		"app=/src/a=b":            {Name: "app", Path: "/src/a=b"},
	} {
		if got, err := worktree.ParseSpec(in); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", in, got, err, want)
		}
	}

	for _, in := range []string{"", "app", "=/src", "app=", "app=/src@"} {
		if got, err := worktree.ParseSpec(in); !answer.Is(err, answer.Usage) {
			t.Errorf("%q: %+v, %v, want that it is refused", in, got, err)
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	before := b.picture()
	f := b.create("app", "lib")
	if len(f.Trees) != 2 || !f.Ready {
		t.Fatalf("feature: %+v", f)
	}

	for _, tree := range f.Trees {
		want := "lucius/checkout-" + tree.Repo + "-20260501-120000"
		if got := b.git(tree.Path, "branch", "--show-current"); got != want || tree.Branch != want {
			t.Errorf("%s is on %s, want %s", tree.Path, got, want)
		}

		if got := b.git(tree.Path, "rev-parse", "HEAD"); got != tree.From {
			t.Errorf("%s is at %s, want %s", tree.Path, got, tree.From)
		}

		if got := b.git(tree.Path, "status", "--porcelain"); got != "" {
			t.Errorf("%s: %s", tree.Path, got)
		}
	}

	list, err := b.features().List(t.Context())
	if err != nil || len(list) != 1 || len(list[0].Trees) != 2 || list[0].Trees[0].State != "clean" ||
		list[0].Trees[1].State != "clean" {
		t.Errorf("list: %+v, %v", list, err)
	}

	for _, name := range []string{"rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"} {
		file := b.git(f.Trees[0].Path, "rev-parse", "--path-format=absolute", "--git-path", name)
		b.write(file, f.Trees[0].From)
		if list, err := b.features().List(t.Context()); err != nil || !strings.Contains(list[0].Trees[0].Why, "unfinished") {
			t.Errorf("list with %s: %+v, %v", name, list, err)
		}
		b.away(file)
	}

	if _, err := b.features().Create(t.Context(), b.request("web")); !answer.Is(err, answer.Declined) ||
		!strings.Contains(err.Error(), "it has worktrees already") {
		t.Errorf("create again: %v", err)
	}

	if pruned, err := b.features().Prune(t.Context()); err != nil || len(pruned) != 0 {
		t.Errorf("prune of what is in order: %+v, %v", pruned, err)
	}
	b.away(f.Trees[1].Path)
	if list, err := b.features().List(t.Context()); err != nil || list[0].Trees[1].State != "missing" {
		t.Errorf("list without a folder: %+v, %v", list, err)
	}

	b.write(f.Trees[1].Path, "a file")
	if pruned, err := b.features().Prune(t.Context()); err != nil || len(pruned) != 1 || len(pruned[0].Kept) != 1 {
		t.Errorf("prune of what cannot be looked at: %+v, %v", pruned, err)
	}
	b.away(f.Trees[1].Path)

	if _, err := b.features().Remove(t.Context(), "checkout"); err != nil {
		t.Errorf("remove: %v", err)
	}
	b.unchanged(before)
	if _, err := b.features().Remove(t.Context(), "checkout"); !answer.Is(err, answer.Declined) {
		t.Errorf("remove again: %v", err)
	}
}

// TestPlanFollowsLinks: what would be made is where Create makes it, behind the links in the
// folder's path.
func TestPlanFollowsLinks(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	if err := os.Symlink(b.dir, filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}

	r := b.request("app")
	r.Folder = filepath.Join(b.dir, "link", "later", "features")
	planned, err := b.features().Plan(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}

	made, err := b.features().Create(t.Context(), r)
	if err != nil || planned.Folder != made.Folder || planned.Trees[0].Path != made.Trees[0].Path ||
		strings.Contains(made.Folder, "link") {
		t.Errorf("planned %s, made %s, %v", planned.Folder, made.Folder, err)
	}
}

// TestBases: a base is a remote's branch, a tag, an object id, or any other name that git knows;
// the remote's branch as it is now. An ordinary run plays half of them.
func TestBases(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	seed := filepath.Join(b.dir, "seed", "app")
	origin := filepath.Join(b.dir, "origin", "app.git")
	b.git(seed, "switch", "-q", "-c", "later", "feature/x")
	b.write(filepath.Join(seed, "y"), "y")
	b.commit(seed, "third")
	b.git(seed, "push", "-q", origin, "later", "later:feature/x")
	b.git(seed, "push", "-q", origin, "later:v2")
	b.git(b.path("app"), "tag", "v2", "v1") // and the remote has a branch of that name, which is another commit
	b.git(b.path("app"), "remote", "add", "up/stream", origin)
	b.git(b.path("app"), "remote", "add", "a", filepath.Join(b.dir, "nowhere")) // neither counts beside origin
	b.git(b.path("web"), "remote", "rename", "origin", "hub")
	b.git(b.path("web"), "remote", "add", "mirror", filepath.Join(b.dir, "nowhere"))
	web := b.git(b.path("web"), "rev-parse", "hub/feature/x")
	libs := filepath.Join(b.dir, "origin", "lib.git")
	b.git(libs, "branch", "-f", "main", "feature/x")
	first, third := b.git(seed, "rev-parse", "main"), b.git(seed, "rev-parse", "later")
	for _, c := range []struct{ repo, base, want string }{
		{"app", "", first},
		{"app", "main", first},
		{"app", "HEAD", first},
		{"app", "@{u}", first},
		{"app", "v1", first},
		{"app", "v1-annotated", first},
		{"app", "v2", first},
		{"app", "refs/tags/v1", first},
		{"app", first, first},
		{"app", first[:10], first},
		{"app", "origin/feature/x", third},
		{"app", "up/stream/feature/x", third},
		{"app", "feature/x", third},
		{"app", "later", third},
		{"app", "-x", "error"},
		{"app", "--upload-pack=touch /tmp/evil", "error"},
		{"app", "--since=now", "error"},
		{"app", "--glob=refs/heads/main", "error"},
		{"app", "nope", "error"},
		{"app", "origin/nope", "error"},
		{"app", "origin/feat*", "error"},
		{"app", "main\nfirst", "error"},
		{"app", "v1^{tree}", "error"},
		{"app", "up/stream/", "error"},
		{"web", "feature/x", web},
		{"lib", "", "its remote's main"},
		{"lib", "feature/x", "feature/x"},
		{"lib", "origin/feature/x", "feature/x"},
		{"lib", "v1", "main"},
	} {
		if c.base != "@{u}" && !sample.Plays(c.repo+" "+c.base, 0, 2) { // as a tag, git fails on @{u} in another way
			continue
		}
		want := c.want
		switch {
		case c.want == "its remote's main":
			want = b.git(libs, "rev-parse", "main")
		case c.repo == "lib":
			want = b.git(b.path("lib"), "rev-parse", c.want)
		}

		r := b.request(c.repo)
		r.Specs[0].Base = c.base
		f, err := b.features().Create(t.Context(), r)
		switch {
		case c.want == "error" && !answer.Is(err, answer.Usage):
			t.Errorf("%s@%s: %v, want that it is refused", c.repo, c.base, err)
		case c.want != "error" && err != nil:
			t.Errorf("%s@%s: %v, want %q", c.repo, c.base, err, want)
		case c.want != "error" && f.Trees[0].From != want:
			t.Errorf("%s@%s: at %q, want %q", c.repo, c.base, f.Trees[0].From, want)
		}

		if err == nil {
			if _, err := b.features().Remove(t.Context(), "checkout"); err != nil {
				t.Fatal(err)
			}
		}
	}

	if err := os.Rename(origin, origin+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.features().Create(t.Context(), b.request("app@origin/feature/x")); err == nil ||
		answer.Is(err, answer.Usage) {
		t.Errorf("with a remote out of reach: %v, want that it could not be found out", err)
	}

	b.git(b.path("lib"), "remote", "set-url", "origin", filepath.Join(b.dir, "nowhere"))
	if _, err := b.features().Create(t.Context(), b.request("lib")); err == nil ||
		!strings.Contains(err.Error(), `base "default branch": `) {
		t.Errorf("with a remote out of reach: %v, want that it names the base that was not given", err)
	}
	b.git(b.path("lib"), "remote", "set-url", "origin", libs)

	b.git(b.path("app"), "remote", "set-head", "origin", "feature/x")
	head := b.git(b.path("lib"), "rev-parse", "HEAD") // it has no note of its remote's, which a plan does not ask
	if f, err := b.features().Plan(t.Context(), b.request("app", "lib")); err != nil || f.Trees[0].From != third ||
		f.Trees[1].From != head {
		t.Errorf("planned: %+v, %v", f, err)
	}
	for _, base := range []string{"refs/tags/v1", first[:7]} { // which no remote is asked for
		f, err := b.features().Create(t.Context(), b.request("app@"+base))
		if _, gone := b.features().Remove(t.Context(), "checkout"); err != nil || gone != nil || f.Trees[0].From != first {
			t.Errorf("%s: %+v, %v, %v", base, f, err, gone)
		}
	}

	b.git(b.path("app"), "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/none") // not of the remote
	if f, err := b.features().Plan(t.Context(), b.request("app")); err != nil || f.Trees[0].From != first {
		t.Errorf("a note of the remote's default branch that is none: %+v, %v", f, err)
	}

	r := b.request("app@origin/feature/x")
	r.Offline = true
	if f, err := b.features().Create(t.Context(), r); err != nil || f.Trees[0].From != third {
		t.Errorf("offline: %+v, %v", f, err)
	}
}

// TestRefused: whatever is wrong with one repository, nothing is done in any.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	b.git(b.path("web"), "branch", "taken")
	b.git(b.path("web"), "branch", "lucius2/checkout-web-20260501-120000/more")
	b.git(b.path("web"), "update-ref", "refs/remotes/hub/fetched/checkout-web-20260501-120000", "HEAD")
	b.git(b.dir, "init", "-q", filepath.Join(b.dir, "empty"))
	b.write(filepath.Join(b.dir, "file"), "")
	if err := errors.Join(os.MkdirAll(filepath.Join(b.dir, "trees", "checkout", "there"), 0o700),
		os.MkdirAll(filepath.Join(b.path("app"), "sub"), 0o700)); err != nil {
		t.Fatal(err)
	}

	b.git(b.path("app"), "init", "-q", "--bare", "bare")
	linked := filepath.Join(b.dir, "linked")
	b.git(b.path("app"), "worktree", "add", "-q", "--detach", linked)
	before := b.picture()
	spec := func(name, path string) worktree.Spec { return worktree.Spec{Name: name, Path: path} }
	for name, c := range map[string]struct {
		change func(*worktree.Request)
		want   string
	}{
		"no feature":           {func(r *worktree.Request) { r.Feature = "" }, "expected a-z"},
		"feature with slashes": {func(r *worktree.Request) { r.Feature = "../../evil" }, "expected a-z"},
		"feature with a dash":  {func(r *worktree.Request) { r.Feature = "-x" }, "expected a-z"},
		"long feature": {
			func(r *worktree.Request) { r.Feature = strings.Repeat("x", 64) },
			"64 characters, expected at most 63",
		},
		"no agent":           {func(r *worktree.Request) { r.Agent = "" }, "agent"},
		"agent with a slash": {func(r *worktree.Request) { r.Agent = "a/b" }, "agent"},
		"long agent":         {func(r *worktree.Request) { r.Agent = strings.Repeat("x", 64) }, "agent"},
		"agent like a lock":  {func(r *worktree.Request) { r.Agent = "a.lock" }, "agent"},
		"agent with a dash":  {func(r *worktree.Request) { r.Agent = "-x" }, "agent"},
		"agent with a brace": {func(r *worktree.Request) { r.Agent = "a{b" }, "agent"},
		"no repository":      {func(r *worktree.Request) { r.Specs = nil }, "no repository"},
		"name twice": {
			func(r *worktree.Request) { r.Specs = append(r.Specs, spec("APP", b.path("lib"))) },
			"given twice",
		},
		"name with dots":    {func(r *worktree.Request) { r.Specs[1].Name = ".." }, "repository name"},
		"name with a slash": {func(r *worktree.Request) { r.Specs[1].Name = "a/b" }, "repository name"},
		"no such path": {
			func(r *worktree.Request) { r.Specs[1].Path = filepath.Join(b.dir, "gone") },
			"no such file",
		},
		"a file": {
			func(r *worktree.Request) { r.Specs[1].Path = filepath.Join(b.dir, "file") },
			"is not a git repository",
		},
		"no repository there": {func(r *worktree.Request) { r.Specs[1].Path = b.dir }, "is not a git repository"},
		"below a repository": {
			func(r *worktree.Request) { r.Specs[1].Path = filepath.Join(b.path("app"), "sub") },
			"is not a git repository",
		},
		"a stranger's repository": {
			func(r *worktree.Request) { r.Specs[1].Path = filepath.Join(b.path("app"), "bare") },
			"is a bare repository inside the clone",
		},
		"repository twice": {func(r *worktree.Request) { r.Specs[1].Path = linked }, "the same as app"},
		"nothing in it": {
			func(r *worktree.Request) { r.Specs[1].Path = filepath.Join(b.dir, "empty") },
			"no branch, tag or commit",
		},
		"branch in the way": {func(r *worktree.Request) { r.Agent = "taken" }, "is in the way"},
		"branch below":      {func(r *worktree.Request) { r.Agent = "lucius2" }, "is in the way"},
		"branch of a remote": {
			func(r *worktree.Request) { r.Agent = "fetched" },
			"a remote has a branch fetched/checkout-web-",
		},
		"folder there": {func(r *worktree.Request) { r.Specs[1].Name = "there" }, "exists already"},
		"folder below a file": {
			func(r *worktree.Request) { r.Folder = filepath.Join(b.dir, "file", "x") },
			"file/x: not a directory",
		},
		"relative folder": {func(r *worktree.Request) { r.Folder = "trees" }, "absolute"},
	} {
		r := b.request("app", "web")
		c.change(&r)
		_, err := b.features().Create(t.Context(), r)
		if !answer.Is(err, answer.Usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}

		b.unchanged(before)
	}
}

// TestKept: no work is lost, whoever asks, and what was kept is still known afterwards. An ordinary
// run plays half of it.
func TestKept(t *testing.T) {
	t.Parallel()
	push := func(b *sandbox, tree worktree.Tree) {
		b.write(filepath.Join(tree.Path, "new"), "new")
		b.commit(tree.Path, "work")
		b.git(tree.Path, "push", "-q", "-u", "origin", tree.Branch)
	}

	for name, c := range map[string]struct {
		work func(*sandbox, worktree.Tree)
		want string // of why it was kept; empty when it may go
	}{
		"changed file": {
			func(b *sandbox, tree worktree.Tree) { b.write(filepath.Join(tree.Path, "README"), "mine") },
			"uncommitted changes",
		},
		"untracked unseen": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "config", "status.showUntrackedFiles", "no")
			b.write(filepath.Join(tree.Path, "new"), "mine")
		}, "uncommitted changes"},
		"commit": {func(b *sandbox, tree worktree.Tree) {
			b.write(filepath.Join(tree.Path, "new"), "new")
			b.commit(tree.Path, "work")
		}, "commits that were not pushed"},
		"commit since it was pushed": {func(b *sandbox, tree worktree.Tree) {
			push(b, tree)
			b.write(filepath.Join(tree.Path, "newer"), "newer")
			b.commit(tree.Path, "more work")
		}, "commits that were not pushed"},
		"commit on no branch": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "switch", "-q", "--detach")
			b.write(filepath.Join(tree.Path, "new"), "new")
			b.commit(tree.Path, "work")
		}, "commits on no branch"},
		"commit only a tag has": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "switch", "-q", "--detach")
			b.write(filepath.Join(tree.Path, "new"), "new")
			b.commit(tree.Path, "work")
			b.git(tree.Path, "tag", "kept")
		}, ""},
		"unfinished merge": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "merge", "-q", "--no-commit", "--no-ff", "-s", "ours",
				b.git(b.path(tree.Repo), "rev-parse", b.other(tree.Repo)))
		}, "unfinished"},
		"folder gone, commit": {func(b *sandbox, tree worktree.Tree) {
			b.write(filepath.Join(tree.Path, "new"), "new")
			b.commit(tree.Path, "work")
			b.away(tree.Path)
		}, "commits that were not pushed"},
		"index gone": {func(b *sandbox, tree worktree.Tree) {
			b.away(b.git(tree.Path, "rev-parse", "--path-format=absolute", "--git-path", "index"))
		}, "uncommitted changes"},
		"something else there": {func(b *sandbox, tree worktree.Tree) {
			b.away(tree.Path)
			b.git(b.dir, "init", "-q", tree.Path)
		}, "not the worktree"},
		"moved": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "worktree", "move", tree.Path, filepath.Join(b.dir, "moved"))
		}, "is checked out in"},
		"assumed unchanged": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "update-index", "--assume-unchanged", "README")
			b.write(filepath.Join(tree.Path, "README"), "mine")
		}, "changes to README, which git was told not to look at"},
		"a link, and skipped": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "update-index", "--skip-worktree", "README")
			b.away(filepath.Join(tree.Path, "README"))
			if err := os.Symlink(".gitignore", filepath.Join(tree.Path, "README")); err != nil {
				b.t.Fatal(err)
			}
		}, "changes to README, which git was told not to look at"},
		"assumed unchanged, below what is now an ignored file": {func(b *sandbox, tree worktree.Tree) {
			folder := filepath.Join(tree.Path, "x.o")
			if err := os.Mkdir(folder, 0o700); err != nil {
				b.t.Fatal(err)
			}
			b.write(filepath.Join(folder, "file"), "x")
			b.git(tree.Path, "add", "-f", "x.o")
			push(b, tree)
			b.git(tree.Path, "update-index", "--assume-unchanged", "x.o/file")
			b.away(folder)
			b.write(folder, "mine")
		}, "changes to x.o/file, which git was told not to look at"},
		"repository gone": {
			func(b *sandbox, tree worktree.Tree) { b.away(tree.Source) },
			"is not there; if nothing in the folder is worth keeping, remove it",
		},
		"assumed unchanged, all of it": {func(b *sandbox, tree worktree.Tree) {
			names := []string{"update-index", "--assume-unchanged"}
			for n := range 101 { // more than one command line takes
				names = append(names, fmt.Sprint(n))
				b.write(filepath.Join(tree.Path, fmt.Sprint(n)), fmt.Sprint(n))
			}
			push(b, tree)
			b.git(tree.Path, names...)
		}, ""},
		"skipped, as a sparse checkout does": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "update-index", "--skip-worktree", "README")
			b.away(filepath.Join(tree.Path, "README"))
		}, ""},
		"pushed":       {push, ""},
		"ignored file": {func(b *sandbox, tree worktree.Tree) { b.write(filepath.Join(tree.Path, "x.o"), "") }, ""},
		"a file beside": {func(b *sandbox, tree worktree.Tree) {
			b.write(filepath.Join(filepath.Dir(tree.Path), "notes"), "")
		}, ""},
		"folder empty": {func(b *sandbox, tree worktree.Tree) {
			b.away(tree.Path)
			b.git(b.path(tree.Repo), "worktree", "prune")
			if err := os.Mkdir(tree.Path, 0o700); err != nil {
				b.t.Fatal(err)
			}
		}, ""},
		"pushed, with a link": {func(b *sandbox, tree worktree.Tree) {
			if err := os.Symlink("README", filepath.Join(tree.Path, "link")); err != nil {
				b.t.Fatal(err)
			}
			push(b, tree)
		}, ""},
		"folder gone": {func(b *sandbox, tree worktree.Tree) { b.away(tree.Path) }, ""},
		"branch gone": {func(b *sandbox, tree worktree.Tree) {
			b.git(tree.Path, "switch", "-q", "--detach")
			b.git(tree.Path, "branch", "-D", tree.Branch)
		}, ""},
	} {
		for n, repo := range []string{"app", "lib"} {
			if !sample.Plays(name, n, 2) { // each in one of the two
				continue
			}

			t.Run(name+" in "+repo, func(t *testing.T) {
				t.Parallel()
				b := newSandbox(t)
				f := b.create(repo, "web")
				c.work(b, f.Trees[0])
				_, err := b.features().Remove(t.Context(), "checkout")
				var kept *worktree.KeptError
				if c.want == "" {
					if err != nil {
						t.Errorf("remove: %v", err)
					}
					left, err := b.book.Names()
					branches := b.git(b.path(repo), "branch", "--list", "lucius/*")
					if err != nil || len(left) != 0 || branches != "" {
						t.Errorf("left: %q, %s, %v", left, branches, err)
					}

					return
				}

				if !errors.As(err, &kept) || len(kept.Kept) != 1 || kept.Kept[0].Path != f.Trees[0].Path ||
					!strings.Contains(err.Error(), c.want) {
					t.Fatalf("remove: %v, want that %s is kept: %s", err, repo, c.want)
				}

				if left, err := b.features().List(t.Context()); err != nil || len(left) != 1 || len(left[0].Trees) != 1 ||
					left[0].Trees[0].Tree != f.Trees[0] || !slices.Contains([]string{"moved", "repository gone"}, name) &&
					!strings.Contains(left[0].Trees[0].Why, c.want) {
					t.Errorf("left: %+v, %v", left, err)
				}

				if _, err := os.Stat(f.Trees[1].Path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the other tree is there still: %v", err)
				}
			})
		}
	}
}

// other is a commit beside main.
func (b *sandbox) other(repo string) string {
	if repo == "lib" {
		return "feature/x"
	}
	return "origin/feature/x"
}

func (b *sandbox) away(path string) {
	b.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		b.t.Fatal(err)
	}
}

// TestPruneKeeps: what somebody has begun to do in a tree of a run that was killed is kept, and
// said.
func TestPruneKeeps(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	f := b.create("app", "lib", "web")
	lib, web := f.Trees[1], f.Trees[2]
	page, err := b.book.Open("checkout")
	if err != nil {
		t.Fatal(err)
	}
	f.Ready = false
	if err := errors.Join(page.Save(f), page.Close()); err != nil {
		t.Fatal(err)
	}

	b.write(filepath.Join(f.Trees[0].Path, "new"), "mine")
	b.write(filepath.Join(lib.Path, "new"), "mine")
	b.commit(lib.Path, "work")
	b.away(lib.Path)
	b.git(b.dir, "init", "-q", lib.Path)
	b.git(web.Path, "worktree", "lock", web.Path)
	for range 2 {
		pruned, err := b.features().Prune(t.Context())
		if err != nil || len(pruned) != 1 || len(pruned[0].Kept) != 2 || pruned[0].Kept[0].Tree != f.Trees[0] ||
			pruned[0].Kept[0].Why != "uncommitted changes" || pruned[0].Kept[1].Tree != web {
			t.Errorf("prune: %+v, %v", pruned, err)
		}
	}
	b.git(b.path("lib"), "rev-parse", "--verify", lib.Branch) // its commit is nowhere else

	// a branch without work goes, and what somebody else has put there stays
	b.git(web.Path, "worktree", "unlock", web.Path)
	b.away(web.Path)
	b.git(b.path("web"), "worktree", "prune")
	b.git(b.dir, "init", "-q", web.Path)
	if pruned, err := b.features().Prune(t.Context()); err != nil || len(pruned[0].Gone) != 1 ||
		b.git(b.path("web"), "branch", "--list", web.Branch) != "" {
		t.Errorf("prune: %+v, %v", pruned, err)
	}
}

// failing are the features with a git that fails at one of its commands, after so many.
func (b *sandbox) failing(left *int, fail func(args []string) error) *worktree.Features {
	git := func(ctx context.Context, dir string, args ...string) (string, error) {
		*left--
		if *left == 0 {
			if err := fail(args); err != nil {
				return "", err
			}
		}

		return b.program()(ctx, dir, args...)
	}
	return worktree.New(git, b.book)
}

// TestFailureLater: where git fails while trees are looked at, one is unknown; while they are
// removed, that is said, and the next removal finishes it.
func TestFailureLater(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	before := b.picture()
	first, stride := sample.Steps("later", 8)
	for at, over := first, false; !over; at += stride {
		f := b.create("app", "lib")
		app, lib := f.Trees[0], f.Trees[1]
		b.git(app.Path, "switch", "-q", "--detach")
		b.git(app.Path, "update-index", "--assume-unchanged", "README")
		b.write(filepath.Join(lib.Path, "new"), "new")
		b.commit(lib.Path, "work")
		b.git(lib.Path, "push", "-q", "-u", "origin", lib.Branch)

		full, left := errors.New("disk full"), at
		list, err := b.failing(&left, func([]string) error { return full }).List(t.Context())
		if err != nil || len(list) != 1 || len(list[0].Trees) != 2 {
			t.Fatalf("list at command %d: %+v, %v", at, list, err)
		}
		unknown := 0
		for _, tree := range list[0].Trees {
			if tree.State == "unknown" && strings.Contains(tree.Why, full.Error()) {
				unknown++
			}
		}
		if unknown != map[bool]int{true: 1}[left <= 0] {
			t.Errorf("list at command %d: %+v", at, list)
		}

		left = at
		failed := ""
		_, err = b.failing(&left, func(args []string) error { failed = strings.Join(args, " "); return full }).Remove(
			t.Context(), "checkout")
		var kept *worktree.KeptError
		switch over = left > 0; {
		case over, strings.Contains(failed, "--remove-section"):
			if err != nil {
				t.Errorf("%q: remove: %v", failed, err)
			}
		case strings.Contains(failed, "ls-remote"), strings.HasSuffix(failed, " remote"): // it is not known that it was pushed
			if !errors.As(err, &kept) || len(kept.Kept) != 1 || kept.Kept[0].Tree != lib {
				t.Errorf("%q: remove: %v", failed, err)
			}
		case !errors.Is(err, full):
			t.Errorf("%q: remove: %v", failed, err)
		}

		if _, err := b.features().Remove(t.Context(), "checkout"); err != nil && !answer.Is(err, answer.Declined) {
			t.Errorf("%q: remove again: %v", failed, err)
		}
		b.git(b.path("lib"), "push", "-q", "origin", ":"+lib.Branch)
		b.tidy()
		if strings.HasSuffix(failed, "--remove-section branch."+lib.Branch) {
			b.git(b.path("lib"), "config", "--remove-section", "branch."+lib.Branch)
		}
		b.unchanged(before)
		if t.Failed() {
			t.Fatalf("at command %d: %s", at, failed)
		}
	}
}

// TestFailure: git fails at each of its commands, and when a signal ends the run there; everything
// is as before.
func TestFailure(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(context.CancelFunc) error{
		"error":  func(context.CancelFunc) error { return &git.Error{Err: errors.New("disk full")} },
		"signal": func(stop context.CancelFunc) error { stop(); return nil },
		"broken": nil, // it fails at all that follow, and what could not be undone is pruned later
	} {
		t.Run(name, func(t *testing.T) {
			b := newSandbox(t)
			before := b.picture()
			undone := 0
			first, stride := sample.Steps(name, 8)
			for at := first; ; at += stride {
				ctx, stop := context.WithCancel(t.Context())
				left, failed := at, false
				features := b.failing(&left, func([]string) error {
					failed = true
					if fail == nil {
						left = 1 // so does the next one
						return errors.New("disk full")
					}
					return fail(stop)
				})
				_, err := features.Create(ctx, b.request("app", "lib", "web"))
				stop()
				if !failed {
					if err != nil {
						t.Errorf("create: %v", err)
					}
					break
				}

				var trouble *worktree.UndoneError
				if errors.As(err, &trouble) {
					undone++
				}

				if err == nil || answer.Is(err, answer.Usage) {
					t.Errorf("at command %d: %v", at, err)
				}
				if fail == nil && trouble != nil {
					if trouble.Kept == nil {
						t.Errorf("at command %d: %v", at, err)
					}
					if _, err := b.features().Prune(t.Context()); err != nil {
						t.Errorf("at command %d: prune: %v", at, err)
					}
					b.tidy()
				}
				b.unchanged(before)
				if t.Failed() {
					t.Fatalf("at command %d: %v", at, err)
				}
			}

			if undone < sample.Size(1, 3) {
				t.Errorf("undone %d times", undone)
			}
		})
	}
}

// TestNamedBareClone: a git that is set to refuse bare repositories uses one that the caller has
// named.
func TestNamedBareClone(t *testing.T) {
	b := newSandbox(t)
	b.env = append(b.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.bareRepository", "GIT_CONFIG_VALUE_0=explicit")
	if f, err := b.features().Create(t.Context(), b.request("lib")); err != nil || len(f.Trees) != 1 {
		t.Errorf("created %+v: %v", f, err)
	}
}
