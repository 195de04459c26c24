package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/agentsetup"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

func placeOf(t cli.Terminal, user bool) (agentsetup.Place, error) {
	p := agentsetup.Place{User: user, Getenv: t.Env.Getenv}
	if !user {
		top, err := state.Top(t.Env.Dir)
		if err != nil {
			return p, cli.Advise(cli.Usagef("agent", "not in a git clone"),
				answer.Call("run it inside one, or for all your repositories", answer.Again, "--user"))
		}

		git, err := state.GitDir(top, "")
		p.Root, p.State = top, filepath.Join(git, "label-state")
		return p, err
	}

	p.Home = t.Env.UserHome()
	if p.Home == "" {
		return p, errors.New("find home folder: HOME is not set")
	}
	state, err := t.Env.StateDir()
	p.State = state

	return p, err
}

// An AgentFileView is the JSON of one file of a host.
type AgentFileView struct {
	Host string `json:"host"`
	File string `json:"file"`
	What string `json:"what"`
	Step string `json:"step"`
}

// setHost is agent install and agent uninstall: the steps are shown, agreed to and taken.
func setHost(
	plan func(agentsetup.Place, agenthost.Host) ([]agentsetup.Step, error),
	take func(agentsetup.Place, agenthost.Host, []agentsetup.Step) error,
	last func(agenthost.Host) string,
) cli.Action[placeParams] {
	return func(_ context.Context, c *cli.Call, params *placeParams) error {
		h := agenthost.Host(params.Host)
		if params.User && params.Project {
			return c.Usagef("--user and --project exclude each other")
		}

		p, err := placeOf(c.Terminal, params.User)
		if err != nil {
			return err
		}

		steps, err := plan(p, h)
		if err != nil {
			return fileFailure(err)
		}
		if err := agreeToHost(c, h, params, steps); err != nil || params.DryRun {
			return err
		}
		if err := take(p, h, steps); err != nil {
			return fileFailure(err)
		}

		return showHost(c, h, steps, last(h))
	}
}

// fileFailure is a file that is in the way, or that the system does not let us read or write.
func fileFailure(err error) error {
	next := answer.Call("fix that file, then run", answer.Again)
	if _, is := errors.AsType[syscall.Errno](err); is {
		next = answer.Call("check the permissions and the free space there, then run", answer.Again)
	}

	return &answer.Problem{
		Code:  answer.Machine,
		Next:  []answer.Command{next},
		Cause: err,
	}
}

// agreeToHost shows what would be done and asks, unless there is nothing to do or nobody wants to
// be asked.
func agreeToHost(c *cli.Call, h agenthost.Host, p *placeParams, steps []agentsetup.Step) error {
	todo := false
	text := string(h) + "\n"
	for _, s := range steps {
		todo = todo || s.Kind != agentsetup.Same && s.Kind != agentsetup.Theirs
		text += "  " + stepLine(c.Terminal, s)
	}

	switch {
	case p.DryRun:
		if err := c.Answer(nil, text+"nothing was done (--dry-run)\n"); err != nil || !c.JSON {
			return err
		}
		return showHost(c, h, steps, "")
	case !todo:
		return nil
	}

	command := "label-state " + c.Verb.Name + " " + string(h)
	if p.User {
		command += " --user"
	}

	return agree(c, p.Yes, command, "review it first, then confirm", func() string { return text })
}

// stepLine is what becomes of a file, and of one that stays why.
func stepLine(t cli.Terminal, s agentsetup.Step) string {
	return strings.TrimRight(fmt.Sprintf("%-6s %s %s  %s", s.Kind, s.What, shortPath(t, s.Path), s.Why), " ") + "\n"
}

