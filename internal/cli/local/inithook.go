package local

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/smallfile"
)

// chosenHook is the program of --hook, absolute; empty without it.
func chosenHook(c *cli.Call, file string) string {
	if file == "" {
		return ""
	}
	return c.Env.Path(file)
}

// hookSteps are the hook of this clone, and what a hook manager needs to run it. Another tool's
// hook goes on running after ours.
func hookSteps(ctx context.Context, c *cli.Call, root, hook string) ([]InitStep, error) {
	o := hookfile.Options{Git: c.Env.Git(), Hook: cmp.Or(chosenHook(c, hook), ownHook(c.Terminal))}
	if err := checkChosen(ctx, c, o, hook); err != nil {
		return nil, hookFailure("init", err)
	}
	found, err := hookfile.Status(ctx, o)
	if err != nil {
		return nil, hookFailure("init", err)
	}

	steps := lefthookSteps(root, o, found)
	if found.Manager != "lefthook" || found.Lefthook == nil {
		steps = append([]InitStep{hookStep(o, found)}, steps...)
	}

	return steps, nil
}

// forgetProgram undoes hookfile.SetProgram.
const forgetProgram = "git config --unset label-state.hook"

// hookStep is what stands in the place of the hook, or will.
func hookStep(o hookfile.Options, found hookfile.State) InitStep {
	s := InitStep{
		Kind:   "hook",
		Name:   "pre-push",
		Status: stepThere,
		Detail: "refuses pushes of others' work",
		Done:   "installed",
	}

	if found.Everybody() {
		s.Detail = "in the folder of all your repositories"
	}
	install := func(ctx context.Context) error { return installHook(ctx, o) }
	if found.Kind == hookfile.Delegated && found.Ignored {
		s.Status, s.Detail, s.Next = stepKept, "is not executable", todo(found)
		return s
	}

	switch found.Kind {
	case hookfile.Current, hookfile.Delegated:
		by := "the repository's own"
		if found.Kind == hookfile.Delegated {
			by = cmp.Or(found.Manager, "the hook that is there")
			s.Detail = "run by " + by
		}
		if found.Untold(o.Hook) {
			s.Status, s.Do, s.Undo = stepMissing, install, forgetProgram
			s.Detail = "for " + by + ": the program's path"
		}
		return s

	case hookfile.Edited, hookfile.Blocked:
		s.Status, s.Detail = stepKept, "kept your version: "+string(found.Kind)
		s.Next = "have a look at your hook: label-state hook status"
		return s
	}

	if found.Hint != "" && found.Text == "" {
		s.Status, s.Detail, s.Next = stepKept, "does not run yet", todo(found)
		return s
	}

	s.Status, s.Do = stepMissing, install
	switch {
	case found.Extends:
		s.Kind, s.Name, s.Detail, s.Done = "file", found.Script, "adds lines that run it", "extended"
		s.Undo = forgetProgram
	case found.Text != "": // somebody else keeps the place: the file from which it runs ours is made
		s.Detail, s.File, s.Undo = "a script for "+found.Manager+" to run", found.Script, forgetProgram
	case found.Kind == hookfile.Foreign:
		s.Detail = "runs before the existing hook"
	case found.Kind == hookfile.Outdated:
		s.Detail = "brings ours up to date"
	}

	return s
}

// lefthookSteps are what lefthook's files lack to run the hook at every push. Its configuration is
// changed where lines can be added without touching another; otherwise a person adds them.
func lefthookSteps(root string, o hookfile.Options, found hookfile.State) []InitStep {
	lack := found.Lefthook
	if lack == nil {
		return nil
	}

	var steps []InitStep
	if lack.Text != "" {
		script := InitStep{
			Kind:   "file",
			Name:   lack.Script,
			Status: stepMissing,
			Done:   "created",
			File:   lack.Script,
		}
		script.Detail = "the hook, for lefthook to run"
		script.Do = func(context.Context) error {
			return Create(filepath.Join(root, filepath.FromSlash(lack.Script)), lack.Text, 0o755)
		}

		steps = append(steps, script)
	}

	s := InitStep{Kind: "file", Name: lack.Config, Status: stepKept}
	switch {
	case lack.Config == "":
		s.Name, s.Detail, s.Next = lack.Script, "yours, and it does not run the hook", todo(found)
	case lack.Edited == "":
		s.Detail = "lefthook's, and it lacks lines"
		s.Next = "add to " + lack.Config + ":\n  " +
			strings.ReplaceAll(strings.TrimSuffix(lack.Lines, "\n"), "\n", "\n  ")

	default:
		s.Status, s.Detail, s.Done = stepMissing, "adds lines that run it", "extended"
		s.Do, s.Undo = func(ctx context.Context) error { return extendLefthook(ctx, root, o) }, forgetProgram
	}

	return append(steps, s)
}

// extendLefthook adds our lines to lefthook's configuration as it is by now.
func extendLefthook(ctx context.Context, root string, o hookfile.Options) error {
	s, err := hookfile.Status(ctx, o)
	if err != nil {
		return hookFailure("init", err)
	}
	if s.Lefthook == nil || s.Lefthook.Edited == "" {
		return &KeptError{Why: "it has changed in the meantime"}
	}

	file := filepath.Join(root, filepath.FromSlash(s.Lefthook.Config))
	if err := smallfile.Rewrite(file, []byte(s.Lefthook.Edited), 0o644); err != nil {
		return err
	}
	_, err = hookfile.SetProgram(ctx, o)

	return err
}

// todo is what a person has to do before pushes are guarded.
func todo(s hookfile.State) string {
	if s.Manager == "" {
		return s.Hint
	}
	return "for " + s.Manager + ": " + s.Hint
}

// runBy says what has ours run, where it is not git itself.
func runBy(s hookfile.State) string {
	if s.Manager == "" {
		return "the existing hook runs ours"
	}
	return s.Manager + " runs ours, from " + s.Script
}

func installHook(ctx context.Context, o hookfile.Options) error {
	_, _, err := hookfile.Install(ctx, o)
	var refused *hookfile.RefusedError
	if errors.As(err, &refused) && refused.Cause == nil {
		return &KeptError{Why: strings.TrimSuffix(refused.Reason+"; "+refused.Hint, "; ")}
	}
	return err
}
