package gitrepo_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// TestLooseIsAsPacked asks everything that is read without git, then packs the repository, so that
// git has to read it, and asks again.
func TestLooseIsAsPacked(t *testing.T) {
	r := newRepo(t)
	ctx, main := t.Context(), head(t, r, "main")
	first := commit(t, r, "one", map[string]string{"a.txt": "a", "dir/sub/b.txt": "b", "dir.txt": "between"}, main)
	second := commit(t, r, "two\n\nwith a body\n", map[string]string{"a.txt": "other"}, first)
	tag, err := r.WriteTag(ctx, gitrepo.Tag{
		Name:    "v1",
		Target:  second,
		Message: "one\n",
		Tagger:  ann,
	})
	if err != nil {
		t.Fatal(err)
	}

	for name, oid := range map[string]string{
		"refs/heads/feature": first, "refs/heads/feature.x": second, "refs/heads/fea": main,
		"refs/heads/topic/a": second, "refs/tags/v1": tag, "refs/label-state/lease/7": first,
	} {
		if err := r.CreateRef(ctx, name, oid); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.WriteFile(filepath.Join(r.Dir, "refs", "heads", "held.lock"), []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := strings.Repeat("1", 40)
	everything := func() string {
		var b strings.Builder
		for _, prefix := range []string{
			"", "refs/", "refs/heads/", "refs/heads/fea", "refs/heads/feature",
			"refs/heads/feature/", "refs/tags", "refs/none/x",
		} {
			refs, err := r.Refs(ctx, prefix)
			fmt.Fprintln(&b, "refs", prefix, refs, err)
		}

		for _, name := range []string{
			"refs/heads/main", "refs/heads/feature", "refs/heads/topic", "refs/heads/none",
			"refs/tags/v1", "refs/heads/held.lock",
		} {
			oid, ok, err := r.Ref(ctx, name)
			fmt.Fprintln(&b, "ref", name, oid, ok, err)
		}

		for _, rev := range []string{
			"HEAD", "main", "topic/a", "refs/heads/topic/a", "v1", "refs/tags/v1", first,
			second, tag, missing, "none", "refs/heads/none",
		} {
			for _, path := range []string{
				"a.txt", "dir/sub/b.txt", "dir/sub", "dir", "a.txt/below", "none",
				"dir/none",
			} {
				data, err := r.File(ctx, rev, path)
				fmt.Fprintf(&b, "file %s %s %q %v %t\n", rev, path, data, err, errors.Is(err, gitrepo.ErrNotFound))
			}
		}

		for _, oid := range []string{first, second, tag, missing} {
			c, err := r.ReadCommit(ctx, oid)
			fmt.Fprintln(&b, "commit", c, err)
			got, err := r.ReadTag(ctx, oid)
			fmt.Fprintln(&b, "tag", got, err)

			for _, other := range []string{main, first, second, missing} {
				is, err := r.IsAncestor(ctx, other, oid)
				fmt.Fprintln(&b, "ancestor", is, err)
			}
		}

		return b.String()
	}

	loose := everything()
	for _, args := range [][]string{
		{"fsck", "--strict"},
		{"pack-refs", "--all"},
		{"repack", "-adq"},
		{"prune-packed"},
	} {
		cmd := exec.Command("git", append([]string{"--git-dir=" + r.Dir}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}

	if _, err := os.Stat(filepath.Join(r.Dir, "objects", second[:2], second[2:])); err == nil {
		t.Fatal("nothing was packed")
	}
	packed := strings.Split(everything(), "\n")
	for n, line := range strings.Split(loose, "\n") {
		if line != packed[n] {
			t.Errorf("loose:  %s\npacked: %s", line, packed[n])
		}
	}
}

// TestCommitIsAsGits: a commit that is stored without git has the id that git gives it.
func TestCommitIsAsGits(t *testing.T) {
	r := newRepo(t)
	ctx, main := t.Context(), head(t, r, "main")
	below, err := r.ReadCommit(ctx, main)
	if err != nil {
		t.Fatal(err)
	}

	oid, err := r.WriteCommit(ctx, gitrepo.Commit{
		Tree:      below.Tree,
		Parents:   []string{main},
		Message:   "Lease\n\nholder=ann",
		Author:    ann,
		Committer: ann,
	})
	if err != nil {
		t.Fatal(err)
	}
	cat := exec.Command("git", "--git-dir="+r.Dir, "cat-file", "commit", oid)
	text, err := cat.Output()
	if err != nil {
		t.Fatal(err)
	}

	hash := exec.Command("git", "--git-dir="+r.Dir, "hash-object", "-t", "commit", "--stdin")
	hash.Stdin = strings.NewReader(string(text))
	if again, err := hash.Output(); err != nil || strings.TrimSpace(string(again)) != oid {
		t.Errorf("git calls %s %s, %v", oid, again, err)
	}
}
