package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/setup"
	urfave "github.com/urfave/cli/v2"
)

// NewHookCommand makes the command hook.
func NewHookCommand(t cli.Terminal) *urfave.Command {
	global := &urfave.BoolFlag{Name: "global", Usage: "every repository of this user, by core.hooksPath"}
	force := &urfave.BoolFlag{Name: "force", Usage: "replace a shim that somebody edited"}
	json := &urfave.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"}
	return &urfave.Command{
		Name: "hook", Usage: "the pre-push hook of this clone",
		Subcommands: []*urfave.Command{
			{
				Name: "install", Usage: "guard this clone's pushes",
				Description: "Another tool's hook that is there already keeps running, behind ours.\n\n   label-state hook install\n   label-state hook install --global",
				Flags:       []urfave.Flag{global, force, json, &urfave.StringFlag{Name: "hook", Usage: "`FILE` of the compiled hook (default: beside label-state, else looked up on PATH at each push)"}},
				Action:      onHook(t, hookfile.Install),
			},
			{
				Name: "uninstall", Usage: "take it away again; another tool's hook is put back as it was",
				Description: "   label-state hook uninstall",
				Flags:       []urfave.Flag{global, json, &urfave.BoolFlag{Name: "force", Usage: "also a shim that somebody edited"}}, Action: onHook(t, hookfile.Uninstall),
			},
			{
				Name: "status", Usage: "what git finds; exit 1 when pushes are not checked, or all refused",
				Description: "   label-state hook status --json",
				Flags:       []urfave.Flag{global, json}, Action: func(cc *urfave.Context) error { return runHookStatus(t, cc) },
			},
		},
	}
}

// A HookView is the JSON of the hook's state.
type HookView struct {
	File      string `json:"file"`
	Kind      string `json:"kind"`
	Installed bool   `json:"installed"`
	Change    string `json:"change,omitempty"`
	Hook      string `json:"hook,omitempty"`
	Chained   string `json:"chained,omitempty"`
	Global    bool   `json:"global,omitempty"`
	Manager   string `json:"manager,omitempty"`
	Script    string `json:"script,omitempty"`

	PullRequests bool `json:"pull_requests,omitempty"`
}

func viewHook(s hookfile.State, change hookfile.Change) HookView {
	return HookView{s.File, string(s.Kind), s.Installed(), string(change), s.Hook, s.Kept, s.Global, s.Manager, s.Script, false}
}

func hookOptions(t cli.Terminal, cc *urfave.Context) (hookfile.Options, error) {
	o := hookfile.Options{Git: t.Env.Git(), Global: cc.Bool("global"), Force: cc.Bool("force"), Hook: cc.String("hook")}
	if cc.Args().Present() {
		return o, cli.Usagef("hook "+cc.Command.Name, "hook %s takes no arguments", cc.Command.Name)
	}
	if o.Global {
		home, err := t.Env.StateDir()
		if err != nil {
			return o, err
		}
		o.Home = home
	}
	if o.Hook == "" && cc.Command.Name == "install" {
		o.Hook = compiledHook()
	}
	if o.Hook != "" && !filepath.IsAbs(o.Hook) {
		o.Hook = filepath.Join(t.Env.Dir, o.Hook)
	}
	return o, nil
}

// compiledHook is the hook installed beside this program; empty when there is none.
func compiledHook() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return hookBeside(self)
}

// hookBeside is the path of the hook beside a program, also where PATH has it: a push from another program may have another PATH. Where PATH
// leads to the same file, as by a package's links, it is the path there, which the next version keeps.
func hookBeside(self string) string {
	for _, name := range []string{"label-state-pre-push", "pre-push"} {
		beside := cli.Binary(filepath.Dir(self), name)
		file, err := os.Stat(beside)
		if err != nil {
			continue
		}
		onPath, err := exec.LookPath(name)
		if err != nil || !filepath.IsAbs(onPath) {
			return beside
		}
		if other, err := os.Stat(onPath); err == nil && os.SameFile(file, other) {
			return onPath
		}
		return beside
	}
	return ""
}

func onHook(t cli.Terminal, do func(context.Context, hookfile.Options) (hookfile.State, hookfile.Change, error)) urfave.ActionFunc {
	return func(cc *urfave.Context) error {
		o, err := hookOptions(t, cc)
		if err != nil {
			return err
		}
		s, change, err := do(cc.Context, o)
		if err != nil {
			return hookFailure("hook "+cc.Command.Name, err)
		}
		c := &cli.Call{Flags: cc, Terminal: t}
		if err := c.Answer(viewHook(s, change), fmt.Sprintf("%s: %s\n", change, s.File)); err != nil {
			return err
		}
		if cc.Command.Name == "install" && s.Hook == "" && !s.Brings {
			if _, err := exec.LookPath("label-state-pre-push"); err != nil {
				cli.Warnf(t.Err, "label-state-pre-push is not on PATH; until it is, pushes are not checked (docs/hook.md says how to build it; --hook FILE names it)")
			}
		}
		return nil
	}
}

func runHookStatus(t cli.Terminal, cc *urfave.Context) error {
	o, err := hookOptions(t, cc)
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
	view := viewHook(s, "")
	if view.PullRequests = s.Installed() && !o.Global && checksPulls(cc.Context, t); view.PullRequests {
		text += "also refuses a push to a pull request that somebody else holds (hook.pull_requests)\n"
	}
	c := &cli.Call{Flags: cc, Terminal: t}
	if err := c.Answer(view, text); err != nil {
		return err
	}
	missing := missingProgram(s)
	switch {
	case s.Installed() && missing != "" && s.Bare:
		return &cli.Failure{Doing: "hook status", Err: &cli.NoAnswer{Text: "the program is missing, and every push from here is refused: " + missing}, Hint: cmp.Or(mendScript(s), OnPath(compiledHook()))}
	case s.Installed() && missing != "":
		return &cli.Failure{Doing: "hook status", Err: &cli.NoAnswer{Text: "the program is missing, and pushes from here are not checked: " + missing}, Hint: OnPath(compiledHook())}
	case s.Bare && s.Script != "":
		cli.Warnf(t.Err, "on a machine without label-state-pre-push %s refuses every push; %s", s.Script, mendScript(s))
	}
	if !s.Installed() {
		return &cli.Failure{Doing: "hook status", Err: &cli.NoAnswer{Text: "pushes from here are not guarded"}, Hint: cmp.Or(s.Hint, "label-state hook install")}
	}
	return nil
}

// checksPulls reports whether hook.pull_requests is on, as far as this machine knows: in the caller's own configuration, else in the one
// that is checked out.
func checksPulls(ctx context.Context, t cli.Terminal) bool {
	if own, err := t.Env.Own(setup.Options{}); err == nil && own.Has("hook.pull_requests") {
		return own.Hook.PullRequests
	}
	top, err := t.Env.Git().Ask(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return false
	}
	conf, _, err := setup.Checkout(top)
	return err == nil && conf.Hook.PullRequests
}

// hookFailure is a hook that was left alone, which says so itself, or a folder that is in no clone.
func hookFailure(doing string, err error) error {
	if refused, is := errors.AsType[*hookfile.RefusedError](err); is {
		return &cli.Failure{Err: refused, Hint: cmp.Or(refused.Hint, "label-state "+doing+" --help")}
	}
	if _, strange := errors.AsType[*git.EmbeddedError](err); strange {
		return &cli.Failure{Doing: doing, Err: err}
	}
	return &cli.Failure{Doing: doing, Err: err, Hint: "run it inside a clone, or for all clones: label-state " + doing + " --global"}
}
