package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/pushcheck"
	"github.com/label-state/label-state/internal/setup"
)

type hookStatusParams struct {
	Global bool `flag:"global" text:"every repository of this user, by core.hooksPath"`
	cli.Answering
}

type hookUninstallParams struct {
	Force bool `flag:"force" text:"also a shim that somebody edited"`
	hookStatusParams
}

type hookInstallParams struct {
	File string `flag:"hook" value:"FILE" text:"program that the hook runs (default: this label-state, or label-state-pre-push beside it)"`
	hookUninstallParams
}

type playParams struct {
	Remote string `arg:"[REMOTE]" text:"its name; git gives both, and only pre-commit neither"`
	URL    string `arg:"[URL]" text:"its address"`
	Try    bool   `flag:"try" text:"answer with JSON what a push would meet; needs no input"`
}

// Hook are the verbs about the pre-push hook.
func Hook() []cli.Verb {
	return []cli.Verb{
		{Name: "hook", Summary: "the pre-push hook of this clone"},
		cli.Do(cli.Verb{
			Name:    "hook install",
			Summary: "guard this clone's pushes",
			About: "An existing hook of another tool still runs, after ours. To see first what would change in a clone: " +
				"label-state init --dry-run",
			Examples: "label-state hook install\nlabel-state hook install --global\n",
		}, addHook),
		cli.Do(cli.Verb{
			Name:     "hook uninstall",
			Summary:  "remove it; another tool's hook is restored",
			Examples: "label-state hook uninstall\n",
		}, removeHook),
		cli.Do(cli.Verb{
			Name:     "hook status",
			Summary:  "which hook git finds; exit 1 when pushes are not checked, or all refused",
			About:    "It runs the hook once, with a push that closes an issue which no repository has.",
			Examples: "label-state hook status --json\n",
		}, showHook),
		cli.Do(cli.Verb{
			Name:    "hook pre-push",
			Summary: "answer git's pre-push hook; the installed hook runs it",
			About: "Reads what git writes to a pre-push hook and exits 1 when the push closes an issue that somebody else holds. " +
				"Where label-state-pre-push is installed, the hook runs that, which starts faster and answers the same.",
			Examples: "label-state hook pre-push origin https://github.com/acme/app.git </dev/null\n",
		}, playHook),
	}
}

