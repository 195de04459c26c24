package local

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

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
)

// What init writes: a configuration that says nothing yet, and examples/single-repository.yml.
var (
	//go:embed start/label-state.yml
	StartConfig string
	//go:embed start/workflow.yml
	StartWorkflow string
)

// WorkflowPath is where a repository runs the Action.
const WorkflowPath = ".github/workflows/label-state.yml"

// planSteps are everything a repository needs, in the order in which it is made: files, hook, labels.
func planSteps(ctx context.Context, c *cli.Call) ([]cli.Step, error) {
	root, err := findRoot(ctx, c)
	if err != nil {
		return nil, err
	}
	all, kind, err := configSteps(ctx, c, root)
	if err != nil {
		return nil, err
	}
	action, err := fileStep(ctx, c, root, WorkflowPath, WorkflowFor(kind), "the Action, which sweeps every hour")
	if err != nil {
		return nil, err
	}
	all = append(all, action)
	hook, err := hookStep(ctx, c, root)
	if err != nil {
		return nil, err
	}
	labels, err := cli.LabelSteps(ctx, c)
	return append(append(append(all, hook), labels...), hostSteps(c.Terminal)...), err
}

// configSteps are the settings. Where records of the token's login do not count, a file that init writes names its App, and a
// file that is there is for a person to change. kind is the kind of lease that the settings name.
func configSteps(ctx context.Context, c *cli.Call, root string) (steps []cli.Step, kind string, err error) {
	var outsider *github.OutsiderError
	if err := c.Session.Client.Heard(ctx, c.Session.Repo); err != nil && !errors.As(err, &outsider) {
		return nil, "", err
	}
	about := "the settings, all optional"
	if outsider != nil && outsider.App() != "" {
		about = "the settings; trust.apps lists " + outsider.App()
	}
	text := ConfigFor(outsider)
	if c.Flags.String("lease") == lease.Refs {
		if !strings.Contains(text, settingsLine) {
			return nil, "", fmt.Errorf("the settings to start with have no line %q", settingsLine)
		}
		text = strings.Replace(text, settingsLine, refsLine, 1)
	}
	file, err := fileStep(ctx, c, root, config.Path, text, about)
	if err == nil {
		kind, err = chosenLease(c, root, file)
	}
	if err != nil || outsider == nil || outsider.App() != "" && file.Status == cli.StepMissing {
		return []cli.Step{file}, kind, err
	}
	return []cli.Step{file, {Kind: "trust", Name: outsider.Login, Status: cli.StepKept, Detail: "its claims do not count yet: " + outsider.Remedy()}}, kind, nil
}

// ConfigFor is the configuration that init writes, with the line that lets an App's records count.
func ConfigFor(o *github.OutsiderError) string {
	if o == nil || o.App() == "" {
		return StartConfig
	}
	return strings.Replace(StartConfig, "#trust: {apps: [github-actions]}", "trust: {apps: [github-actions, "+o.App()+"]}", 1)
}

// WorkflowFor is the workflow with the permissions that a kind of lease needs.
func WorkflowFor(kind string) string {
	if kind != lease.Refs {
		return StartWorkflow
	}
	return strings.Replace(StartWorkflow, "      contents: read\n", "      contents: write # claim.lease: refs, which ends a hold by moving its reference\n", 1)
}

// findRoot is the top of the clone.
func findRoot(ctx context.Context, c *cli.Call) (string, error) {
	if top, err := c.Terminal.Env.Git().Ask(ctx, "rev-parse", "--show-toplevel"); err == nil && top != "" {
		return filepath.FromSlash(top), nil
	}
	return "", &cli.Failure{Err: cli.Usagef("init", "this is no clone of %s", c.Session.Repo), Hint: "git clone it, and run label-state init inside; labels alone: label-state labels sync " + c.Session.Repo.String()}
}

