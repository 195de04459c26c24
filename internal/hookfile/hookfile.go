// Package hookfile puts the pre-push shim where git looks for hooks, beside whatever hook is there
// already, and takes it away again without a trace.
//
// Another tool's hook is never overwritten: it is moved aside and runs after ours. Our own file is
// known by its exact text, in every version that was ever shipped, so that upgrading and removing
// touch nothing else.
package hookfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
)

// Options say which hook is meant.
type Options struct {
	Git    git.Git // in a folder of the repository; where it is does not matter when Global
	Home   string  // label-state's own folder, absolute; only needed when Global
	Hook   string  // absolute path of the program that the hook runs; empty has it looked up at each push
	Global bool    // all repositories of this user, by core.hooksPath
	Force  bool    // replace a shim that somebody edited, or a kept hook that is in the way; chain lefthook's
}

// A Kind says what is in the place of the hook.
type Kind string

// What there can be.
const (
	Absent   Kind = "absent"
	Current  Kind = "current"  // our newest text
	Outdated Kind = "outdated" // ours, of an older version, or not executable
	Edited   Kind = "edited"   // ours by its second line, but changed, or of a newer version
	Foreign  Kind = "foreign"  // another tool's
	Blocked  Kind = "blocked"  // a symbolic link or a folder: nothing to touch

	Delegated Kind = "delegated" // another tool's, which runs ours
)

// A State is what git finds when it looks for a pre-push hook.
type State struct {
	File    string // where it looks
	Kind    Kind
	Version int    // of our shim; 0 for everything else
	Hook    string // the path our shim was written with, or by which another tool runs ours; empty is looked up
	Ignored bool   // it is not executable, so that git passes over it
	Kept    string // the hook that was moved aside; empty when there is none
	Scope   string // of core.hooksPath, when that leads there: local, worktree, global, system or command; else empty
	Global  bool   // it is the shim of a global installation
	// the names of programs that are looked for on PATH, in this order, with spaces between; empty
	// for none
	Looks   string
	Asks    bool   // the last place in which a program is looked for is git's setting label-state.hook
	Setting string // what that says, a path; only where it is asked for
	Shared  bool   // a file of the repository itself: a shim that names no program of one machine

	Manager string // husky, lefthook or pre-commit, when the hook is theirs
	// the file, from the top of the worktree and with slashes, from which the manager runs ours, or
	// would
	Script  string
	Text    string // what that file has to be; empty when it stays
	Extends bool   // that is what a person has written, and lines for ours besides
	Bare    bool   // every push is refused on a machine where our hook is missing
	Brings  bool   // pre-commit builds the program itself
	Hint    string // what a person has to do before the hook can be ours, when there is such a thing

	Lefthook *Lack  // lefthook is at home here, and what its files lack to run ours; else nil
	Moved    string // our shim, where lefthook has put it out of use; else empty
}

// Everybody reports whether the hook serves every repository of this user, or of the machine,
// though nobody asked for that.
func (s State) Everybody() bool { return !s.Global && (s.Scope == "global" || s.Scope == "system") }

// Installed reports whether pushes are checked.
func (s State) Installed() bool { return !s.Ignored && (s.Kind == Delegated || s.Version > 0) }

// Unclear reports whether git runs a hook of ours that somebody has edited: nobody can tell whether
// pushes are checked.
func (s State) Unclear() bool { return s.Kind == Edited && !s.Ignored }

// Untold reports whether a script that everybody has, of a hook manager or the repository's own,
// asks git's setting label-state.hook for the program, and finds none there, though there is this one.
func (s State) Untold(hook string) bool {
	everybodys := s.Kind == Delegated || s.Manager == "husky" || s.Shared
	another := s.Shared && s.Setting != hook
	return hook != "" && everybodys && s.Asks && (s.Setting == "" || !exists(s.Setting) || another)
}

// A Change is what Install or Uninstall did.
type Change string

// The changes.
const (
	Nothing   Change = "nothing" // it was so already
	Installed Change = "installed"
	Chained   Change = "chained"  // installed, and another hook moved aside
	Upgraded  Change = "upgraded" // our older text, or another path in it
	Removed   Change = "removed"
	Restored  Change = "restored" // removed, and the other hook put back

	// Configured says that no file has changed, and that git's setting names the program in this
	// clone.
	Configured Change = "configured"
)

// A RefusedError says why a hook is left alone, and what to do instead.
type RefusedError struct {
	Verb, File, Reason string
	Hint               string // may be empty
	Cause              error  // what the system did not allow; nil where nothing was tried
	Named              bool   // it is Options.Hook that cannot be
}

func refuse(verb, file, reason, hint string) error {
	return &RefusedError{
		Verb:   verb,
		File:   file,
		Reason: reason,
		Hint:   hint,
	}
}

