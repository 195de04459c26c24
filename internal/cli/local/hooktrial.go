package local

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/gitpush"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/pushcheck"
	"github.com/label-state/label-state/internal/setup"
)

// What becomes of a push from here, as a HookView and the last line of init have it.
const (
	pushesChecked   = "checked"
	pushesUnchecked = "unchecked"
	pushesUntried   = "untried"
)

// A hookTrial is what the hook said when it was played once.
type hookTrial struct {
	pushes string
	why    string // not checked, or not tried; of checked pushes on what condition, if there is one
	remedy string // the next command; may be empty
}

// text says it in a sentence.
func (t hookTrial) text() string {
	switch t.pushes {
	case pushesChecked:
		return strings.TrimSpace("pushes from here are checked " + cli.OneLine(t.why))
	case pushesUnchecked:
		return "pushes from here are not checked: " + cli.OneLine(t.why)
	}

	return "the hook was not tried: " + cli.OneLine(t.why)
}

// again is the remedy for what the doctor knows more about.
const again = "label-state doctor"

// trialTime is how long the hook may take that is tried: hook.timeout may be as long as a minute.
const trialTime = 65 * time.Second

// tryHook plays the hook once, with a push that closes an issue which no repository has. Nothing is
// pushed, and nothing of the checkout is run: a program that only the checkout names is
// not tried.
func tryHook(ctx context.Context, t cli.Terminal, s hookfile.State, chosen string) hookTrial {
	switch {
	case s.Unclear():
		return hookTrial{pushesUntried, "it was edited, or comes from a newer version", s.Hint}
	case !s.Installed():
		return hookTrial{pushesUnchecked, "git runs no hook of label-state", s.Hint}
	case s.Brings:
		return hookTrial{pushesUntried, s.Manager + " builds it at the next push", ""}
	}

	program, found := s.Program(t.Env.Find)
	if !found {
		return hookTrial{pushesUnchecked, missingName(s) + " was not found", installAgain(t, s)}
	}
	if !trusted(ctx, t, s, program, chosen) {
		return hookTrial{pushesUntried, "only the checkout names " + program, ""}
	}

	remote, url, err := pushedTo(ctx, t)
	if err != nil {
		why := "no remote to push to is known"
		if remote != "" {
			why = err.Error()
		}
		return hookTrial{pushesUntried, why, ""}
	}

	trial, err := playTrial(ctx, t, program, remote, url)
	switch {
	case err != nil:
		return hookTrial{pushesUnchecked, program + " does not behave like this version", replaceProgram(t, s, program)}
	case trial.Version != t.Build.Version:
		why := fmt.Sprintf("%s is %s, and this is %s", program, cli.OneLine(trial.Version), t.Build.Version)
		return hookTrial{pushesUnchecked, why, replaceProgram(t, s, program)}
	case !trial.Checked:
		return hookTrial{pushesUnchecked, trial.Reason, cmp.Or(trial.Remedy, again)}
	}

	checked := hookTrial{pushes: pushesChecked}
	if s.Manager != "" { // an old pre-commit, for example, refuses the stages of a newer one
		checked.why = "if " + s.Manager + " runs the hook, which was not tried"
	}

	return checked
}

// playTrial plays a program as the hook, with a push to the URL. The error says that it does not
// answer as label-state's programs do.
func playTrial(ctx context.Context, t cli.Terminal, program, remote, url string) (trial pushcheck.Trial, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	out, err := t.Env.Run(ctx, setup.Command{
		Name: program,
		Args: []string{"hook", "pre-push", pushcheck.TryFlag, remote, url},
		Dir:  t.Env.Dir,
	})
	if err == nil {
		err = json.Unmarshal(out, &trial)
	}

	return trial, err
}

// checkChosen refuses a hook that cannot be run, and the program of --hook, a path as it was typed,
// that is not label-state's. That is played with a push to no GitHub, about which nobody is asked.
func checkChosen(ctx context.Context, c *cli.Call, o hookfile.Options, file string) error {
	if err := o.Check(); err != nil || file == "" {
		return err
	}

	if trial, err := playTrial(ctx, c.Terminal, o.Hook, "origin", "."); err != nil || trial == (pushcheck.Trial{}) {
		return hookfile.NotOurs(o.Hook)
	}

	return nil
}

// A hookFault is what is wrong with a hook; without a text nothing is.
type hookFault struct {
	text    string
	remedy  string
	refuses bool // every push from here
	later   bool // here all is well by now
}

