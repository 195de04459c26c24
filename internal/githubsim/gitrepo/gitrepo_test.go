package gitrepo_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

var ann = gitrepo.Signature{
	Name: "Ann", Email: "ann@example.com",
	When: time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("", 2*3600)),
}

func newRepo(t *testing.T) *gitrepo.Repo {
	t.Helper()
	// A user's own configuration and repository must not matter.
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "elsewhere"))
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "missing"))
	t.Setenv("HOME", t.TempDir())
	r, err := gitrepo.Init(filepath.Join(t.TempDir(), "app.git"), "main")
	if err != nil {
		t.Fatal(err)
	}

	return r
}

// commit writes one commit with the given files on top of parents, and no reference.
func commit(t *testing.T, r *gitrepo.Repo, message string, files map[string]string, parents ...string) string {
	t.Helper()
	var entries []gitrepo.TreeEntry
	for path, text := range files {
		blob, err := r.WriteBlob([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, gitrepo.TreeEntry{Path: path, Mode: "100644", OID: blob})
	}

	base := ""
	if len(parents) > 0 {
		base = parents[0]
	}

	tree, err := r.WriteTree(t.Context(), base, entries)
	if err != nil {
		t.Fatal(err)
	}

	oid, err := r.WriteCommit(t.Context(), gitrepo.Commit{
		Tree:      tree,
		Parents:   parents,
		Message:   message,
		Author:    ann,
		Committer: ann,
	})
	if err != nil {
		t.Fatal(err)
	}

	return oid
}

func head(t *testing.T, r *gitrepo.Repo, branch string) string {
	t.Helper()
	oid, ok, err := r.Ref(t.Context(), "refs/heads/"+branch)
	if err != nil || !ok {
		t.Fatalf("Ref(%s) = %v, %v", branch, ok, err)
	}
	return oid
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("err = %v, want %v", err, want)
	}
}

func TestInitGivesOneCommitOnTheDefaultBranch(t *testing.T) {
	r := newRepo(t)
	c, err := r.ReadCommit(t.Context(), head(t, r, "main"))
	if err != nil {
		t.Fatal(err)
	}

	if c.Message != "Initial commit\n" || len(c.Parents) != 0 {
		t.Errorf("commit = %+v", c)
	}

	if out, err := exec.Command("git", "--git-dir="+r.Dir, "fsck", "--strict", "--full").CombinedOutput(); err != nil ||
		len(out) > 0 {
		t.Errorf("git fsck: %v\n%s", err, out)
	}

	_, err = gitrepo.Init(t.TempDir(), "no..branch")
	wantErr(t, err, gitrepo.ErrInvalid)
	_, err = gitrepo.Init(r.Dir, "main")
	wantErr(t, err, os.ErrExist)
}

func TestCreateRefHasOneWinner(t *testing.T) {
	r := newRepo(t)
	oid := head(t, r, "main")
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = r.CreateRef(t.Context(), "refs/label-state/leases/7", oid) })
	}

	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantErr(t, err, gitrepo.ErrExists)
	}

	if won != 1 {
		t.Errorf("%d winners, want 1", won)
	}
}