// shortPath is a path as a person names it: from the working folder, where that is shorter.
func shortPath(t cli.Terminal, path string) string {
	if rel, err := filepath.Rel(t.Env.Dir, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}

func showHost(c *cli.Call, h agenthost.Host, steps []agentsetup.Step, last string) error {
	text := ""
	for _, s := range steps {
		if err := c.Answer(AgentFileView{string(h), s.Path, s.What, string(s.Kind)}, ""); err != nil {
			return err
		}
		text += stepLine(c.Terminal, s)
	}

	if last != "" {
		text += "next: " + last + "\n"
	}

	return c.Tell(nil, text)
}

// afterInstall says what a host wants before it runs hooks.
func afterInstall(h agenthost.Host) string {
	return cmp.Or(h.Profile().First, "start a new session of "+string(h)+"; hooks are read when it starts")
}

// An AgentView is the JSON of one host.
type AgentView struct {
	Host      string `json:"host"`
	Program   string `json:"program,omitempty"` // on the search path
	Version   string `json:"version,omitempty"` // as the program says it
	User      string `json:"user"`              // installed, off, partly, kept, no or unknown
	Project   string `json:"project,omitempty"` // empty outside a clone
	Untrusted int    `json:"untrusted,omitempty"`
	Missing   string `json:"missing,omitempty"`
	Problem   string `json:"problem,omitempty"` // why something is unknown
	Remark    string `json:"-"`                 // where something is kept
}

// showHosts is exit 1 where a host lacks something, and exit 3 where it could not be seen whether one
// does.
func showHosts(ctx context.Context, c *cli.Call, _ *cli.Here) error {
	rows := [][]string{{"HOST", "PROGRAM", "USER", "PROJECT", "MISSING"}}
	var views []AgentView
	lacking, used := "", false
	var unknown error
	for _, h := range agenthost.Hosts() {
		v, err := viewHost(ctx, c, h)
		unknown = cmp.Or(unknown, err)
		views = append(views, v)
		program := "not found"
		if v.Program != "" {
			program = cmp.Or(v.Version, "found")
		}

		rows = append(rows, []string{v.Host, program, v.User, v.Project, cmp.Or(v.Problem, v.Missing, v.Remark)})
		used = used || v.Program != "" || v.User != "no" || v.Project != "" && v.Project != "no"
		lacking = cmp.Or(lacking, v.Missing)
	}

	text := cli.Columns(rows)
	if !used {
		text += "set one up: label-state agent install HOST\n"
	}

	for _, v := range views {
		if err := c.Answer(v, ""); err != nil {
			return err
		}
	}

	if err := c.Answer(nil, text); err != nil {
		return err
	}

	switch {
	case unknown != nil:
		return unknown
	case lacking == "":
		return nil
	}

	return cli.Declined("not every host here is set up", answer.Advice(lacking))
}

// hostProgram is the host's program in an absolute folder of the search path; empty when there is
// none.
func hostProgram(t cli.Terminal, h agenthost.Host) string {
	names := h.Profile().Programs
	if names == nil {
		names = []string{string(h)}
	}

	for _, dir := range filepath.SplitList(t.Env.Getenv("PATH")) {
		for _, name := range names {
			file, err := exec.LookPath(filepath.Join(dir, name))
			if filepath.IsAbs(dir) && err == nil {
				return file
			}
		}
	}

	return ""
}

// versionTime is how long a host may take to say its version.
const versionTime = 5 * time.Second

var aVersion = regexp.MustCompile(`\d+(\.\d+)+[-+.\w]*`)

// viewHost looks at one host. With an error, of the first file that cannot be used or of a program
// that does not answer, the view is what else is known.
func viewHost(ctx context.Context, c *cli.Call, h agenthost.Host) (v AgentView, unknown error) {
	v = AgentView{Host: string(h), Program: hostProgram(c.Terminal, h)}
	if v.Program != "" {
		timed, cancel := context.WithTimeout(ctx, versionTime)
		defer cancel()
		out, err := c.Env.Run(timed,
			setup.Command{Name: v.Program, Args: []string{"--version"}, Dir: c.Env.Dir})
		if err == nil {
			v.Version = aVersion.FindString(string(out))
		}
	}

	var firstUser, firstHere string // what to do before it is installed for the user, and here
	var errHere error
	v.User, firstUser, unknown = setUp(c.Terminal, h, true)
	v.Project, firstHere, errHere = setUp(c.Terminal, h, false)
	unknown = cmp.Or(unknown, errHere)

	switch {
	case unknown != nil:
		v.Problem, unknown = unknown.Error(), fileFailure(unknown)
	case v.User == "off" || v.Project == "off":
		v.Missing = switchedOff(c.Terminal, h)
	case v.User == "partly":
		v.Missing = firstUser + "label-state agent install " + string(h) + " --user"
	case v.Project == "partly", v.User != "installed" && v.Project != "installed" && v.Program != "":
		v.Missing = firstHere + "label-state agent install " + string(h)
	case h == agenthost.Codex && v.Program != "" && (v.User == "installed" || v.Project == "installed"):
		var told bool
		v.Untrusted, told = untrusted(ctx, v.Program, c.Env.Dir)
		switch {
		case !told:
			v.Problem = "codex does not say whether it trusts the hooks; start it, and type /hooks"
			unknown = &answer.Problem{
				Code: answer.Machine,
				Why:  "codex does not say whether it trusts the hooks",
				Next: []answer.Command{answer.Advice("start it, and type /hooks")},
			}
		case v.Untrusted > 0:
			v.Missing = "start codex, type /hooks and trust the hooks of label-state"
		}
	}

	if v.User == "kept" {
		v.Remark = firstUser
	}
	if v.Project == "kept" {
		v.Remark = firstHere
	}

	return v, unknown
}

// setUp is how far a host is set up for the user, or here, and what to do before it is installed,
// or what is kept; no word is that there is no home, or no clone.
func setUp(t cli.Terminal, h agenthost.Host, user bool) (word, first string, unknown error) {
	p, err := placeOf(t, user)
	if err != nil {
		return "", "", nil
	}

	all, some, stays, err := p.Installed(h)
	switch {
	case err != nil:
		return "unknown", "", err
	case all && switchedOff(t, h) != "":
		return "off", "", nil
	case all:
		return "installed", "", nil
	case !some:
		return "no", "", nil
	}

	kept, err := p.Kept(h)
	switch {
	case err != nil:
		return "unknown", "", err
	case kept != "":
		const lines = "not installed; kept lines about label-state that somebody wrote or edited: "
		return "kept", lines + shortPath(t, kept), nil
	}

	if stays != "" {
		first = "move " + shortPath(t, stays) + " away, which somebody has edited, then: "
	}

	return "partly", first, nil
}

// switchedOff is how hooks that a file of the host's switches off run again; empty where none does.
func switchedOff(t cli.Terminal, h agenthost.Host) string {
	for _, user := range []bool{false, true} { // a clone has files of its own beside the user's
		if p, err := placeOf(t, user); err == nil {
			if file := p.SwitchedOff(h); file != "" {
				return "remove disableAllHooks from " + shortPath(t, file)
			}
			return ""
		}
	}

	return ""
}

// trustTime is how long Codex may take to say which hooks it trusts.
const trustTime = 10 * time.Second

// untrusted asks Codex how many of our hooks it leaves out because nobody has reviewed them. told is
// whether it has said so.
func untrusted(ctx context.Context, program, dir string) (n int, told bool) {
	ctx, cancel := context.WithTimeout(ctx, trustTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "app-server")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, false
	}

	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return 0, false
	}

	defer func() {
		cancel()
		_ = cmd.Wait() // it was ended
	}()
	ask := json.NewEncoder(in)
	type message map[string]any

	for _, m := range []message{
		{
			"id": 1, "method": "initialize",
			"params": message{"clientInfo": message{"name": "label-state", "version": "1"}},
		},
		{"method": "initialized"},
		{"id": 2, "method": "hooks/list", "params": message{"cwds": []string{dir}}},
	} {
		if ask.Encode(m) != nil {
			return 0, false
		}
	}

	var answer struct {
		ID     int
		Result *struct {
			Data []struct {
				Hooks []struct{ Command, TrustStatus string }
			}
		}
	}

	for lines := json.NewDecoder(out); answer.ID != 2; {
		if lines.Decode(&answer) != nil {
			return 0, false
		}
	}

	if answer.Result == nil { // an error
		return 0, false
	}

	for _, d := range answer.Result.Data {
		for _, k := range d.Hooks {
			if strings.Contains(k.Command, "label-state agent event") && k.TrustStatus != "trusted" {
				n++
			}
		}
	}

	return n, true
}

// hostSteps offers the hosts that are found on this machine and not set up: a person decides whose
// files are written.
func hostSteps(t cli.Terminal) []InitStep {
	var out []InitStep
	for _, h := range agenthost.Hosts() {
		program := hostProgram(t, h)
		if program == "" {
			continue
		}

		s := InitStep{Kind: "agent", Name: string(h), Status: stepKept}
		user, _, _ := setUp(t, h, true)
		here, _, _ := setUp(t, h, false)
		switch {
		case user == "off" || here == "off":
			s.Detail, s.Next = "its hooks are switched off", "switch the hooks of "+string(h)+" on: "+switchedOff(t, h)
		case user == "installed" || here == "installed":
			s.Status, s.Detail = stepThere, "its sessions keep their holds alive"
		default:
			s.Detail = "found here, not set up"
			s.Next = "have sessions of " + string(h) + " keep their holds alive: label-state agent install " + string(h)
		}

		out = append(out, s)
	}

	return out
}
