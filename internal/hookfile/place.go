package hookfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/label-state/label-state/internal/smallfile"
)

// suffix is of the name under which another tool's hook waits; the shims know it.
const suffix = ".label-state-chained"

// lefthookMoved is of the name that lefthook gives a hook in whose place it puts its own. Nothing
// runs it.
const lefthookMoved = ".old"

// legacy is of the name that pre-commit, when it is installed over a hook, gives that hook. It runs
// it first.
const legacy = ".legacy"

// A place is one file in a folder of hooks.
type place struct {
	top          string // of the worktree; empty in a bare repository
	folder, name string
	shims        family
	scope        string // of core.hooksPath, when that leads there; else empty
	global       bool   // it belongs to a global installation
	tracked      bool   // a shim that git knows as a file of the repository
	waits        bool   // husky's, which has not been told yet to work in this clone

	// the command that takes an empty core.hooksPath away, with which git looks in the root folder;
	// else empty
	unset string
}

func (p place) file() string { return filepath.Join(p.folder, p.name) }
func (p place) kept() string {
	return filepath.Join(p.folder, strings.TrimSuffix(p.name, legacy)+suffix)
}

// read returns the content of a regular file of up to a mebibyte, else nothing.
func read(file string) string {
	text, err := smallfile.Read(file, maxScript)
	if err != nil {
		return ""
	}
	return string(text)
}

// maxScript in bytes is far beyond a hook or a hook manager's configuration that people write.
const maxScript = 1 << 20

func (p place) state() State {
	s := State{File: p.file(), Scope: p.scope, Global: p.global}
	if exists(p.kept()) {
		s.Kept = p.kept()
	}

	info, err := os.Lstat(p.file())
	switch {
	case err != nil || p.waits:
		s.Kind = Absent
		return s
	case !info.Mode().IsRegular():
		s.Kind = Blocked
		s.Hint = "move it away, or have what it leads to run label-state (docs/hook.md, husky)"
		return s
	}

	text := read(p.file())
	s.Ignored = !runs(info.Mode())
	s.Version, s.Hook = p.shims.recognise(text)
	if s.Version > 0 {
		s.Looks, s.Asks = small+" "+whole, true
		s.Shared = s.Hook == "" && p.tracked
	}

	switch {
	case s.Version == 0 && p.shims.marked(text):
		s.Kind, s.Hook = Edited, ""
		s.Hint = "label-state hook install --force replaces it"
	case s.Version == 0:
		s.Kind, s.Hook = Foreign, ""
	case s.Version == len(p.shims.texts) && !s.Ignored:
		s.Kind = Current
	default:
		s.Kind = Outdated
	}

	return s
}

// runs reports whether git starts a hook of that mode. On Windows it asks for no permission.
func runs(mode fs.FileMode) bool { return runtime.GOOS == "windows" || mode.Perm()&0o100 != 0 }

func (p place) refuse(verb, reason, hint string) error {
	return refuse(verb, p.file(), reason, hint)
}

func (p place) install(o Options) (Change, error) {
	s := p.state()
	switch {
	case s.Kind == Current && s.Hook == o.Hook:
		return Nothing, nil
	case s.Kind == Blocked:
		return "", p.refuse(verbInstall, "it is a symbolic link or not a file", s.Hint)
	case s.Kind == Edited && !o.Force:
		return "", p.refuse(verbInstall, "it was edited, or comes from a newer version", s.Hint)
	}

	if err := p.makeFolder(); err != nil {
		return "", err
	}
	change := map[Kind]Change{Absent: Installed, Foreign: Chained}[s.Kind]
	if change == "" {
		change = Upgraded
	}

	return change, p.put(s, o)
}

func (p place) makeFolder() error {
	err := os.MkdirAll(p.folder, 0o755)
	if err != nil {
		return failed(p.folder, "the folder cannot be made", err, filepath.Dir(p.folder))
	}
	return nil
}

// put writes the shim beside the hook, keeps another tool's hook, and only then replaces it, so
// that at no moment a push meets less than before.
func (p place) put(s State, o Options) (err error) {
	temp, err := writeTemp(p.folder, p.shims.render(o.Hook), 0o755)
	if err != nil {
		return failed(p.folder, "the folder cannot be written to", err, p.folder)
	}

	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp))
		}
	}()

	if s.Kind == Foreign {
		if err := p.keep(o.Force); err != nil {
			return err
		}
	}

	if err := os.Rename(temp, p.file()); err != nil {
		return fmt.Errorf("install hook: %w", err)
	}

	return nil
}

const thirdHook = "label-state hook install --force keeps that one under a third name"

// keep gives the hook its second name, without taking the first away yet where links are to be had.
func (p place) keep(force bool) error {
	var err error
	switch free := p.kept() + ".1"; {
	case !exists(p.kept()):
	case p.same():
		err = os.Remove(p.kept())
	case !force:
		return p.refuse(verbInstall, "another hook is kept already as "+p.name+suffix, thirdHook)
	default: // it gets the first free name
		for n := 2; exists(free); n++ {
			free = fmt.Sprintf("%s.%d", p.kept(), n)
		}
		err = os.Rename(p.kept(), free)
	}

	if err == nil {
		err = os.Link(p.file(), p.kept())
		if err != nil {
			err = os.Rename(p.file(), p.kept())
		}
	}

	if err != nil {
		return fmt.Errorf("install hook: %w", err)
	}

	return nil
}

// same reports whether the kept hook and the present one are the same text: their tool wrote it
// again.
func (p place) same() bool {
	kept, err := smallfile.Follow(p.kept(), maxScript)
	return err == nil && string(kept) == read(p.file())
}

func (p place) uninstall(force bool) (Change, error) {
	s := p.state()
	switch {
	case s.Kind == Edited && !force:
		return "", p.refuse(verbRemove, "it was edited, or comes from a newer version",
			"label-state hook uninstall --force removes it")
	case s.Kind == Foreign, s.Kind == Blocked, s.Kind == Absent && s.Kept == "":
		return Nothing, nil
	// which has come back since, and runs us
	case s.Kept != "" && !(strings.HasSuffix(p.name, legacy) && isPreCommit(read(p.kept()))):
		if err := os.Rename(p.kept(), p.file()); err != nil {
			return "", fmt.Errorf("remove hook: %w", err)
		}
		return Restored, nil
	}

	err := os.Remove(p.file())
	if err == nil && s.Kept != "" {
		err = os.Remove(p.kept())
	}

	if err != nil {
		return "", fmt.Errorf("remove hook: %w", err)
	}

	return Removed, nil
}

func writeTemp(folder, text string, mode fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(folder, ".label-state-*")
	if err != nil {
		return "", err
	}

	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}

	return f.Name(), nil
}
