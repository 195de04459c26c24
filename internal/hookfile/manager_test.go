package hookfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/label-state/label-state/internal/git"
)

// TestManagers reads the vectors in testdata/managers: the files of a repository, its pre-push
// hook, and what there is to say.
func TestManagers(t *testing.T) {
	files, err := filepath.Glob("testdata/managers/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}

	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}

			dir, want := unpack(t, archive)
			before, err := Status(t.Context(), Options{Git: git.Git{Dir: dir, Env: os.Environ()}})
			if err != nil {
				t.Fatal(err)
			}

			if got := describe(before); got != want {
				t.Errorf("%sgot\n%swant\n%s", archive.Comment, got, want)
			}

			moved := Displaced(filepath.Join(dir, ".git"), dir)
			if by := before.Manager == "lefthook" && before.Moved != ""; by != (moved != "") {
				t.Errorf("displaced: %q", moved)
			}
			again(t, dir, before)
		})
	}
}

// again installs: what another tool runs already, or writes anew, stays as it is, and a script of
// husky's gets our lines.
func again(t *testing.T, dir string, before State) {
	t.Helper()
	o := Options{Git: git.Git{Dir: dir, Env: os.Environ()}}
	after, change, err := Install(t.Context(), o)
	switch refused, ok := err.(*RefusedError); {
	case before.Manager == "husky" && before.Text != "":
		text := read(filepath.Join(dir, before.Script))
		if err != nil || change != Installed || text != before.Text || after.Text != "" || after.Bare {
			t.Errorf("install: %s, %v, %+v, want our lines in\n%s", change, err, after, text)
		}
	case before.Kind == Delegated && (err != nil || change != Nothing || !reflect.DeepEqual(after, before)):
		t.Errorf("install: %s, %v, %+v, want it as it was", change, err, after)
	case before.Kind == Delegated:
	case before.Hint != "" && (!ok || refused.Hint != before.Hint || change != ""):
		t.Errorf("install: %s, %v, want the status's hint", change, err)
	case before.Kind == Foreign && before.Hint == "" && (err != nil || change != Chained):
		t.Errorf("install: %s, %v, want it chained", change, err)
	}

	// where a script asks git for the program, git is told of it, once
	o.Hook = filepath.Join(dir, "program")
	for _, want := range []bool{after.Asks && (after.Kind == Delegated || after.Manager == "husky" || after.Shared), false} {
		if set, err := SetProgram(t.Context(), o); err != nil || set != want {
			t.Errorf("told of the program: %t, %v, want %t", set, err, want)
		}
		write(t, o.Hook, "", 0o755)
	}

	if o.Force = true; before.Kind == Delegated {
		want := map[bool]Change{true: Nothing, false: Chained}[before.Manager == "husky"]
		if _, change, err := Install(t.Context(), o); err != nil || change != want {
			t.Errorf("install by force: %s, %v, want %s", change, err, want)
		}
	}
}

func describe(s State) string {
	out := strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Kind, s.Manager, s.Script)) + "\n"
	switch s.Text {
	case "":
	case scriptText:
		out += "text: ours\n"
	case lefthookText:
		out += "text: ours, as a program\n"
	default:
		out += "text:\n" + strings.Replace(s.Text, scriptText, "OURS\n", 1)
	}

	if s.Asks {
		out += "asks git's setting\n"
	}

	if s.Hook != "" {
		out += "by: " + s.Hook + "\n"
	}

	if s.Looks != "" {
		out += "looks for: " + s.Looks + "\n"
	}

	if s.Brings {
		out += "brings the programs\n"
	}

	if s.Bare {
		out += "refuses pushes without the program\n"
	}

	if s.Hint != "" {
		out += "hint: " + s.Hint + "\n"
	}

	if s.Moved != "" {
		out += "moved: " + filepath.Base(s.Moved) + "\n"
	}

	if s.Lefthook == nil {
		return out
	}
	out += "lefthook lacks: " + strings.Join([]string{s.Lefthook.Script, s.Lefthook.Config}, " ") + "\n"
	if s.Lefthook.Edited != "" {
		out += "edited:\n" + s.Lefthook.Edited
	} else {
		out += "add:\n" + s.Lefthook.Lines
	}

	return out
}

// unpack makes a repository of an archive: hook is its pre-push hook, want is not a file of it.
func unpack(t *testing.T, archive *txtar.Archive) (dir, want string) {
	t.Helper()
	dir = t.TempDir()
	run := func(args ...string) {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}

	run("init", "-q")
	for _, f := range archive.Files {
		name := f.Name
		switch {
		case name == "want":
			want = string(f.Data)
			continue
		case name == "hook":
			name = ".git/hooks/pre-push"
		case filepath.Base(filepath.Dir(name)) == "_":
			run("config", "core.hooksPath", filepath.Dir(name))
		}

		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(f.Data), 0o755)
	}

	return dir, want
}
