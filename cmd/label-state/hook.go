package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/label-state/label-state/internal/hookfile"
	"github.com/urfave/cli/v2"
)

func hookCommand(t terminal) *cli.Command {
	global := &cli.BoolFlag{Name: "global", Usage: "every repository of this user, by core.hooksPath"}
	force := &cli.BoolFlag{Name: "force", Usage: "replace a shim that somebody edited"}
	json := &cli.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"}
	return &cli.Command{
		Name: "hook", Usage: "the pre-push hook of this clone",
		Subcommands: []*cli.Command{
			{
				Name: "install", Usage: "guard this clone's pushes",
				Description: "Another tool's hook that is there already keeps running, behind ours.\n\n   label-state hook install\n   label-state hook install --global",
				Flags:       []cli.Flag{global, force, json, &cli.StringFlag{Name: "hook", Usage: "`FILE` of the compiled hook (default: beside label-state, else looked up on PATH at each push)"}},
				Action:      t.hook(hookfile.Install),
			},
			{
				Name: "uninstall", Usage: "take it away again; another tool's hook is put back as it was",
				Description: "   label-state hook uninstall",
				Flags:       []cli.Flag{global, json, &cli.BoolFlag{Name: "force", Usage: "also a shim that somebody edited"}}, Action: t.hook(hookfile.Uninstall),
			},
			{
				Name: "status", Usage: "what git finds; exit 1 when pushes are not guarded",
				Description: "   label-state hook status --json",
				Flags:       []cli.Flag{global, json}, Action: t.hookStatus,
			},
		},
	}
}

// A hookView is the JSON of the hook's state.
type hookView struct {
	File      string `json:"file"`
	Kind      string `json:"kind"`
	Installed bool   `json:"installed"`
	Change    string `json:"change,omitempty"`
	Hook      string `json:"hook,omitempty"`
	Chained   string `json:"chained,omitempty"`
	Global    bool   `json:"global,omitempty"`
	Manager   string `json:"manager,omitempty"`
	Script    string `json:"script,omitempty"`
}

func viewHook(s hookfile.State, change hookfile.Change) hookView {
	return hookView{s.File, string(s.Kind), s.Installed(), string(change), s.Hook, s.Kept, s.Global, s.Manager, s.Script}
}

func (t terminal) hookOptions(cc *cli.Context) (hookfile.Options, error) {
	o := hookfile.Options{Dir: t.env.Dir, Global: cc.Bool("global"), Force: cc.Bool("force"), Hook: cc.String("hook")}
	if cc.Args().Present() {
		return o, wrong("hook "+cc.Command.Name, "hook %s takes no arguments", cc.Command.Name)
	}
	if o.Global {
		home, err := t.env.StateDir()
		if err != nil {
			return o, err
		}
		o.Home = home
	}
	if o.Hook == "" && cc.Command.Name == "install" {
		o.Hook = compiledHook()
	}
	if o.Hook != "" && !filepath.IsAbs(o.Hook) {
		o.Hook = filepath.Join(t.env.Dir, o.Hook)
	}
	return o, nil
}

// compiledHook is the hook installed beside this program, when it is not on PATH anyway.
func compiledHook() string {
	for _, name := range []string{"label-state-pre-push", "pre-push"} {
		if _, err := exec.LookPath(name); err == nil && name == "label-state-pre-push" {
			return ""
		}
		self, err := os.Executable()
		if err != nil {
			return ""
		}
		beside := binary(filepath.Dir(self), name)
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return ""
}

func (t terminal) hook(do func(context.Context, hookfile.Options) (hookfile.State, hookfile.Change, error)) cli.ActionFunc {
	return func(cc *cli.Context) error {
		o, err := t.hookOptions(cc)
		if err != nil {
			return err
		}
		s, change, err := do(cc.Context, o)
		if err != nil {
			return hookFailure("hook "+cc.Command.Name, err)
		}
		c := &call{Context: cc, terminal: t}
		if err := c.answer(viewHook(s, change), fmt.Sprintf("%s: %s\n", change, s.File)); err != nil {
			return err
		}
		if cc.Command.Name == "install" && s.Hook == "" && !s.Brings {
			if _, err := exec.LookPath("label-state-pre-push"); err != nil {
				warn(t.err, "label-state-pre-push is not on PATH; until it is, pushes are not checked (docs/hook.md says how to build it; --hook FILE names it)")
			}
		}
		return nil
	}
}

func (t terminal) hookStatus(cc *cli.Context) error {
	o, err := t.hookOptions(cc)
	if err != nil {
		return err
	}
	s, err := hookfile.Status(cc.Context, o)
	if err != nil {
		return hookFailure("hook status", err)
	}
	text := fmt.Sprintf("%s: %s\n", s.Kind, s.File)
	if s.Kind == hookfile.Delegated {
		text += runBy(s) + "\n"
	}
	if s.Hook != "" {
		text += "runs " + s.Hook + "\n"
	}
	if s.Kept != "" {
		text += "then " + s.Kept + "\n"
	}
	c := &call{Context: cc, terminal: t}
	if err := c.answer(viewHook(s, ""), text); err != nil {
		return err
	}
	if !s.Installed() {
		return &failure{doing: "hook status", err: &answerNo{"pushes from here are not guarded"}, hint: cmp.Or(s.Hint, "label-state hook install")}
	}
	return nil
}

// hookAnswers are for a hook that was left alone.
func hookAnswers() []answer { return []answer{on(exitNo, help[*hookfile.RefusedError])} }

// hookFailure is a hook that was left alone, which says so itself, or a folder that is in no clone.
func hookFailure(doing string, err error) error {
	if refused, is := errors.AsType[*hookfile.RefusedError](err); is {
		return &failure{err: refused, hint: cmp.Or(refused.Hint, "label-state "+doing+" --help")}
	}
	return &failure{doing: doing, err: err, hint: "run it inside a clone, or for all clones: label-state " + doing + " --global"}
}
