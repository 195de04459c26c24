package hookfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
)

// Scripts run the hook by the name of one of two programs: the small one, or label-state with the
// words of a command before git's arguments.
const (
	small   = "label-state-pre-push"
	whole   = "label-state"
	command = "hook pre-push"
)

// managed is the state of a hook that is another tool's, with what a hook manager makes of it: a
// program that rewrites git's hooks from files of the repository.
func (p place) managed(s State) State {
	text := read(p.file())
	top := cmp.Or(p.top, p.folder) // a bare repository has no other files

	switch {
	case husky(p.folder):
		s = underHusky(s)
	case isLefthook(text): // which replaces whatever is in the place of its hook as soon as its configuration changes
		s = underLefthook(s, top)
	case isPreCommit(text):
		s = underPreCommit(s, top)
	default:
		s = s.by(text, top)
	}

	if s.Kind == Delegated && s.Ignored {
		s.Hint = "chmod +x " + printable.ShellQuote(s.File)
	}
	if s.Kind != Foreign {
		return s
	}

	old := p
	old.name += lefthookMoved
	if p.shims.marked(read(old.file())) {
		s.Moved = old.file()
	}

	if s.Hint == "" && s.Kept != "" && !p.same() {
		s.Hint = thirdHook
	}

	return s
}

// rewritten reports whether a hook manager rewrites the file, so that nothing of ours stays in its
// place.
func (s State) rewritten() bool { return s.Manager == "husky" || s.Manager == "lefthook" }

// husky has git look into .husky/_, where each file finds the user's hook by its own name.
func husky(folder string) bool {
	return filepath.Base(folder) == "_" && filepath.Base(filepath.Dir(folder)) == ".husky"
}

// finder prints the path of the program, in the shims as well.
const finder = `	PATH=$PATH:$HOME/go/bin:$HOME/.local/bin:/usr/local/bin:/opt/homebrew/bin
	command -v label-state-pre-push || command -v label-state || git config --type=path --get label-state.hook`

// scriptText is what a script of the repository needs to run our hook: as the shims do, also where
// a desktop starts it with a short PATH, and with one line where nothing is checked. Whatever comes
// after it finds git's input again.
const scriptText = `input=$(cat)
hook=$(
` + finder + `
) || hook=
if [ -x "$hook" ]; then
	printf '%s\n' "$input" 2>/dev/null | "$hook" hook pre-push "$@" || exit
else
	echo 'label-state: not checked, pushing anyway: label-state was not found' >&2
fi
[ -z "$input" ] || exec <<.
$input
.
`

// shellLine makes a script of it that a manager starts as a program.
const shellLine = "#!/bin/sh\n"

// huskyAsleep is why husky runs no hook in this clone: it comes to life with the project's
// packages.
const huskyAsleep = "husky is not active in this clone"

// huskyWaits reports whether the project at top uses husky, which its packages set up when they are
// installed.
func huskyWaits(top string) bool {
	if info, err := os.Stat(filepath.Join(top, ".husky")); err != nil || !info.IsDir() {
		return false
	}

	var project struct {
		Scripts, Dependencies, DevDependencies map[string]string
	}
	_ = json.Unmarshal([]byte(read(filepath.Join(top, "package.json"))), &project) // what it cannot read is empty

	_, is := project.Dependencies["husky"]
	_, dev := project.DevDependencies["husky"]
	return is || dev || strings.Contains(project.Scripts["prepare"], "husky")
}

// huskyStarts is the command that installs the packages of the project at top, and husky's hooks
// with them.
func huskyStarts(top string) string {
	for _, by := range [][2]string{
		{"pnpm-lock.yaml", "pnpm"},
		{"yarn.lock", "yarn"},
		{"bun.lock", "bun"},
		{"bun.lockb", "bun"},
	} {
		if exists(filepath.Join(top, by[0])) {
			return by[1] + " install"
		}
	}

	return "npm install"
}

func underHusky(s State) State {
	s.Manager, s.Script = "husky", ".husky/pre-push"
	file := huskyScript(s.File)
	top := filepath.Dir(filepath.Dir(file))
	text, err := smallfile.Read(file, maxScript)
	asleep := s.Kind == Absent
	s = s.by(string(text), top)
	switch {
	case asleep && (s.Kind == Delegated || !exists(filepath.Dir(file))):
		s.Kind, s.Hint = Absent, huskyAsleep+": "+huskyStarts(top)
	case s.Kind == Delegated:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		s.Hint = "make .husky/pre-push a file, then: label-state hook install"
	default:
		rest, first := string(text), ""
		if strings.HasPrefix(rest, "#!") { // it names the shell
			first, rest, _ = strings.Cut(rest, "\n")
			first += "\n"
		}
		s.Text, s.Extends, s.Hint = first+scriptText+rest, err == nil, "label-state hook install"
		if asleep {
			s.Hint += ", and then: " + huskyStarts(top)
		}
	}

	return s
}

// huskyScript is the user's script that husky's own hook, in the folder below, runs.
func huskyScript(hook string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(hook)), filepath.Base(hook))
}

// A run is how a script of the shell runs our hook. The zero value is not at all.
type run struct {
	word  string // the program or the script, as it is written
	looks string // as State has it
	shim  bool   // it is a file of the repository that is our shim, which looks for the program itself
}

// ours finds how a script of the shell runs our hook, below top, on a line that is not a comment:
// the small program, label-state with the words of the command, or our shim.
func ours(text, top string) (found run) {
	for line := range strings.Lines(text) {
		words := lineWords(line)
		for n, word := range words {
			base := strings.TrimSuffix(filepath.Base(filepath.FromSlash(word)), ".exe")
			after := strings.Join(words[n+1:min(n+3, len(words))], " ")
			switch {
			case base == small:
				found = found.or(run{word: word, looks: small})
			case after == command && (base == whole || strings.HasPrefix(word, "$")):
				found = found.or(run{word: word, looks: whole})
			case filepath.IsLocal(word) && prePush().marked(read(filepath.Join(top, word))):
				found = found.or(run{word: word, looks: small + " " + whole, shim: true})
			}
		}
	}

	return found
}

// or adds another way to run our hook. The word of the first counts.
func (r run) or(other run) run {
	switch {
	case r.word == "":
		return other
	case !slices.Contains(strings.Fields(r.looks), other.looks):
		r.looks += " " + other.looks
	}

	return r
}

// lineWords are the words of a line of the shell, as far as a search for names needs them, without
// quotes and up to a comment.
func lineWords(line string) []string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n|&;(){}", r) })
	for n, word := range words {
		words[n] = strings.Trim(word, `"'`)
		if strings.HasPrefix(words[n], "#") {
			return words[:n]
		}
	}

	return words
}

// by has the hook run ours when the text, of the file that it is or of one that it runs, does. Such
// a script refuses every push on a machine where our hook is missing, unless it looks for it first,
// or runs a file of the repository that is our shim: that is everywhere, and looks for itself.
func (s State) by(text, top string) State {
	r := ours(text, top)
	if r.word == "" {
		return s
	}

	s.Kind, s.Looks, s.Asks = Delegated, r.looks, r.shim || strings.Contains(text, setting)
	if filepath.IsAbs(r.word) {
		s.Hook, s.Looks = r.word, ""
	}

	looks := slices.ContainsFunc([]string{
		"command -v ", "which ", "type ", "hash ", "-x ", "|| true", "|| :",
		"|| exit 0",
	}, func(guard string) bool {
		return strings.Contains(text, guard)
	})
	s.Bare = !looks && !r.shim

	return s
}

// exists reports whether there is anything of that name.
func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
