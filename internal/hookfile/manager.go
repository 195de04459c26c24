package hookfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/smallfile"
)

// Scripts run the hook by the name of one of two programs: the small one, or label-state with the
// words of a command before git's arguments.
const (
	small   = "label-state-pre-push"
	whole   = "label-state"
	command = "hook pre-push"
)

// A manager is a program that writes git's hooks anew from files of the repository, as it found
// them for pre-push.
type manager struct {
	name    string
	reason  string // why nothing of ours stays in the place of its hook; empty when a hook of ours may stand before it
	script  string // the file from which it runs our hook, or from which it would; as State has it
	text    string // what the script has to be; empty when it stays
	extends bool   // text is what a person has written, and lines for ours besides
	runs    bool   // it runs our hook at every push
	hook    string // the path by which it does; empty is looked up
	looks   string // by which names it looks for a program on PATH, with spaces between
	brings  bool   // it builds the programs itself
	asks    bool   // the last place in which it looks is git's setting label-state.hook
	hint    string // what a person can do to have it run, when it does not
	lack    *Lack  // what lefthook's files lack for it; nil where nothing does, and for the others
	bare    bool   // the script fails, and with it every push, on a machine where our hook is missing
}

// manager is the one whose hook is in the place; the zero manager is a script that nobody writes
// anew.
func (p place) manager(ctx context.Context, g git.Git) manager {
	if husky(p.folder) {
		return underHusky(p)
	}
	text := read(p.file())
	top, err := topOf(ctx, g)
	if err != nil {
		top = p.folder // a bare repository has no other files
	}

	switch {
	case isLefthook(text): // which replaces whatever is in the place of its hook as soon as its configuration changes
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

// scriptText is what a script of the repository needs to run our hook: as the shims do, also where a
// desktop starts it with a short PATH, and with one line where nothing is checked. Whatever comes
// after it finds git's input again.
const scriptText = `input=$(cat)
hook=$(
	PATH=$PATH:$HOME/go/bin:$HOME/.local/bin:/usr/local/bin:/opt/homebrew/bin
	command -v label-state-pre-push || command -v label-state || git config --type=path --get label-state.hook
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

func underHusky(p place) manager {
	top := filepath.Dir(filepath.Dir(p.folder))
	m := manager{name: "husky", reason: "husky writes this file anew", script: ".husky/pre-push"}
	text, err := smallfile.Read(filepath.Join(top, m.script), maxScript)
	m = m.by(string(text), top)

	switch {
	case !exists(p.file()):
		m.hint = "the hooks that husky writes are not there: npx husky"
	case m.runs:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		m.hint = "make .husky/pre-push a file, then: label-state hook install"
	default:
		rest, first := string(text), ""
		if strings.HasPrefix(rest, "#!") { // it names the shell
			first, rest, _ = strings.Cut(rest, "\n")
			first += "\n"
		}
		m.text, m.extends, m.hint = first+scriptText+rest, err == nil, "label-state hook install"
	}

	return m
}

// A run is how a script of the shell runs our hook. The zero value is not at all.
type run struct {
	word  string // the program or the script, as it is written
	looks string // as manager has it
	shim  bool   // it is a file of the repository that is our shim, which looks for the program itself
}

// ours finds how a script of the shell runs our hook, below top, on a line that is no comment: the
// small program, label-state with the words of the command, or our shim.
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

// by has the manager run our hook when the text, of one of its files, does. Such a script refuses
// every push on a machine where our hook is missing, unless it looks for it first, or runs a file
// of the repository that is our shim: that is everywhere, and looks for itself.
func (m manager) by(text, top string) manager {
	r := ours(text, top)
	m.runs, m.looks = r.word != "", r.looks
	m.asks = m.runs && (r.shim || strings.Contains(text, setting))
	if filepath.IsAbs(r.word) {
		m.hook, m.looks = r.word, ""
	}

	looks := slices.ContainsFunc([]string{
		"command -v ", "which ", "type ", "hash ", "-x ", "|| true", "|| :",
		"|| exit 0",
	}, func(guard string) bool {
		return strings.Contains(text, guard)
	})
	m.bare = m.runs && !looks && !r.shim

	return m
}

// exists reports whether there is anything of that name.
func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
