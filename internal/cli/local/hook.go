package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/pushcheck"
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
				Name:        "install",
				Usage:       "guard this clone's pushes",
				Description: "Another tool's hook that is there already keeps running, behind ours.\n\n   label-state hook install\n   label-state hook install --global",
				Flags: []urfave.Flag{
					global, force, json,
					&urfave.StringFlag{
						Name:  "hook",
						Usage: "`FILE` of the program that the hook runs (default: this label-state, or label-state-pre-push beside it)",
					},
				},
				Action: onHook(t, hookfile.Install),
			},
			{
				Name:        "uninstall",
				Usage:       "take it away again; another tool's hook is put back as it was",
				Description: "   label-state hook uninstall",
				Flags: []urfave.Flag{
					global, json,
					&urfave.BoolFlag{Name: "force", Usage: "also a shim that somebody edited"},
				},
				Action: onHook(t, hookfile.Uninstall),
			},
			{
				Name:        "status",
				Usage:       "what git finds; exit 1 when pushes are not checked, or all refused",
				Description: "   label-state hook status --json",
				Flags:       []urfave.Flag{global, json},
				Action:      func(cc *urfave.Context) error { return runHookStatus(t, cc) },
			},
			{
				Name:      "pre-push",
				Usage:     "answer git's pre-push hook; the installed hook runs it",
				ArgsUsage: "REMOTE URL",
				Description: "Reads what git writes to a pre-push hook and exits 1 when the push closes an issue that somebody else holds. " +
					"Where label-state-pre-push is installed, the hook runs that, which starts faster and answers the same.\n\n" +
					"   label-state hook pre-push origin https://github.com/acme/app.git </dev/null",
				Flags: []urfave.Flag{&urfave.BoolFlag{
					Name:  strings.TrimLeft(pushcheck.TryFlag, "-"),
					Usage: "answer with JSON what a push would meet; needs no input",
				}},
				Action: func(cc *urfave.Context) error { return playHook(t, cc) },
			},
		},
	}
}

// playHook answers git in place of the programs of the hook.
func playHook(t cli.Terminal, cc *urfave.Context) error {
	env := t.Env
	env.Stores, env.Services = nil, nil // the hook asks no lease service (docs/hook.md)
	env.Waiting = nil                   // and has a time of its own

	args := cc.Args().Slice()
	if name := strings.TrimLeft(pushcheck.TryFlag, "-"); cc.Bool(name) {
		args = append([]string{pushcheck.TryFlag}, args...)
	}

	h := pushcheck.Hook{
		Args:    args,
		Stdin:   t.In,
		Stdout:  t.Out,
		Stderr:  t.Err,
		Env:     env,
		Start:   time.Now(),
		Version: cc.App.Version,
	}
	code := h.Run(cc.Context)
	if cc.Context.Err() != nil { // a signal: nobody has decided that the push may go
		code = answer.ExitNo
	}

	if code == 0 {
		return nil
	}

	return &cli.ExitStatus{Code: code}
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
	Scope     string `json:"scope,omitempty"`
	Manager   string `json:"manager,omitempty"`
	Script    string `json:"script,omitempty"`

	Pushes string `json:"pushes,omitempty"`
	Why    string `json:"why,omitempty"`

	PullRequests bool `json:"pull_requests,omitempty"`
}

func viewHook(s hookfile.State, change hookfile.Change) HookView {
	return HookView{
		File:      s.File,
		Kind:      string(s.Kind),
		Installed: s.Installed(),
		Change:    string(change),
		Hook:      s.Hook,
		Chained:   s.Kept,
		Global:    s.Global,
		Scope:     s.Scope,
		Manager:   s.Manager,
		Script:    s.Script,
	}
}

func hookOptions(t cli.Terminal, cc *urfave.Context) (hookfile.Options, error) {
	o := hookfile.Options{
		Git:    t.Env.Git(),
		Global: cc.Bool("global"),
		Force:  cc.Bool("force"),
		Hook:   cc.String("hook"),
	}

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
		o.Hook = ownHook(t)
	}

	if o.Hook != "" && !filepath.IsAbs(o.Hook) {
		o.Hook = filepath.Join(t.Env.Dir, o.Hook)
	}

	return o, nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}

