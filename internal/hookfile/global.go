package hookfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/git"
)

// installGlobal has core.hooksPath lead to a folder of ours. Git then no longer looks into a
// repository's own folder, so the folder hands every hook on.
func installGlobal(ctx context.Context, o Options) (State, Change, error) {
	places, err := global(o, verbInstall)
	if err != nil {
		return State{}, "", err
	}

	main := places[len(places)-1]
	leads, err := leadsTo(ctx, o.Git, main.folder, verbInstall)
	if err != nil {
		return State{}, "", err
	}
	if err := main.makeFolder(); err != nil {
		return State{}, "", err
	}

	for _, p := range places { // the folder is ours alone, which is looked at before anything is written
		kind := p.state().Kind
		if kind == Foreign || kind == Blocked || kind == Edited && !o.Force {
			return State{}, "", p.refuse(verbInstall, "it is not label-state's, or was edited",
				"move it away")
		}
	}

	did := Nothing
	for _, p := range places {
		own := o
		if p.name != "pre-push" {
			own.Hook = "" // only the shim of pre-push has a line for it
		}

		change, err := p.install(own)
		if err != nil {
			return State{}, "", err
		}

		if change != Nothing {
			did = change
		}
	}

	if !leads {
		did = Installed
		if _, err := o.Git.Do(ctx, "config", "--global", hooksPath, main.folder); err != nil {
			return State{}, "", fmt.Errorf("install hook: %w", err)
		}
	}

	return main.state(), did, nil
}

// global lists the files of a global installation, the pre-push hook last.
func global(o Options, verb string) ([]place, error) {
	if !filepath.IsAbs(o.Home) {
		return nil, refuse(verb, o.Home, "label-state's own folder is not an absolute path", "")
	}

	// The other hooks of githooks(5) that a repository's own must still be found for. Left out are
	// push-to-checkout and proc-receive, which change what git does by being there, and
	// reference-transaction, post-index-change and fsmonitor-watchman, which run too often for a
	// detour.
	passed := []string{
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit",
		"prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge",
		"pre-receive", "update", "post-receive", "post-update", "pre-auto-gc", "post-rewrite",
		"sendemail-validate",
	}
	var all []place
	for _, name := range append(passed, "pre-push") {
		p := place{
			folder: filepath.Join(o.Home, "hooks"),
			name:   name,
			shims:  passThrough(),
			scope:  "global",
			global: true,
		}
		if name == "pre-push" {
			p.shims = globalPush()
		}

		all = append(all, p)
	}

	return all, nil
}

// leadsTo reports whether core.hooksPath leads to folder already, for the whole machine or for its
// user. It is refused that it leads elsewhere. Files that are included count, and so do both of the
// user's: git lists the settings in its own order, of which the last one wins.
func leadsTo(ctx context.Context, g git.Git, folder, verb string) (bool, error) {
	out, err := g.Ask(ctx, "config", "--show-scope", "--null", "--type=path", "--get-all", hooksPath)
	if err != nil && git.Code(err) != 1 { // 1: not set anywhere
		return false, fmt.Errorf("%s: %w", verb, err)
	}

	value, scope := "", ""
	for all := strings.Split(out, "\x00"); len(all) > 1; all = all[2:] {
		if all[0] == "system" || all[0] == "global" {
			scope, value = all[0], all[1]
		}
	}

	switch {
	case scope == "":
		return false, nil
	case value == "":
		return false, refuse(verb, folder, noFolder, unsetIn(scope))
	case filepath.Clean(value) == folder:
		return true, nil
	}

	return false, refuse(verb, value, hooksPath+" ("+scope+") leads there already",
		"label-state hook install, in any repository, adds to the hooks there")
}

// uninstallGlobal removes what is exactly ours. core.hooksPath goes first, so that git never looks
// into a folder that is half empty.
func uninstallGlobal(ctx context.Context, o Options) (State, Change, error) {
	places, err := global(o, verbRemove)
	if err != nil {
		return State{}, "", err
	}

	main := places[len(places)-1]
	did := Nothing
	leads, err := leadsTo(ctx, o.Git, main.folder, verbRemove)
	var elsewhere *RefusedError
	if err != nil && !errors.As(err, &elsewhere) {
		return State{}, "", err
	}

	if leads {
		if _, err := o.Git.Do(ctx, "config", "--global", "--unset", hooksPath); err != nil {
			return State{}, "", fmt.Errorf("remove hook: %w", err)
		}
		did = Removed
	}

	for _, p := range places {
		change, err := p.uninstall(o.Force)
		if err != nil {
			return State{}, "", err
		}

		if change != Nothing {
			did = Removed
		}
	}

	_ = os.Remove(main.folder) // the system refuses to remove one with anything in it
	return main.state(), did, nil
}

// statusGlobal is about core.hooksPath as much as about the files.
func statusGlobal(ctx context.Context, o Options) (State, error) {
	places, err := global(o, verbRead)
	if err != nil {
		return State{}, err
	}

	s := places[len(places)-1].state()
	leads, err := leadsTo(ctx, o.Git, places[0].folder, verbRead)
	var elsewhere *RefusedError
	if err != nil && !errors.As(err, &elsewhere) {
		return s, err
	}
	if !leads {
		return State{File: s.File, Kind: Absent}, nil
	}

	for _, p := range places {
		if p.state().Kind != Current && s.Kind == Current {
			s.Kind = Outdated
		}
	}

	return s, nil
}