// playHook answers git in place of the programs of the hook.
func playHook(ctx context.Context, c *cli.Call, p *playParams) error {
	t, env := c.Terminal, c.Env
	env.Stores, env.Services = nil, nil // the hook asks no lease service (docs/hook.md)
	env.Waiting = nil                   // and has a time of its own

	args := slices.DeleteFunc([]string{p.Remote, p.URL}, func(s string) bool { return s == "" })
	h := pushcheck.Hook{
		Args:    args,
		Stdin:   t.In,
		Stdout:  t.Out,
		Stderr:  t.Err,
		Env:     env,
		Start:   time.Now(),
		Version: t.Build.Version,
	}
	if !h.Called() && !env.SkipDedup() {
		return c.Usagef("expected REMOTE URL, got %s", printable.Count(len(args), "argument", "arguments"))
	}

	if p.Try {
		h.Args = append([]string{pushcheck.TryFlag}, args...)
	}

	code := h.Run(ctx)
	if ctx.Err() != nil { // a signal: nobody has decided that the push may go
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

	cli.Negative
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

func hookOptions(t cli.Terminal, global bool) (o hookfile.Options, err error) {
	o = hookfile.Options{Git: t.Env.Git(), Global: global}
	if global {
		o.Home, err = t.Env.StateDir()
	}
	return o, err
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

func addHook(ctx context.Context, c *cli.Call, p *hookInstallParams) error {
	o, err := hookOptions(c.Terminal, p.Global)
	if err != nil {
		return err
	}

	o.Force, o.Hook = p.Force, cmp.Or(chosenHook(c, p.File), ownHook(c.Terminal))
	if err := checkChosen(ctx, c, o, p.File); err != nil {
		return verbFailure(c.Terminal, c.Verb.Name, err)
	}
	s, change, err := hookfile.Install(ctx, o)
	if err != nil {
		return verbFailure(c.Terminal, c.Verb.Name, err)
	}

	word, file, commit := string(change), s.File, ""
	switch {
	case change == hookfile.Nothing:
		word = "unchanged"
	case change == hookfile.Configured:
		file = "git config label-state.hook " + s.Setting
	case s.Manager == "husky" && change == hookfile.Installed:
		file, commit = s.Script, "commit it: husky runs it in every clone\n"
	}

	trial := tryHook(ctx, c.Terminal, s, p.File)
	view, text := viewHook(s, change), fmt.Sprintf("%s: %s\n", word, file)+commit+everybody(s)
	view.Pushes, view.Why = trial.pushes, cli.OneLine(trial.why)
	if trial.pushes != pushesUnchecked {
		return c.Answer(view, text+trial.text()+"\n")
	}
	if err := c.Answer(view, text); err != nil {
		return err
	}

	c.Warnf("%s", strings.TrimSuffix(trial.text()+"; "+trial.remedy, "; "))
	return nil
}

func removeHook(ctx context.Context, c *cli.Call, p *hookUninstallParams) error {
	o, err := hookOptions(c.Terminal, p.Global)
	if err != nil {
		return err
	}

	o.Force = p.Force
	s, change, err := hookfile.Uninstall(ctx, o)
	switch {
	case err != nil:
		return verbFailure(c.Terminal, c.Verb.Name, err)
	case s.Kind == hookfile.Delegated:
		return cli.Declined(fmt.Sprintf("%s runs label-state's hook from %s, which is the repository's file", s.Manager, s.Script),
			answer.Advice("remove label-state's lines there"))
	}

	return c.Answer(viewHook(s, change), fmt.Sprintf("%s: %s\n", change, s.File)+everybody(s))
}

// everybody says that the folder of the hook serves more than this clone; empty where it does not.
func everybody(s hookfile.State) string {
	switch {
	case s.Kind == hookfile.Absent || !s.Everybody():
		return ""
	case s.Scope == "system":
		return "core.hooksPath of this machine names one folder: the hook serves every repository of every user\n"
	}

	return "your core.hooksPath names one folder: the hook serves all your repositories\n"
}

func showHook(ctx context.Context, c *cli.Call, p *hookStatusParams) error {
	t := c.Terminal
	o, err := hookOptions(t, p.Global)
	if err != nil {
		return err
	}

	s, err := hookfile.Status(ctx, o)
	if err != nil {
		return verbFailure(t, c.Verb.Name, err)
	}

	program, _ := s.Program(t.Env.Find)
	view := viewHook(s, "")
	view.PullRequests = s.Installed() && !o.Global && checksPulls(ctx, t)
	text := hookText(s, program, view.PullRequests)
	trial := tryHook(ctx, t, s, "")
	view.Pushes, view.Why = trial.pushes, cli.OneLine(trial.why)
	if trial.pushes != pushesUnchecked {
		text += trial.text() + "\n"
	}

	fault := faultOf(t, s, trial, o.Global)
	if fault.text != "" && !fault.later {
		problem := cli.Declined(fault.text, answer.Advice(fault.remedy))
		return c.Decline(problem, text, &view)
	}

	if err := c.Answer(view, text); err != nil {
		return err
	}
	if fault.later {
		t.Warnf("%s; %s", fault.text, fault.remedy)
	}

	return nil
}

// lefthookLater is what is wrong where our hook is in a place that lefthook may take.
const lefthookLater = "lefthook does not run label-state's hook: it disables the hook as soon as its " +
	"configuration has anything for pre-push"

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

// verbFailure is the failure of a verb about hooks, which may run outside of every clone.
func verbFailure(t cli.Terminal, doing string, err error) error {
	_, none := git.Find(t.Env.Dir, t.Env.Getenv("GIT_DIR"))
	if git.Code(err) == 0 || !errors.Is(none, git.ErrNone) {
		return hookFailure(doing, err)
	}

	return &answer.Problem{
		Code:  answer.Usage,
		Doing: doing,
		Why:   t.Env.Dir + " is not in a git clone",
		Next:  []answer.Command{insideClone(doing)},
	}
}

// insideClone is where a verb about hooks is to be run.
func insideClone(doing string) answer.Command {
	return answer.Call("run it inside a clone, or for all clones", doing, "--global")
}

// hookFailure is a hook that was left alone, which says so itself, or a repository that git cannot
// read.
func hookFailure(doing string, err error) error {
	if refused, is := errors.AsType[*hookfile.RefusedError](err); is {
		next := answer.Advice(refused.Hint)
		if refused.Hint == "" {
			next = answer.Call("", doing, "--help")
		}

		return &answer.Problem{
			Doing:  refused.Verb,
			Object: refused.File,
			Why:    refused.Reason,
			Next:   []answer.Command{next},
			Cause:  refused,
		}
	}
	if _, strange := errors.AsType[*git.EmbeddedError](err); strange {
		return cli.At(doing, "", err)
	}
	if e, is := errors.AsType[*git.Error](err); is {
		return cli.At(doing, "", cli.Advise(err, setup.AskGit(e)))
	}

	return cli.At(doing, "", cli.Advise(err, insideClone(doing)))
}
