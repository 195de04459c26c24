package gitrepo_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

func TestObjectsComeBackAsWritten(t *testing.T) {
	r := newRepo(t)
	ctx, main := t.Context(), head(t, r, "main")
	message := "Retry the upload\n\nFixes #42 \xff\x1b[31m"
	oid := commit(t, r, message, map[string]string{"a.txt": "a\x00b\n", "dir/sub/b c.txt": ""}, main)
	c, err := r.ReadCommit(ctx, oid)
	if err != nil {
		t.Fatal(err)
	}

	if c.Message != message || c.Author.String() != ann.String() || !slices.Equal(c.Parents, []string{main}) ||
		c.OID != oid {
		t.Errorf("commit = %+v", c)
	}

	entries, err := r.ReadTreeRecursive(ctx, oid)
	if err != nil {
		t.Fatal(err)
	}

	var paths []string
	for _, e := range entries {
		paths = append(paths, e.Path+":"+e.Type+":"+strconv.FormatInt(e.Size, 10))
	}

	if got, want := strings.Join(paths,
		" "), "a.txt:blob:4 dir:tree:0 dir/sub:tree:0 dir/sub/b c.txt:blob:0"; got != want {
		t.Errorf("tree = %s, want %s", got, want)
	}

	if top, err := r.ReadTree(ctx, c.Tree); err != nil || len(top) != 2 {
		t.Errorf("ReadTree = %+v, %v", top, err)
	}

	if empty, err := r.ReadTree(ctx, main); err != nil || len(empty) != 0 {
		t.Errorf("ReadTree of the empty tree = %+v, %v", empty, err)
	}

	tag := gitrepo.Tag{
		Name:    "v1",
		Target:  oid,
		Type:    "commit",
		Message: "one\n",
		Tagger:  ann,
	}
	tagOID, err := r.WriteTag(ctx, tag)
	if err != nil {
		t.Fatal(err)
	}

	got, err := r.ReadTag(ctx, tagOID)
	if err != nil || got.Target != oid || got.Name != "v1" || got.Message != "one\n" ||
		got.Tagger.String() != ann.String() {
		t.Errorf("tag = %+v, %v", got, err)
	}

	list, err := r.Between(ctx, main, oid)
	if err != nil || len(list) != 1 || list[0].Message != message {
		t.Errorf("Between = %+v, %v", list, err)
	}

	if all, err := r.Between(ctx, "", oid); err != nil || len(all) != 2 || all[0].OID != main {
		t.Errorf("Between from nothing = %+v, %v", all, err)
	}
}