// NotOurs refuses a program, by its path, that does not answer as label-state's hook does.
func NotOurs(program string) error {
	return &RefusedError{
		Verb:   verbInstall,
		File:   program,
		Reason: "the program does not answer as label-state's hook does",
		Named:  true,
	}
}

// failed says what the system did not allow with a file, and how to look at the folder that decides
// it.
func failed(file, what string, err error, folder string) error {
	hint := "ls -ld " + folder
	if errors.Is(err, syscall.ENOSPC) {
		hint = "df " + folder
	}

	return &RefusedError{
		Verb:   verbInstall,
		File:   file,
		Reason: what + ": " + printable.Cause(err).Error(),
		Hint:   hint,
		Cause:  err,
	}
}

func (e *RefusedError) Error() string { return e.Verb + " " + e.File + ": " + e.Reason }

// Install puts the shim in place. The State is that afterwards, and zero with an error. A
// *RefusedError leaves everything as it was. A repository that a global installation serves needs
// no shim of its own.
func Install(ctx context.Context, o Options) (State, Change, error) {
	if err := o.Check(); err != nil {
		return State{}, "", err
	}
	if o.Global {
		return installGlobal(ctx, o)
	}

	p, err := locate(ctx, o.Git, verbInstall)
	switch {
	case err != nil:
		return State{}, "", err
	case p.unset != "":
		return State{}, "", p.refuse(verbInstall, noFolder, p.unset)
	case p.global && p.state().Installed():
		return p.state(), Nothing, nil
	}

	s, change := p.whole(ctx, o.Git), Nothing
	switch {
	case s.Manager == "husky" && s.Text != "":
		if err := writeScript(huskyScript(s.File), s.Text); err != nil {
			return State{}, "", err
		}
		change = Installed

	case s.Kind == Delegated && (s.Manager == "husky" || !o.Force):
	case s.Shared: // the newest text names no program either
		if change, err = p.install(Options{}); err != nil {
			return State{}, "", err
		}
	case s.rewritten() && (s.Manager == "husky" || !o.Force):
		reason := s.Manager + " rewrites this file"
		if p.waits {
			reason = huskyAsleep
		}
		return State{}, "", p.refuse(verbInstall, reason, s.Hint)

	default:
		change, err = p.install(o)
		return p.state(), change, err
	}

	set, err := SetProgram(ctx, o)
	if set && change == Nothing {
		change = Configured
	}

	return p.whole(ctx, o.Git), change, err
}

// writeScript writes a script that a hook manager runs.
func writeScript(file, text string) error {
	if err := smallfile.Rewrite(file, []byte(text), 0o755); err != nil {
		return failed(file, "it cannot be written", err, filepath.Dir(file))
	}
	return nil
}

// SetProgram has git's setting label-state.hook name the program where State is Untold: it is how a
// desktop finds one that no usual folder has. set says that it was changed.
func SetProgram(ctx context.Context, o Options) (set bool, err error) {
	s, err := Status(ctx, o)
	if err != nil || !s.Untold(o.Hook) {
		return false, err
	}

	if _, err = o.Git.Do(ctx, "config", setting, o.Hook); err != nil {
		return false, fmt.Errorf("%s: %w", verbInstall, err)
	}

	return true, nil
}

// Check returns a *RefusedError where Hook names no program that git could run; an empty one is the
// installer's choice, and allowed.
func (o Options) Check() error {
	if o.Hook == "" {
		return nil
	}
	refused := &RefusedError{Verb: verbInstall, File: o.Hook, Named: true}
	info, err := os.Stat(o.Hook)
	switch {
	case !filepath.IsAbs(o.Hook):
		refused.Reason = "the path of the program is not absolute"
	case strings.ContainsAny(o.Hook, "\n\r"):
		refused.Reason = "the path of the program holds a line break"
	case err != nil:
		refused.Reason = "the program is not there: " + printable.Cause(err).Error()
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		refused.Reason = "the program is not an executable file"
	default:
		return nil
	}

	return refused
}

// Uninstall takes the shim away and puts back, byte for byte, the hook that it had moved aside. A
// hook that is not ours stays, and that is not an error.
func Uninstall(ctx context.Context, o Options) (State, Change, error) {
	if o.Global {
		return uninstallGlobal(ctx, o)
	}
	p, err := locate(ctx, o.Git, verbRemove)
	if err != nil {
		return State{}, "", err
	}

	switch {
	case p.unset != "":
		return State{}, "", p.refuse(verbRemove, noFolder, p.unset)
	case p.global:
		return State{}, "", p.refuse(verbRemove, "it serves all repositories",
			"label-state hook uninstall --global")
	case p.state().Shared:
		hint := ""
		if p.scope == "local" || p.scope == "worktree" {
			hint = unsetIn(p.scope)
		}
		return State{}, "", p.refuse(verbRemove, "it is the repository's own, for everybody who works on it", hint)
	}

	change, err := p.uninstall(o.Force)
	return p.whole(ctx, o.Git), change, err
}