func TestRefErrors(t *testing.T) {
	r := newRepo(t)
	ctx, main := t.Context(), head(t, r, "main")
	blob, err := r.WriteBlob([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}

	absent := strings.Repeat("ab", 20)
	wantErr(t, r.CreateRef(ctx, "refs/heads/x", absent), gitrepo.ErrNoObject)
	wantErr(t, r.CreateRef(ctx, "refs/heads/x", blob), gitrepo.ErrWrongType)
	wantErr(t, r.CreateRef(ctx, "refs/heads/main", main), gitrepo.ErrExists)
	wantErr(t, r.CreateRef(ctx, "refs/heads/main/x", main), gitrepo.ErrConflict)
	wantErr(t, r.UpdateRef(ctx, "refs/heads/x", main, true), gitrepo.ErrNotFound)
	wantErr(t, r.UpdateRef(ctx, "refs/heads/main", absent, false), gitrepo.ErrNoObject)
	wantErr(t, r.DeleteRef(ctx, "refs/heads/x"), gitrepo.ErrNotFound)
	wantErr(t, r.CreateRef(ctx, "refs/heads/x", "--help"), gitrepo.ErrInvalid)
	wantErr(t, r.CreateRef(ctx, "refs/heads/x", gitrepo.Zero), gitrepo.ErrInvalid)
}

func TestRefNames(t *testing.T) {
	r := newRepo(t)
	oid := head(t, r, "main")
	for _, name := range []string{
		"main", "refs/", "refs/heads/", "refs//x", "refs/heads/.x", "refs/heads/x.lock", "refs/heads/x.lock/y",
		"refs/heads/x..y",
		"refs/heads/x.", "refs/heads/x y", "refs/heads/x\n", "refs/heads/x~1", "refs/heads/x^", "refs/heads/x:y",
		"refs/heads/x?",
		"refs/heads/x*", "refs/heads/[x", `refs/heads/x\y`, "refs/heads/x@{1}", "refs/heads/x\x7f", "--stdin", "HEAD",
	} {
		wantErr(t, r.CreateRef(t.Context(), name, oid), gitrepo.ErrInvalid)
	}

	for _, name := range []string{"refs/heads/ä/日本", "refs/heads/-x", "refs/label-state/a@b", "refs/heads/x;rm -rf"} {
		if err := r.CreateRef(t.Context(), name, oid); (err == nil) == strings.Contains(name, " ") {
			t.Errorf("CreateRef(%q) = %v", name, err)
		}
	}
}

func TestUpdateRefAsksForFastForward(t *testing.T) {
	r := newRepo(t)
	ctx, first := t.Context(), head(t, r, "main")
	second := commit(t, r, "second", nil, first)
	if err := r.UpdateRef(ctx, "refs/heads/main", second, false); err != nil {
		t.Fatal(err)
	}

	wantErr(t, r.UpdateRef(ctx, "refs/heads/main", first, false), gitrepo.ErrNotFastForward)
	if err := r.UpdateRef(ctx, "refs/heads/main", first, true); err != nil {
		t.Fatal(err)
	}

	if got := head(t, r, "main"); got != first {
		t.Errorf("main = %s, want %s", got, first)
	}
}

func TestUpdateRefsIsAllOrNothing(t *testing.T) {
	r := newRepo(t)
	ctx, first := t.Context(), head(t, r, "main")
	second := commit(t, r, "second", nil, first)
	err := r.UpdateRefs(ctx, []gitrepo.RefUpdate{
		{Name: "refs/heads/new", Before: gitrepo.Zero, After: second},
		{Name: "refs/heads/main", Before: second, After: second},
	})
	wantErr(t, err, gitrepo.ErrConflict)
	if _, ok, _ := r.Ref(ctx, "refs/heads/new"); ok {
		t.Error("one half of a failed transaction stayed")
	}

	err = r.UpdateRefs(ctx, []gitrepo.RefUpdate{
		{Name: "refs/heads/new", Before: gitrepo.Zero, After: first},
		{Name: "refs/heads/main", Before: first, After: second},
		{Name: "refs/heads/gone", Before: gitrepo.Zero, After: gitrepo.Zero},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantErr(t, r.UpdateRefs(ctx, []gitrepo.RefUpdate{{Name: "refs/heads/main", After: first}}),
		gitrepo.ErrNotFastForward)
	if err := r.UpdateRefs(ctx, []gitrepo.RefUpdate{{
		Name: "refs/heads/new", Before: first,
		After: gitrepo.Zero,
	}}); err != nil {
		t.Fatal(err)
	}

	wantErr(t, r.UpdateRefs(ctx, []gitrepo.RefUpdate{
		{Name: "refs/heads/new", Before: gitrepo.Zero, After: first},
		{Name: "refs/heads/main", Before: first, After: first},
	}), gitrepo.ErrConflict)
}

func TestRefsByPrefix(t *testing.T) {
	r := newRepo(t)
	oid := head(t, r, "main")
	for _, name := range []string{"refs/heads/feature/a", "refs/heads/feat", "refs/tags/v1"} {
		if err := r.CreateRef(t.Context(), name, oid); err != nil {
			t.Fatal(err)
		}
	}

	for prefix, want := range map[string]string{
		"refs/heads/fea": "refs/heads/feat refs/heads/feature/a",
		"refs/tags/":     "refs/tags/v1",
		"":               "refs/heads/feat refs/heads/feature/a refs/heads/main refs/tags/v1",
		"refs/none/":     "",
		"--sort=x":       "",
	} {
		refs, err := r.Refs(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}

		var names []string
		for _, ref := range refs {
			names = append(names, ref.Name)
			if ref.Type != "commit" || ref.OID != oid {
				t.Errorf("%+v", ref)
			}
		}

		if got := strings.Join(names, " "); got != want {
			t.Errorf("Refs(%q) = %q, want %q", prefix, got, want)
		}
	}
}

// user runs git as a person in dir, with nothing but what the test gives.
func user(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"LC_ALL=C",
		"GIT_AUTHOR_NAME=u", "GIT_AUTHOR_EMAIL=u@x", "GIT_COMMITTER_NAME=u", "GIT_COMMITTER_EMAIL=u@x",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}

	return strings.TrimSpace(string(out))
}