func TestObjectErrors(t *testing.T) {
	r := newRepo(t)
	ctx, main := t.Context(), head(t, r, "main")
	c, err := r.ReadCommit(ctx, main)
	if err != nil {
		t.Fatal(err)
	}

	absent := strings.Repeat("cd", 20)
	_, err = r.ReadCommit(ctx, absent)
	wantErr(t, err, gitrepo.ErrNoObject)
	_, err = r.ReadCommit(ctx, c.Tree)
	wantErr(t, err, gitrepo.ErrWrongType)
	_, err = r.WriteCommit(ctx, gitrepo.Commit{
		Tree:      main,
		Message:   "x",
		Author:    ann,
		Committer: ann,
	})
	wantErr(t, err, gitrepo.ErrWrongType)
	_, err = r.WriteCommit(ctx, gitrepo.Commit{
		Tree:      absent,
		Message:   "x",
		Author:    ann,
		Committer: ann,
	})
	wantErr(t, err, gitrepo.ErrNoObject)
	_, err = r.WriteCommit(ctx, gitrepo.Commit{
		Tree:      c.Tree,
		Message:   "x\x00",
		Author:    ann,
		Committer: ann,
	})
	wantErr(t, err, gitrepo.ErrInvalid)
	_, err = r.WriteTree(ctx, "", []gitrepo.TreeEntry{{Path: "x", Mode: "100644", OID: absent}})
	wantErr(t, err, gitrepo.ErrNoObject)
	_, err = r.WriteTag(ctx, gitrepo.Tag{Name: "v1", Target: absent})
	wantErr(t, err, gitrepo.ErrNoObject)
	blob, err := r.WriteBlob([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range []string{"/x", "../x", "a//b", "", ".git/config", "a\x00b"} {
		_, err = r.WriteTree(ctx, "", []gitrepo.TreeEntry{{Path: path, Mode: "100644", OID: blob}})
		wantErr(t, err, gitrepo.ErrInvalid)
	}

	_, err = r.WriteTree(ctx, "", []gitrepo.TreeEntry{{Path: "x", Mode: "100777", OID: blob}})
	wantErr(t, err, gitrepo.ErrInvalid)
}

func TestWriteTreeReplacesAndRemoves(t *testing.T) {
	r := newRepo(t)
	ctx := t.Context()
	old := commit(t, r, "old", map[string]string{"keep": "k", "change": "1", "dir/f": "g", "old/x": "x", "file": ""},
		head(t, r, "main"))
	sub, err := r.ReadTree(ctx, old)
	if err != nil {
		t.Fatal(err)
	}

	blob, err := r.WriteBlob([]byte("2"))
	if err != nil {
		t.Fatal(err)
	}

	dir := sub[slices.IndexFunc(sub, func(e gitrepo.TreeEntry) bool { return e.Path == "dir" })]
	tree, err := r.WriteTree(ctx, old, []gitrepo.TreeEntry{
		{Path: "change", Mode: "100755", OID: blob},
		{Path: "dir"},
		{Path: "file"},
		{Path: "absent"},
		{Path: "copy", Mode: "040000", OID: dir.OID},
		{Path: "old", Mode: "040000", OID: dir.OID},
	})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := r.ReadTreeRecursive(ctx, tree)
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, e := range entries {
		got = append(got, e.Mode+" "+e.Path)
	}

	if want := []string{
		"100755 change", "040000 copy", "100644 copy/f", "100644 keep", "040000 old",
		"100644 old/f",
	}; !slices.Equal(got, want) {
		t.Errorf("tree = %q, want %q", got, want)
	}
}

func TestFile(t *testing.T) {
	r := newRepo(t)
	ctx := t.Context()
	oid := commit(t, r, "config", map[string]string{".github/label-state.yml": "pause: true\n"}, head(t, r, "main"))
	if err := r.UpdateRef(ctx, "refs/heads/main", oid, false); err != nil {
		t.Fatal(err)
	}

	for _, rev := range []string{"main", "HEAD", "refs/heads/main", oid} {
		data, err := r.File(ctx, rev, ".github/label-state.yml")
		if err != nil || string(data) != "pause: true\n" {
			t.Errorf("File(%s) = %q, %v", rev, data, err)
		}
	}

	for _, c := range []struct {
		rev, path string
		want      error
	}{
		{"main", "missing file", gitrepo.ErrNotFound},
		{"main", ".github", gitrepo.ErrNotFound},
		{"nowhere", "x", gitrepo.ErrNotFound},
		{"main", "../x", gitrepo.ErrInvalid},
		{"main~1", "x", gitrepo.ErrInvalid},
		{"-x", "x", gitrepo.ErrInvalid},
		{"main:x", "x", gitrepo.ErrInvalid},
		{"main", "x\nHEAD:y", gitrepo.ErrInvalid},
	} {
		_, err := r.File(ctx, c.rev, c.path)
		wantErr(t, err, c.want)
	}
}

func TestMerge(t *testing.T) {
	r := newRepo(t)
	ctx, root := t.Context(), head(t, r, "main")
	branch := func(name string, files map[string]string) string {
		oid := commit(t, r, name, files, root)
		if err := r.CreateRef(ctx, "refs/heads/"+name, oid); err != nil {
			t.Fatal(err)
		}
		return oid
	}

	a := branch("a", map[string]string{"f": "from a"})
	branch("b", map[string]string{"g": "from b"})
	branch("c", map[string]string{"f": "from c"})
	oid, err := r.Merge(ctx, "main", "a", "Merge a", ann)
	if err != nil {
		t.Fatal(err)
	}

	if c, err := r.ReadCommit(ctx, oid); err != nil || !slices.Equal(c.Parents, []string{root, a}) ||
		c.Message != "Merge a" {
		t.Errorf("merge = %+v, %v", c, err)
	}

	if _, err := r.Merge(ctx, "main", "b", "Merge b", ann); err != nil {
		t.Fatal(err)
	}

	for _, f := range []string{"f", "g"} {
		if _, err := r.File(ctx, "main", f); err != nil {
			t.Error(err)
		}
	}

	before := head(t, r, "main")
	_, err = r.Merge(ctx, "main", "c", "Merge c", ann)
	wantErr(t, err, gitrepo.ErrMergeConflict)
	if head(t, r, "main") != before {
		t.Error("a merge that failed moved the branch")
	}

	unrelated := commit(t, r, "alone", map[string]string{"h": "h"})
	if err := r.CreateRef(ctx, "refs/heads/alone", unrelated); err != nil {
		t.Fatal(err)
	}

	_, err = r.Merge(ctx, "main", "alone", "x", ann)
	wantErr(t, err, gitrepo.ErrMergeConflict)
	_, err = r.Merge(ctx, "main", "nowhere", "x", ann)
	wantErr(t, err, gitrepo.ErrNotFound)
}