// faultOf judges the hook by what was found in its place, and by what it said when it was tried.
func faultOf(t cli.Terminal, s hookfile.State, trial hookTrial, global bool) hookFault {
	const unguarded = "pushes from here are not guarded"
	_, found := s.Program(t.Env.Find)
	switch {
	case !s.Installed() && s.Moved != "":
		return hookFault{
			text:   unguarded + ": lefthook has disabled label-state's hook, as " + s.Moved,
			remedy: cmp.Or(s.Hint, "label-state init"),
		}
	case s.Unclear():
		return hookFault{text: "nobody can tell whether pushes from here are guarded", remedy: s.Hint}
	case !s.Installed():
		return hookFault{text: unguarded, remedy: cmp.Or(s.Hint, installCommand(global))}
	case !found && !s.Brings && s.Bare:
		return hookFault{
			text:    missingName(s) + " was not found, and every push from here is refused",
			remedy:  cmp.Or(mendScript(s), installAgain(t, s)),
			refuses: true,
		}
	case trial.pushes == pushesUnchecked:
		return hookFault{text: trial.text(), remedy: trial.remedy}
	case s.Bare && s.Script != "":
		text := "on a machine without the program " + s.Script + " refuses every push"
		return hookFault{text: text, remedy: mendScript(s), later: true}
	case s.Lefthook != nil:
		return hookFault{text: lefthookLater, remedy: "label-state init", later: true}
	}

	return hookFault{}
}

// replaceProgram is how a push comes to start this version in place of the program that it starts.
// A script of a hook manager finds a program by itself, so that only its file can go.
func replaceProgram(t cli.Terminal, s hookfile.State, program string) string {
	if own := ownHook(t); own != "" && s.Version > 0 && filepath.Dir(own) != filepath.Dir(program) {
		return installCommand(s.Global)
	}

	return "delete " + program + ", or install this version in its place"
}

// installCommand is the command that installs the hook, of this clone or of all of this user's.
func installCommand(global bool) string {
	if global {
		return "label-state hook install --global"
	}
	return "label-state hook install"
}

// pushedTo is the remote that a push of the branch which is checked out goes to, and its URL.
func pushedTo(ctx context.Context, t cli.Terminal) (remote, url string, err error) {
	pusher := gitpush.Git{Git: t.Env.Git()}
	branch, _ := pusher.Ask(ctx, "symbolic-ref", "--quiet", "--short", "HEAD") // else none is checked out
	if remote, err = pusher.Remote(ctx, branch); err == nil {
		url, err = pusher.Address(ctx, remote)
	}

	return remote, url, err
}

// trusted reports whether a program that a push would start may be started to be tried. What only
// the checkout names may be anything: a push would be the first to run it. chosen is a
// program that the caller has named.
func trusted(ctx context.Context, t cli.Terminal, s hookfile.State, path, chosen string) bool {
	ours := t.Env.Executable != "" && filepath.Dir(path) == filepath.Dir(t.Env.Executable)
	if path == chosen || path == s.Setting || ours {
		return true
	}
	if s.Version > 0 && !checkedOut(ctx, t, s.File) {
		return true // its name stands where only this user writes
	}

	named, err := t.Env.Find(filepath.Base(path))
	return err == nil && named == path && !checkedOut(ctx, t, path)
}

// checkedOut reports whether a file may be one of the checkout: it is in the worktree, and not in
// git's own folder.
func checkedOut(ctx context.Context, t cli.Terminal, file string) bool {
	within := func(question string) bool {
		folder, err := t.Env.Git().Ask(ctx, "rev-parse", "--path-format=absolute", question)
		if err != nil {
			return false
		}
		inside, err := filepath.Rel(filepath.FromSlash(folder), file)
		return err == nil && filepath.IsLocal(inside)
	}

	return within("--show-toplevel") && !within("--git-common-dir")
}

// ownHook is the program that the hook is to run: this one, where it stays, by the path that PATH
// has for it if there is one. The next version of a package keeps that path. It is empty where
// nobody knows.
func ownHook(t cli.Terminal) string {
	self := t.Env.Executable
	if self == "" {
		return ""
	}
	if onPath, err := t.Env.Find(filepath.Base(self)); err == nil && filepath.IsAbs(onPath) && sameFile(onPath, self) {
		return onPath
	}

	return self
}

// missingName is what a push looks for and does not find.
func missingName(s hookfile.State) string {
	names := strings.Fields(s.Looks)
	switch {
	case s.Hook != "":
		return s.Hook
	case len(names) == 0:
		return "label-state"
	}

	return names[len(names)-1]
}

// installAgain is how a push comes to find the program.
func installAgain(t cli.Terminal, s hookfile.State) string {
	switch own := ownHook(t); {
	case own != "" && s.Version > 0:
		return installCommand(s.Global)
	case own != "":
		return "add " + filepath.Dir(own) + " to PATH"
	}

	return "put " + missingName(s) + " on PATH (docs/install.md)"
}