// fileStep looks for a file here and then on GitHub's default branch. One that is there stays.
func fileStep(ctx context.Context, c *cli.Call, root, path, text, about string) (cli.Step, error) {
	s := cli.Step{Kind: "file", Name: path, Status: cli.StepThere, Detail: about, Done: "created"}
	file := filepath.Join(root, filepath.FromSlash(path))
	have, err := smallfile.Follow(file, cli.LargestFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var missing *github.NotFoundError
		_, err := c.Session.Client.File(ctx, c.Session.Repo, path)
		switch {
		case err == nil:
			s.Detail = "on the default branch already; git pull brings it"
		case !errors.As(err, &missing):
			return s, err
		default:
			s.Status, s.Do = cli.StepMissing, func(context.Context) error { return Create(file, text, 0o644) }
			s.Record = func(r *cli.InitRecord) error { return r.AddFile(file, path, text) }
		}
	case err != nil:
		return s, &cli.Failure{Err: fmt.Errorf("look for file: %w", err), Hint: "nothing was done; see what is in the way: ls -ld " + filepath.Dir(file)}
	case string(have) == text:
	case path == config.Path:
		s.Detail = "yours" // it is meant to be changed, and has been read already
	default:
		ours, theirs := lacking(text, string(have)), lacking(string(have), text)
		s.Status, s.Detail = cli.StepKept, fmt.Sprintf("yours, and it stays: %s of ours missing, %d of its own", printable.Count(len(ours), "line", "lines"), len(theirs))
		if len(ours) > 0 {
			s.Detail += fmt.Sprintf("; ours has, for one, %q", ours[0])
		}
	}
	return s, nil
}

// Create writes a file that is not there. One that has come in the meantime stays.
func Create(file, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return &cli.KeptError{Why: "it has come in the meantime"}
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
func hookStep(ctx context.Context, c *cli.Call, root string) (cli.Step, error) {
	o := hookfile.Options{Git: c.Terminal.Env.Git(), Hook: c.Flags.String("hook")}
	if o.Hook == "" {
		o.Hook = compiledHook()
	} else if !filepath.IsAbs(o.Hook) {
		o.Hook = filepath.Join(c.Terminal.Env.Dir, o.Hook)
	}
	found, err := hookfile.Status(ctx, o)
	if err != nil {
		return cli.Step{}, hookFailure("init", err)
	}
	s := cli.Step{Kind: "hook", Name: "pre-push", Status: cli.StepThere, Detail: "stops pushes of others' work", Done: "installed"}
	switch found.Kind {
	case hookfile.Current:
		return s, nil
	case hookfile.Delegated:
		s.Detail = "run by " + cmp.Or(found.Manager, "the hook that is there")
		if found.Text != "" {
			s.Status, s.Detail, s.Done = cli.StepMissing, "replaces "+found.Script+", which refuses every push where the program is missing", "upgraded"
			s.Do = func(ctx context.Context) error { return installHook(ctx, o) }
			s.Record = scriptNote(root, found)
		}
		return s, nil
	case hookfile.Edited, hookfile.Blocked:
		s.Status, s.Detail = cli.StepKept, "yours, and it stays: "+string(found.Kind)+"; see label-state hook status"
		return s, nil
	case hookfile.Foreign:
		s.Detail = "runs before the hook that is there"
	case hookfile.Outdated:
		s.Detail = "brings ours up to date"
	}
	s.Status, s.Do = cli.StepMissing, func(ctx context.Context) error { return installHook(ctx, o) }
	s.Record = func(r *cli.InitRecord) error { return r.AddHook(found) }
	switch { // where somebody else keeps the place, the file from which it runs ours is made; what else it takes is for a person to do
	case found.Hint != "" && found.Text == "":
		s.Status, s.Detail, s.Record = cli.StepKept, todo(found), nil
	case found.Hint != "":
		s.Detail, s.Record = "a script for "+found.Manager+" to run", scriptNote(root, found)
		s.Do = func(ctx context.Context) error {
			if err := Create(filepath.Join(root, filepath.FromSlash(found.Script)), found.Text, 0o755); err != nil {
				return err
			}
			after, err := hookfile.Status(ctx, o)
			if err == nil && !after.Installed() {
				return &cli.KeptError{Why: todo(after)}
			}
			return err
		}
	}
	return s, nil
}

// scriptNote records the script from which a hook manager runs ours.
func scriptNote(root string, found hookfile.State) func(*cli.InitRecord) error {
	return func(r *cli.InitRecord) error {
		return r.AddFile(filepath.Join(root, filepath.FromSlash(found.Script)), found.Script, found.Text)
	}
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
		return &cli.KeptError{Why: strings.TrimSuffix(refused.Reason+"; "+refused.Hint, "; ")}
	}
	return err
}
