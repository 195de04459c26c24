package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/agentsetup"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
	"github.com/label-state/label-state/internal/state"
	urfave "github.com/urfave/cli/v2"
)

// What init did in a clone is recorded before it is done, in the clone's git directory, so that "init --undo" takes back that and
// nothing else (docs/decisions/2026-11-22-init-undo.md).

// An undoing is an "init --undo" under way.
type undoing struct {
	call   *cli.Call
	file   string // of the record
	record cli.InitRecord
	hook   hookfile.Options
}

// undoInit takes back what init did in this worktree. It asks nobody but the person.
func undoInit(t cli.Terminal, cc *urfave.Context) error {
	c := &cli.Call{Flags: cc, Terminal: t}
	ctx, cancel := cli.Deadline(cc)
	defer cancel()
	file, _, err := cli.InitRecordFile(t.Env.Dir)
	if errors.Is(err, state.ErrNoRepository) {
		return c.Fail(ctx, &cli.Failure{Err: cli.Usagef("init", "this is no clone"), Hint: "run label-state init --undo where label-state init ran"})
	}
	u := undoing{call: c, file: file, hook: hookfile.Options{Git: t.Env.Git()}}
	if err == nil {
		u.record, err = cli.LoadInit(file)
	}
	c.Subject.Repo = u.record.Repo
	if err == nil {
		err = u.run(ctx)
	}
	return c.Fail(ctx, err)
}

func (u *undoing) run(ctx context.Context) error {
	steps, err := u.steps(ctx)
	if err != nil {
		return err
	}
	title := cmp.Or(u.record.Repo, "this clone")
	todo := slices.ContainsFunc(steps, func(s cli.Step) bool { return s.Status == cli.StepMade })
	switch {
	case len(steps) == 0 && u.call.Flags.Bool("json"):
		return nil
	case len(steps) == 0:
		return u.call.Answer(nil, "nothing to take back: no init is recorded in this clone\n")
	case !todo:
		return cli.ShowSteps(u.call, title, steps, "nothing to take back; what a ! stands before is yours\n")
	case u.call.Flags.Bool("dry-run"):
		return cli.ShowSteps(u.call, title, steps, "")
	}
	preview := func() string {
		return cli.Wrap(cli.Preview(title, steps), u.call.Terminal.Env.Width(u.call.Terminal.Out))
	}
	if err := agree(u.call, "label-state init --undo", "look at what it would take back, then say yes beforehand", preview); err != nil {
		return err
	}
	for _, s := range steps {
		if s.Status == cli.StepMade {
			if err := s.Do(ctx); err != nil {
				return &cli.Failure{Err: err, Hint: cmp.Or(cli.HintFor(err), "what was done before stays; mend that, then: "+cli.Again)}
			}
			s.Status = s.Done
		}
		if err := cli.ShowStep(u.call, s); err != nil {
			return err
		}
	}
	for _, dir := range slices.Backward(u.record.Dirs) {
		_ = os.Remove(dir) // one that has something in it stays
	}
	if u.call.Flags.Bool("json") {
		return nil
	}
	return u.call.Answer(nil, "\nnext: see with git status what was taken away, and commit it if it was committed\n")
}

