package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/setup"
)

// What init writes: a configuration that says nothing yet, and examples/single-repository.yml.
var (
	//go:embed start/label-state.yml
	startConfig string
	//go:embed start/workflow.yml
	startWorkflow string
)

// workflowPath is where a repository runs the Action.
const workflowPath = ".github/workflows/label-state.yml"

// steps are everything a repository needs, in the order in which it is made: files, hook, labels.
func (c *call) steps(ctx context.Context) ([]step, error) {
	root, err := c.root(ctx)
	if err != nil {
		return nil, err
	}
	var all []step
	for _, f := range []struct{ path, text, about string }{
		{config.Path, startConfig, "the settings, all optional"},
		{workflowPath, startWorkflow, "the Action, which sweeps every hour"},
	} {
		one, err := c.fileStep(ctx, root, f.path, f.text, f.about)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	hook, err := c.hookStep(ctx, root)
	if err != nil {
		return nil, err
	}
	labels, err := c.labelSteps(ctx)
	return append(append(all, hook), labels...), err
}

// root is the top of the clone.
func (c *call) root(ctx context.Context) (string, error) {
	out, err := c.env.Run(ctx, setup.Command{Name: "git", Args: []string{"rev-parse", "--show-toplevel"}, Dir: c.env.Dir})
	if top := strings.TrimSpace(string(out)); err == nil && top != "" {
		return filepath.FromSlash(top), nil
	}
	return "", &failure{err: wrong("init", "this is no clone of %s", c.Repo), hint: "git clone it, and run label-state init inside; labels alone: label-state labels sync " + c.Repo.String()}
}

// fileStep looks for a file here and then on GitHub's default branch. One that is there stays.
func (c *call) fileStep(ctx context.Context, root, path, text, about string) (step, error) {
	s := step{kind: "file", name: path, status: stepThere, detail: about, done: "created"}
	file := filepath.Join(root, filepath.FromSlash(path))
	have, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c.absentFile(ctx, s, file, text)
	}
	switch {
	case err != nil:
		return s, &failure{err: fmt.Errorf("look for file: %w", err), hint: "nothing was done; see what is in the way: ls -ld " + filepath.Dir(file)}
	case string(have) == text:
	case path == config.Path:
		s.detail = "yours" // it is meant to be changed, and has been read already
	default:
		s.status, s.detail = stepKept, "yours, and it stays: "+differences(string(have), text)
	}
	return s, nil
}

func (c *call) absentFile(ctx context.Context, s step, file, text string) (step, error) {
	var missing *github.NotFoundError
	_, err := c.Client.File(ctx, c.Repo, s.name)
	switch {
	case err == nil:
		s.detail = "on the default branch already; git pull brings it"
		return s, nil
	case !errors.As(err, &missing):
		return s, err
	}
	s.status, s.do = stepMissing, func(context.Context) error { return create(file, text) }
	return s, nil
}

// create writes a file that is not there. One that has come in the meantime stays.
func create(file, text string) error { return createMode(file, text, 0o644) }

func createMode(file, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return &keptError{"it has come in the meantime"}
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// differences says in one line how a person's file differs from ours.
func differences(have, want string) string {
	ours, theirs := lacking(want, have), lacking(have, want)
	out := fmt.Sprintf("%s of ours missing, %d of its own", count(len(ours), "line", "lines"), len(theirs))
	if len(ours) > 0 {
		out += fmt.Sprintf("; ours has, for one, %q", ours[0])
	}
	return out
}

// lacking are the lines of text, comments and empty ones aside, that other does not have.
func lacking(text, other string) (out []string) {
	known := slices.Collect(strings.SplitSeq(other, "\n"))
	for i := range known {
		known[i] = strings.TrimSpace(known[i])
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && !slices.Contains(known, line) {
			out = append(out, line)
		}
	}
	return out
}

// hookStep is the hook of this clone. Another tool's hook goes on running behind ours.
func (c *call) hookStep(ctx context.Context, root string) (step, error) {
	o := hookfile.Options{Dir: c.env.Dir, Hook: c.String("hook")}
	if o.Hook == "" {
		o.Hook = compiledHook()
	} else if !filepath.IsAbs(o.Hook) {
		o.Hook = filepath.Join(c.env.Dir, o.Hook)
	}
	found, err := hookfile.Status(ctx, o)
	if err != nil {
		return step{}, hookFailure("init", err)
	}
	s := step{kind: "hook", name: "pre-push", status: stepThere, detail: "stops pushes of others' work", done: "installed"}
	switch found.Kind {
	case hookfile.Current:
		return s, nil
	case hookfile.Delegated:
		s.detail = "run by " + cmp.Or(found.Manager, "the hook that is there")
		return s, nil
	case hookfile.Edited, hookfile.Blocked:
		s.status, s.detail = stepKept, "yours, and it stays: "+string(found.Kind)+"; see label-state hook status"
		return s, nil
	case hookfile.Foreign:
		s.detail = "runs before the hook that is there"
	case hookfile.Outdated:
		s.detail = "brings ours up to date"
	}
	s.status, s.do = stepMissing, func(ctx context.Context) error { return installHook(ctx, o) }
	if found.Hint != "" {
		s = delegateHook(s, root, found, o)
	}
	return s, nil
}

// delegateHook is the step where somebody else keeps the place: the file from which it runs ours is made when there is
// none. What else it takes is for a person to do, and is said.
func delegateHook(s step, root string, found hookfile.State, o hookfile.Options) step {
	if found.Text == "" {
		s.status, s.detail = stepKept, todo(found)
		return s
	}
	s.detail = "a script for " + found.Manager + " to run"
	s.do = func(ctx context.Context) error {
		if err := createMode(filepath.Join(root, filepath.FromSlash(found.Script)), found.Text, 0o755); err != nil {
			return err
		}
		after, err := hookfile.Status(ctx, o)
		if err == nil && !after.Installed() {
			return &keptError{todo(after)}
		}
		return err
	}
	return s
}

// todo is what a person has to do before pushes are guarded.
func todo(s hookfile.State) string {
	if s.Manager == "" {
		return s.Hint
	}
	return s.Manager + "'s: " + s.Hint
}

// runBy says what has ours run, where it is not git itself.
func runBy(s hookfile.State) string {
	if s.Manager == "" {
		return "the hook that is there runs ours"
	}
	return s.Manager + " runs ours, from " + s.Script
}

func installHook(ctx context.Context, o hookfile.Options) error {
	_, _, err := hookfile.Install(ctx, o)
	var refused *hookfile.RefusedError
	if errors.As(err, &refused) {
		return &keptError{strings.TrimSuffix(refused.Reason+"; "+refused.Hint, "; ")}
	}
	return err
}

// labelSteps are the labels. Colours that people chose stay.
func (c *call) labelSteps(ctx context.Context) ([]step, error) {
	have, err := c.Client.Labels(ctx, c.Repo)
	if err != nil {
		return nil, err
	}
	var out []step
	want := c.Ledger.Rules().Scheme.Definitions()
	for n, v := range compare(want, have) {
		s := step{kind: "label", name: v.Name, status: stepThere, detail: v.Detail, done: "created"}
		if v.Status == "missing" {
			s.status, s.detail = stepMissing, want[n].Description
			s.do = func(ctx context.Context) error { return c.Client.CreateLabel(ctx, c.Repo, want[n]) }
		}
		out = append(out, s)
	}
	return out, nil
}