// onHook is the action of install and uninstall.
func onHook(t cli.Terminal, do func(context.Context,
	hookfile.Options) (hookfile.State, hookfile.Change, error),
) urfave.ActionFunc {
	return func(cc *urfave.Context) error {
		c := &cli.Call{Flags: cc, Terminal: t}
		o, err := hookOptions(t, cc)
		if err != nil {
			return failHook(c, err)
		}

		s, change, err := do(cc.Context, o)
		if err != nil {
			return failHook(c, hookFailure("hook "+cc.Command.Name, err))
		}

		view, text := viewHook(s, change), fmt.Sprintf("%s: %s\n", change, s.File)+everybody(s)
		if cc.Command.Name != "install" {
			return c.Answer(view, text)
		}

		trial := tryHook(cc.Context, t, s, cc.String("hook"))
		view.Pushes, view.Why = trial.pushes, cli.OneLine(trial.why)
		if trial.pushes != pushesUnchecked {
			return c.Answer(view, text+trial.text()+"\n")
		}
		if err := c.Answer(view, text); err != nil {
			return err
		}

		cli.Warnf(t.Err, "%s", strings.TrimSuffix(trial.text()+"; "+trial.remedy, "; "))
		return nil
	}
}

// everybody says that the folder of the hook serves more than this clone; empty where it does not.
func everybody(s hookfile.State) string {
	switch {
	case s.Kind == hookfile.Absent || !s.Everybody():
		return ""
	case s.Scope == "system":
		return "core.hooksPath of this machine leads to one folder: the hook serves every repository of everybody here\n"
	}

	return "your core.hooksPath leads to one folder: the hook serves all your repositories\n"
}

// failHook is a failure of a command about the hook. With --json the negative answer is printed.
func failHook(c *cli.Call, err error) error {
	p := cli.ProblemOf(err)
	return errors.Join(p, c.AnswerJSON(c.Negative(p)))
}

func runHookStatus(t cli.Terminal, cc *urfave.Context) error {
	c := &cli.Call{Flags: cc, Terminal: t}
	o, err := hookOptions(t, cc)
	if err != nil {
		return failHook(c, err)
	}

	s, err := hookfile.Status(cc.Context, o)
	if err != nil {
		return failHook(c, hookFailure("hook status", err))
	}

	program, found := s.Program(t.Env.Find)
	view := viewHook(s, "")
	view.PullRequests = s.Installed() && !o.Global && checksPulls(cc.Context, t)
	if err := c.Answer(view, hookText(s, program, view.PullRequests)); err != nil {
		return err
	}

	no := func(text, hint string) error {
		return cli.At("hook status", "", cli.Declined(text, answer.Advice(hint)))
	}

	switch missing := s.Installed() && !s.Brings && !found; {
	case missing && s.Bare:
		return no("the program is missing, and every push from here is refused: "+missingName(s),
			cmp.Or(mendScript(s), installAgain(t, s)))
	case missing:
		return no("the program is missing, and pushes from here are not checked: "+missingName(s), installAgain(t, s))
	case !s.Installed() && s.Moved != "":
		return no("pushes from here are not guarded: lefthook has put label-state's hook out of use, as "+s.Moved,
			cmp.Or(s.Hint, "label-state init"))
	case !s.Installed():
		return no("pushes from here are not guarded", cmp.Or(s.Hint, "label-state hook install"))
	}

	if s.Bare && s.Script != "" {
		cli.Warnf(t.Err, "on a machine without the program %s refuses every push; %s", s.Script, mendScript(s))
	}

	if s.Lefthook != nil {
		cli.Warnf(t.Err, "%s; label-state init", lefthookLater)
	}

	return nil
}

// lefthookLater is what is wrong where our hook is in a place that lefthook may take.
const lefthookLater = "lefthook does not run label-state's hook: it puts the hook out of use as soon as its configuration has anything for pre-push"

// hookText is what there is in the place of the hook, and what runs from there.
func hookText(s hookfile.State, program string, pulls bool) string {
	text := fmt.Sprintf("%s: %s\n", s.Kind, s.File) + everybody(s)
	if s.Kind == hookfile.Delegated {
		text += runBy(s) + "\n"
	}

	switch {
	case !s.Installed():
	case program != "":
		text += "runs " + program + "\n"
	case s.Hook != "":
		text += "runs " + s.Hook + "\n"
	}

	if s.Kept != "" {
		text += "then " + s.Kept + "\n"
	}

	if pulls {
		text += "also refuses a push to a pull request that somebody else holds (hook.pull_requests)\n"
	}

	return text
}

// checksPulls reports whether hook.pull_requests is on, as far as this machine knows: in the
// caller's own configuration, else in the one that is checked out.
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
		if refused.Hint == "" {
			return cli.Advise(refused, answer.Call("", doing, "--help"))
		}
		return cli.Advise(refused, answer.Advice(refused.Hint))
	}
	if _, strange := errors.AsType[*git.EmbeddedError](err); strange {
		return cli.At(doing, "", err)
	}

	return cli.At(doing, "", cli.Advise(err,
		answer.Call("run it inside a clone, or for all clones", doing, "--global")))
}
