package hookfile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/git"
)

// compiled is the compiled hook's name, by which scripts run it.
const compiled = "label-state-pre-push"

// A manager is a program that writes git's hooks anew from files of the repository, as it found them for pre-push.
type manager struct {
	name   string
	reason string // why nothing of ours stays in the place of its hook; empty when a hook of ours may stand before it
	script string // the file from which it runs our hook, or from which it would; as State has it
	text   string // what the script has to be; empty when there is one
	runs   bool   // it runs our hook at every push
	hook   string // the path by which it does; empty is looked up
	brings bool   // it builds the programs itself
	hint   string // what a person can do to have it run, when it does not
	bare   bool   // the script fails, and with it every push, on a machine where our hook is missing
}

// manager is the one whose hook is in the place; the zero manager is a script that nobody writes anew.
func (p place) manager(ctx context.Context, g git.Git) manager {
	if husky(p.folder) {
		return underHusky(p)
	}
	text := read(p.file())
	top, err := g.Ask(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		top = p.folder // a bare repository has no other files
	}
	switch top = filepath.FromSlash(top); {
	case strings.Contains(text, "call_lefthook "): // which replaces whatever is in the place of its hook as soon as its configuration changes
		return underLefthook(top)
	case isPreCommit(text):
		return underPreCommit(top)
	}
	return manager{}.by(text, top)
}

// husky has git look into .husky/_, where each file finds the user's hook by its own name.
func husky(folder string) bool {
	return filepath.Base(folder) == "_" && filepath.Base(filepath.Dir(folder)) == ".husky"
}

// guarded is the line that runs our hook where it is, and lets a push go where it is missing.
const guarded = "! command -v " + compiled + " >/dev/null || " + compiled + ` "$@"`

// scriptText is what init writes for a manager to run: the same, and it says so when nothing is checked.
const scriptText = "if command -v " + compiled + ` >/dev/null; then
	` + compiled + ` "$@"
else
	echo 'label-state: not checked, pushing anyway: ` + compiled + ` was not found' >&2
fi
`

// shipped are the scripts that init wrote before: where our hook was missing they had the shell end with 127, which refuses the push.
var shipped = []string{compiled + " \"$@\"\n", "#!/bin/sh\nexec " + compiled + " \"$@\"\n"}

func underHusky(p place) manager {
	m := manager{name: "husky", reason: "husky writes this file anew", script: ".husky/pre-push"}
	top := filepath.Dir(filepath.Dir(p.folder))
	file := filepath.Join(top, m.script)
	m = m.by(read(file), top)
	if slices.Contains(shipped, read(file)) {
		m.text = scriptText
	}
	switch {
	case m.runs:
		m.hint = "the hooks that husky writes are not there: npx husky"
	case exists(file):
		m.hint = "add the line  " + guarded + "  to .husky/pre-push"
	default:
		m.text = scriptText
		m.hint = "put the line  " + guarded + "  into .husky/pre-push; label-state init does"
	}
	return m
}

// ours is the word by which a script of the shell runs the compiled hook, or a file below top that is our shim, on a line that
// is no comment; empty when there is none.
func ours(text, top string) string {
	for line := range strings.Lines(text) {
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n|&;(){}", r) }) {
			word = strings.Trim(word, `"'`)
			if strings.HasPrefix(word, "#") {
				break
			}
			base := filepath.Base(filepath.FromSlash(word))
			if base == compiled || base == compiled+".exe" || filepath.IsLocal(word) && prePush().marked(read(filepath.Join(top, word))) {
				return word
			}
		}
	}
	return ""
}

// by has the manager run our hook when the text, of one of its files, does. Such a script refuses every push on a machine where our hook is
// missing, unless it looks for it first, or runs a file of the repository that is our shim: that is everywhere, and looks for itself.
func (m manager) by(text, top string) manager {
	word := ours(text, top)
	m.runs = word != ""
	if filepath.IsAbs(word) && filepath.Base(word) == compiled {
		m.hook = word
	}
	looks := slices.ContainsFunc([]string{"command -v ", "which ", "type ", "hash ", "-x ", "|| true", "|| :", "|| exit 0"}, func(guard string) bool {
		return strings.Contains(text, guard)
	})
	m.bare = m.runs && !looks && !(filepath.IsLocal(word) && prePush().marked(read(filepath.Join(top, word))))
	return m
}

// exists reports whether there is anything of that name.
func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