// steps are what is to be taken back, the last that was done first.
func (u *undoing) steps(ctx context.Context) (out []cli.Step, err error) {
	for _, h := range agenthost.Hosts() {
		s, there, err := u.hostStep(h)
		if err != nil {
			return nil, err
		}
		if there {
			out = append(out, s)
		}
	}
	if u.record.Hook != nil {
		s, err := u.hookStep(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	for _, f := range slices.Backward(u.record.Files) {
		s, err := u.fileStep(f)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if n := len(u.record.Labels); n > 0 && len(out) > 0 {
		out = append(out, cli.Step{Kind: "labels", Name: "on GitHub", Status: cli.StepKept, Detail: fmt.Sprintf(
			"%s stay, for others may use them (%s); one goes with: gh label delete NAME --repo %s", printable.Count(n, "that init created", "that init created"), strings.Join(u.record.Labels, ", "), u.record.Repo)})
	}
	return out, nil
}

// forget leaves a part out of the record that has been taken back.
func (u *undoing) forget(change func(*cli.InitRecord)) error {
	change(&u.record)
	return u.record.Save(u.file)
}

func (u *undoing) fileStep(f cli.InitFile) (cli.Step, error) {
	s := cli.Step{Kind: "file", Name: f.Name, Status: cli.StepMade, Detail: "init wrote it", Done: "removed"}
	forget := func() error {
		return u.forget(func(r *cli.InitRecord) {
			r.Files = slices.DeleteFunc(r.Files, func(one cli.InitFile) bool { return one.Path == f.Path })
		})
	}
	s.Do = inOrder(func() error { return os.Remove(f.Path) }, forget)
	if f.Existed {
		s.Detail, s.Done = "init changed it", "restored"
		s.Do = inOrder(func() error { return restore(f.Path, f.Before) }, forget)
	}
	now, err := smallfile.Follow(f.Path, cli.LargestFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Detail, s.Done = "gone already", "gone"
		s.Do = inOrder(forget)
	case err != nil:
		return s, &cli.Failure{Err: fmt.Errorf("look for file: %w", err), Hint: "nothing was done; see what is in the way: ls -ld " + f.Path}
	case f.Existed && bytes.Equal(now, f.Before):
		s.Detail, s.Done = "as it was already", "restored"
		s.Do = inOrder(forget)
	case state.Fingerprint(now) != f.After:
		s.Status, s.Detail = cli.StepKept, "changed since, and it stays; away with: rm "+cli.ShellWord(f.Name)
	}
	return s, nil
}

// inOrder does one thing after the other, until one fails.
func inOrder(things ...func() error) func(context.Context) error {
	return func(context.Context) error {
		for _, do := range things {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	}
}

// restore gives a file its old text in one step, with the mode it has.
func restore(path string, text []byte) error {
	mode := fs.FileMode(0o755)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return state.Replace(path, text, mode)
}

func (u *undoing) hookStep(ctx context.Context) (cli.Step, error) {
	found, err := hookfile.Status(ctx, u.hook)
	if err != nil {
		return cli.Step{}, hookFailure("init", err)
	}
	s := cli.Step{Kind: "hook", Name: "pre-push", Status: cli.StepMade, Detail: "init installed it", Done: "removed"}
	forget := func() error { return u.forget(func(r *cli.InitRecord) { r.Hook = nil }) }
	switch {
	case found.Kind == hookfile.Edited, found.Kind == hookfile.Blocked:
		s.Status, s.Detail = cli.StepKept, "changed since, and it stays: "+string(found.Kind)+"; see label-state hook status"
	case found.Kind == hookfile.Absent && found.Manager == "" && found.Hint != "": // git looks elsewhere now
		s.Status, s.Detail = cli.StepKept, "not looked for: "+found.Hint
	case found.Version == 0:
		s.Detail, s.Done = "gone already", "gone"
		s.Do = inOrder(forget)
	case u.record.Hook.Before != nil:
		s.Detail, s.Done = "init brought it up to date", "restored"
		s.Do = inOrder(func() error { return restore(found.File, u.record.Hook.Before) }, forget)
	default:
		if found.Kept != "" {
			s.Detail, s.Done = "init installed it; the hook that was there comes back", "restored"
		}
		s.Do = func(ctx context.Context) error {
			if _, _, err := hookfile.Uninstall(ctx, u.hook); err != nil {
				return err
			}
			return forget()
		}
	}
	return s, nil
}

// hostStep is the setup of a host of coding agents in this repository, which init proposes.
func (u *undoing) hostStep(h agenthost.Host) (s cli.Step, there bool, err error) {
	p, err := placeOf(u.call.Terminal, false)
	if err != nil {
		return s, false, err
	}
	if noted, err := p.Noted(h); err != nil || !noted {
		return s, false, err
	}
	files, err := p.Uninstall(h)
	if err != nil {
		return s, false, err
	}
	s = cli.Step{Kind: "agent", Name: string(h), Status: cli.StepMade, Detail: "its hooks, skill and MCP server in this repository", Done: "removed"}
	if slices.ContainsFunc(files, func(f agentsetup.Step) bool { return f.Kind == agentsetup.Theirs || f.Edited }) {
		s.Detail = "what is ours; what was changed since stays"
	}
	s.Do = func(context.Context) error {
		files, err := p.Uninstall(h) // another host that needs a file may be gone by now
		if err == nil {
			err = p.TakeBack(h, files)
		}
		return err
	}
	return s, true, nil
}
