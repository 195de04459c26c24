package hookfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/printable"
)

// TestHooksFolder holds the file of the repository's hooks folder, which people copy and which
// core.hooksPath may lead to, to the text that install knows as its own.
func TestHooksFolder(t *testing.T) {
	const file = "../../hooks/pre-push"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	f := prePush()
	if version, hook := f.recognise(string(text)); version != len(f.texts) || hook != "" {
		t.Errorf("%s is version %d with hook %q, want the newest, %d, with none", file, version, hook, len(f.texts))
	}

	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("%s is not executable (%v)", file, err)
	}
}

// TestOnePieceOfShell: all that looks for the program does so in the same places, and the page shows
// what is written.
func TestOnePieceOfShell(t *testing.T) {
	text, err := os.ReadFile("../../docs/hook.md")
	if err != nil {
		t.Fatal(err)
	}

	page := string(text)
	_, preCommit, _ := strings.Cut(page, "### pre-commit")
	preCommit, _, _ = strings.Cut(preCommit, "###")
	for name, text := range map[string]string{
		"shim":        prePush().render(""),
		"global shim": globalPush().render(""),
		"pre-commit":  preCommit,
	} {
		for line := range strings.Lines(finder) {
			if !strings.Contains(text, strings.TrimSpace(line)) {
				t.Errorf("%s does not do %s", name, line)
			}
		}
	}

	if !strings.Contains(page, "```sh\n"+lefthookText+"```") {
		t.Errorf("the page does not show\n%s", lefthookText)
	}
}

func TestFamilies(t *testing.T) {
	for _, f := range []family{prePush(), globalPush(), passThrough()} {
		if len(f.texts) == 0 {
			t.Fatalf("%q: no text", f.mark)
		}

		for i, text := range f.texts {
			if !f.marked(text) {
				t.Errorf("%q-%d: the second line does not begin with %q", f.mark, i+1, f.mark)
			}

			if version, _ := f.recognise(text); version != i+1 {
				t.Errorf("%q-%d is recognised as version %d", f.mark, i+1, version)
			}

			if f.mark != passThrough().mark && strings.Count(text, slot) != 1 {
				t.Errorf("%q-%d has not one line %q", f.mark, i+1, strings.TrimSpace(slot))
			}
		}
	}

	if version, _ := prePush().recognise(globalPush().texts[0]); version != 0 {
		t.Errorf("the global shim is recognised as a repository's")
	}
}

func TestRecogniseAnyPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := prePush()
		path := rapid.StringMatching(`/[ -~]*`).Draw(t, "path")
		text := f.render(path)
		if version, hook := f.recognise(text); version != len(f.texts) || hook != path {
			t.Fatalf("path %q comes back as %q, version %d", path, hook, version)
		}

		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		changed := text[:at] + string(text[at]^1) + text[at+1:]
		if version, hook := f.recognise(changed); version != 0 && hook == path {
			t.Fatalf("with byte %d changed it is still version %d", at, version)
		}
	})
}

// TestQuote asks the shell what a quoted path means.
func TestQuote(t *testing.T) {
	for _, path := range []string{"", "/usr/bin/x", "/a b/it's", `/$(id)/"x"/\n`, "/''/'", "/*/~/`id`", "/ä/\t"} {
		out, err := exec.Command("sh", "-c", "printf %s "+printable.ShellQuote(path)).Output()
		if err != nil || string(out) != path {
			t.Errorf("the shell reads %s as %q (%v), want %q", printable.ShellQuote(path), out, err, path)
		}
	}
}

// TestOlderVersions plays a later release: a family whose first text is today's.
func TestOlderVersions(t *testing.T) {
	old := prePush().texts[0]
	later := family{
		mark:  prePush().mark,
		texts: []string{old, strings.Replace(old, "shim 1", "shim 2", 1)},
	}
	for _, path := range []string{"", "/opt/it's here/label-state-pre-push"} {
		p := place{folder: t.TempDir(), name: "pre-push", shims: later}
		write(t, p.file(), fill(old, path), 0o755)
		write(t, p.kept(), "#!/bin/sh\n# another tool's\n", 0o700)
		if s := p.state(); s.Kind != Outdated || s.Version != 1 || s.Hook != path || !s.Installed() {
			t.Errorf("before: %+v", s)
		}

		change, err := p.install(Options{Hook: path})
		if s := p.state(); err != nil || change != Upgraded || s.Kind != Current || s.Version != 2 || s.Hook != path {
			t.Errorf("install: %s, %v, %+v", change, err, s)
		}

		change, err = p.uninstall(false)
		if s := p.state(); err != nil || change != Restored || s.Kind != Foreign || s.Kept != "" {
			t.Errorf("uninstall: %s, %v, %+v", change, err, s)
		}
	}
}

// TestUninstallOlder removes what an earlier release installed without upgrading it first.
func TestUninstallOlder(t *testing.T) {
	old := prePush().texts[0]
	p := place{
		folder: t.TempDir(), name: "pre-push",
		shims: family{mark: prePush().mark, texts: []string{old, old + "\n"}},
	}
	write(t, p.file(), old, 0o755)
	if change, err := p.uninstall(false); err != nil || change != Removed || exists(p.file()) {
		t.Errorf("uninstall: %s, %v", change, err)
	}

	if left, err := os.ReadDir(p.folder); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Clean(file), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
