package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const reference = "ghcr.io/acme/label-state@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// tool runs a script of tools in dir and returns its standard output, and its standard error as an
// error.
func tool(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../tools", name))
	if err != nil {
		t.Fatal(err)
	}

	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s %q: %s", name, args, exit.Stderr)
	}

	return string(out), err
}

func TestReleaseVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3":                  "tag=v1.2.3\nmajor=v1\nprerelease=false\n",
		"v0.0.0":                  "tag=v0.0.0\nmajor=v0\nprerelease=false\n",
		"v1.10.0-rc.1":            "tag=v1.10.0-rc.1\nmajor=v1\nprerelease=true\n",
		"v1.0.0-0a.x-y":           "tag=v1.0.0-0a.x-y\nmajor=v1\nprerelease=true\n",
		"v2.0.0":                  "", // go.mod's path has no /v2
		"1.2.3":                   "",
		"v1.2":                    "",
		"v1":                      "",
		"v01.2.3":                 "",
		"v1.2.3-rc.01":            "",
		"v1.2.3-":                 "",
		"v1.2.3+build":            "",
		"v1.2.3 ":                 "",
		"v1.2.3\nprerelease=true": "",
		"v1.2.3;id":               "",
		"":                        "",
	} {
		got, err := tool(t, ".", "release-version", version)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("release-version %q = %q, %v; want %q", version, got, err, want)
		}
	}
}

func TestPinAction(t *testing.T) {
	before := readText(t, "../action.yml")
	dir := t.TempDir()
	path := filepath.Join(dir, "action.yml")
	for _, bad := range []string{
		"", "ghcr.io/acme/label-state", "ghcr.io/acme/label-state:v1", reference[:len(reference)-1], reference + "0",
		"GHCR.io/" + reference[8:], "label-state@sha256:" + reference[len(reference)-64:], reference + "\nimage: x",
		"a|b/" + reference,
	} {
		writeFile(t, path, []byte(before))
		if _, err := tool(t, dir, "pin-action", bad); err == nil {
			t.Errorf("pin-action took %q", bad)
		}

		if readText(t, path) != before {
			t.Errorf("pin-action %q changed action.yml", bad)
		}
	}

	if _, err := tool(t, dir, "pin-action", reference); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(before, "image: Dockerfile", "image: docker://"+reference, 1)
	if got := readText(t, path); got != want || got == before {
		t.Errorf("pinned action.yml:\n%s", got)
	}

	if _, err := tool(t, dir, "pin-action", reference); err == nil {
		t.Error("pin-action pinned twice")
	}
}

// A forge is a bare repository and a clone of it at a commit on main that has our action.yml.
type forge struct{ bare, clone string }

func newForge(t *testing.T) forge {
	t.Helper()
	f := forge{filepath.Join(t.TempDir(), "bare"), filepath.Join(t.TempDir(), "clone")}
	git(t, ".", "init", "-q", "--bare", "-b", "main", f.bare)
	git(t, ".", "clone", "-q", f.bare, f.clone)
	git(t, f.clone, "commit", "-q", "--allow-empty", "-m", "nothing")
	git(t, f.clone, "push", "-q", "origin", "main")
	f.commit(t, "one")

	return f
}

// commit adds a commit to main, as a merged pull request does.
func (f forge) commit(t *testing.T, name string) {
	t.Helper()
	git(t, f.clone, "reset", "-q", "--hard", "origin/main")
	writeFile(t, filepath.Join(f.clone, "action.yml"), []byte(readText(t, "../action.yml")))
	writeFile(t, filepath.Join(f.clone, name), []byte(name))
	git(t, f.clone, "add", ".")
	git(t, f.clone, "commit", "-q", "-m", name)
	git(t, f.clone, "push", "-q", "origin", "main")
}

func (f forge) release(t *testing.T, tag string) (string, error) {
	t.Helper()
	out, err := tool(t, f.clone, "release-commit", tag, reference)
	return strings.TrimSpace(out), err
}

// at is the commit that the tag names on the server; empty without such a tag.
func (f forge) at(t *testing.T, tag string) string {
	t.Helper()
	return git(t, f.bare, "for-each-ref", "--format=%(*objectname)", "refs/tags/"+tag)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git",
		append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}

	return strings.TrimSpace(string(out))
}

func TestReleaseCommit(t *testing.T) {
	f := newForge(t)
	main := git(t, f.bare, "rev-parse", "main")
	first, err := f.release(t, "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}

	if f.at(t, "v1.0.0") != first || f.at(t, "v1") != first {
		t.Errorf("v1.0.0 is %s, v1 is %s, want both %s", f.at(t, "v1.0.0"), f.at(t, "v1"), first)
	}

	if git(t, f.bare, "rev-parse", "main") != main || git(t, f.bare, "rev-parse", first+"^") != main {
		t.Error("main moved, or the release is not on top of it")
	}

	if changed := git(t, f.bare, "diff", "--name-only", main, first); changed != "action.yml" {
		t.Errorf("the release changes %q", changed)
	}
	git(t, f.clone, "reset", "-q", "--hard", "origin/main")
	if again, err := f.release(t, "v1.0.0"); err != nil || again != first {
		t.Errorf("the same release again: %s, %v; want %s", again, err, first)
	}

	if text := git(t, f.bare, "show", "v1:action.yml"); !strings.Contains(text, "  image: docker://"+reference) {
		t.Errorf("action.yml of v1:\n%s", text)
	}
}

func TestMajorTagFollowsTheNewestRelease(t *testing.T) {
	f := newForge(t)
	commits := map[string]string{}
	for n, tag := range []string{"v1.9.0", "v1.10.0", "v1.11.0-rc.1", "v1.9.1", "v0.1.0"} {
		f.commit(t, fmt.Sprint("change ", n))
		sha, err := f.release(t, tag)
		if err != nil {
			t.Fatal(err)
		}
		commits[tag] = sha
	}

	for tag, want := range map[string]string{
		"v1": commits["v1.10.0"], "v0": commits["v0.1.0"],
		"v1.9.1": commits["v1.9.1"],
	} {
		if got := f.at(t, tag); got != want {
			t.Errorf("%s is %s, want %s of %v", tag, got, want, commits)
		}
	}
}

func TestReleaseCommitRefuses(t *testing.T) {
	f := newForge(t)
	first, err := f.release(t, "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}

	f.commit(t, "two")
	if _, err := f.release(t, "v1.0.0"); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a version that is taken: %v", err)
	}

	if _, err := f.release(t, "1.0.1"); err == nil {
		t.Error("1.0.1 was released")
	}
	writeFile(t, filepath.Join(f.clone, "left over"), nil)
	if _, err := f.release(t, "v1.0.1"); err == nil || !strings.Contains(err.Error(), "has changes") {
		t.Errorf("a working tree with changes: %v", err)
	}

	if tags := git(t, f.bare, "tag"); tags != "v1\nv1.0.0" || f.at(t, "v1.0.0") != first {
		t.Errorf("refused releases left the tags %q", tags)
	}
}

// TestRefusedPushLeavesNothing releases to a server that refuses, as one does that protects its
// tags.
func TestRefusedPushLeavesNothing(t *testing.T) {
	f := newForge(t)
	hook := "#!/bin/sh\necho refused by the server >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(f.bare, "hooks/update"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}

	if _, err := f.release(t, "v1.0.0"); err == nil {
		t.Error("a refused push was called a release")
	}

	if tags := git(t, f.bare, "tag"); tags != "" {
		t.Errorf("a refused push left the tags %q", tags)
	}
}