// Status says what there is, and changes nothing.
func Status(ctx context.Context, o Options) (State, error) {
	if o.Global {
		return statusGlobal(ctx, o)
	}
	p, err := locate(ctx, o.Git, verbRead)
	if err != nil {
		return State{}, err
	}

	return p.whole(ctx, o.Git), nil
}

// whole is the state together with what a hook manager makes of it.
func (p place) whole(ctx context.Context, g git.Git) State {
	s := p.around()
	if s.Asks {
		s.Setting, _ = g.Ask(ctx, "config", "--type=path", "--get", setting) // one that cannot be read is none
	}

	return s
}

// around is whole without git's setting label-state.hook.
func (p place) around() State {
	s := p.state()
	switch {
	case p.unset != "":
		s.Hint = hooksPath + " is empty: " + p.unset
		return s
	case s.Kind == Foreign, s.Kind == Absent && husky(p.folder):
		return p.managed(s)
	case s.Kind == Absent:
		if _, err := os.Lstat(p.file()); errors.Is(err, syscall.ENOTDIR) { // as with core.hooksPath=/dev/null
			s.Hint = hooksPath + " does not name a folder: git config --unset " + hooksPath
			return s
		}
	}

	// which takes the place when it is told to run something there
	if p.top != "" && !p.global && lefthookUsed(p.top) {
		s.Lefthook = underLefthook(State{}, p.top).Lefthook
	}

	return s
}

const (
	verbInstall = "install hook"
	verbRemove  = "remove hook"
	verbRead    = "read hook"
)

// Settings of git.
const (
	hooksPath = "core.hooksPath"
	setting   = "label-state.hook"
)

// noFolder is why nothing is done while core.hooksPath is empty.
const noFolder = hooksPath + " is empty, so git looks for hooks in the root folder and checks no push"

// unsetIn is the command that takes core.hooksPath out of one scope of git's configuration.
func unsetIn(scope string) string {
	if scope == "local" {
		return "git config --unset " + hooksPath
	}
	return "git config --" + scope + " --unset " + hooksPath
}

// locate asks git where it looks for the repository's hooks; worktrees and core.hooksPath are
// git's business.
func locate(ctx context.Context, g git.Git, verb string) (place, error) {
	folder, err := g.Ask(ctx, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", verb, err)
	}

	if !filepath.IsAbs(folder) {
		folder = filepath.Join(g.Dir, folder)
	}
	value, scope, err := sharedFolder(ctx, g)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", verb, err)
	}

	top, err := g.Ask(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		top = "" // a bare repository
	}

	p := place{
		top:    filepath.FromSlash(top),
		folder: folder,
		name:   "pre-push",
		shims:  prePush(),
		scope:  scope,
	}

	if scope != "" && value == "" { // git then puts a slash and the hook's name behind nothing
		p.folder, p.unset = string(filepath.Separator), unsetIn(scope)
		return p, nil
	}

	if global := globalPush(); global.marked(read(p.file())) {
		p.shims, p.global = global, true
	}
	under := p // where pre-commit puts our shim when it is installed over it
	under.name += legacy
	if isPreCommit(read(p.file())) && p.shims.marked(read(under.file())) {
		return under, nil
	}

	ours := p.shims.marked(read(p.file()))
	if ours && scope != "" && !p.global {
		there := g
		there.Dir, there.Repo = p.folder, ""
		_, err := there.Ask(ctx, "ls-files", "--error-unmatch", "--", p.name)
		p.tracked = err == nil
	}
	if p.top != "" && !ours && scope != "local" && scope != "worktree" && scope != "command" && huskyWaits(p.top) {
		p.folder, p.scope, p.waits = filepath.Join(p.top, ".husky", "_"), "", true
	}

	return p, nil
}

// sharedFolder is core.hooksPath and its scope in git's configuration; the scope is empty where it
// is not set.
func sharedFolder(ctx context.Context, g git.Git) (value, scope string, err error) {
	out, err := g.Ask(ctx, "config", "--show-scope", "--null", "--type=path", "--get", hooksPath)
	switch {
	case git.Code(err) == 1: // not set
		return "", "", nil
	case err != nil:
		return "", "", err
	}

	scope, rest, _ := strings.Cut(out, "\x00")
	value, _, _ = strings.Cut(rest, "\x00")
	return value, scope, nil
}
