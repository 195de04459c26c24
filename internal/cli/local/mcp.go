package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	urfave "github.com/urfave/cli/v2"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/mcp"
	"github.com/label-state/label-state/internal/setup"
)

// NewMCPCommand makes the command mcp.
func NewMCPCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:  "mcp",
		Usage: "the same verbs as tools for coding agents (MCP)",
		Description: "Speaks the Model Context Protocol until standard input ends. A client starts it in the clone that its agent works in: " +
			"claims are recorded for that worktree, so that the hook knows the agent.\n\n" +
			"   label-state mcp --codename lucius\n   label-state mcp --codename lucius --repo acme/app --toolset core,work,plan\n   label-state mcp --operator",
		Flags: []urfave.Flag{
			&urfave.StringFlag{
				Name:  "codename",
				Usage: "`NAME` of workers that do not say theirs (default: LABEL_STATE_CODENAME)",
			},
			&urfave.StringSliceFlag{
				Name:  "toolset",
				Usage: "offer the tools of `SET`: core, work, plan, bundle, chain or all; may be repeated, or several with commas (default: core,work)",
			},
			&urfave.BoolFlag{
				Name:  "operator",
				Usage: "also offer what ends other people's work: pause, resume, force_release, approve, reject",
			},
			&urfave.BoolFlag{Name: "approver", Usage: "of these, offer approve and reject"},
			&urfave.StringFlag{
				Name: "repo", Aliases: []string{"R"},
				Usage: "repository `OWNER/NAME` (default: this clone's)",
			},
			&urfave.StringFlag{
				Name:  "config",
				Usage: "configuration `FILE` (default: .github/label-state.yml of the repository)",
			},
			&urfave.DurationFlag{Name: "timeout", Usage: "give up a call after this long (default: 2m)"},
		},
		Action: func(cc *urfave.Context) error { return runMCP(t, cc) },
	}
}

func runMCP(t cli.Terminal, cc *urfave.Context) error {
	if cc.Args().Present() {
		return cli.Usagef("mcp", "mcp takes no arguments")
	}
	var sets []mcp.Toolset // none are the server's default
	for _, name := range cc.StringSlice("toolset") {
		set := mcp.Toolset(strings.TrimSpace(name))
		switch {
		case set == "all":
			sets = append(sets, mcp.Toolsets()...)
		case slices.Contains(mcp.Toolsets(), set):
			sets = append(sets, set)
		default:
			return cli.Usagef("mcp", "--toolset %q: want core, work, plan, bundle, chain or all", cli.OneLine(name))
		}
	}

	if outside, err := os.MkdirTemp("", "label-state-"); err == nil { // else nothing is remembered outside of a clone
		defer os.RemoveAll(outside)
		t.Env.Outside = outside
	}

	server, err := mcp.New(mcp.Options{
		Version: cc.App.Version,
		Program: func(ctx context.Context, words []string, input string) mcp.Outcome {
			return RunTool(ctx, t, words, input)
		},
		Toolsets: sets,
		Operator: cc.Bool("operator"),
		Approver: cc.Bool("approver"),
		Codename: cmp.Or(cc.String("codename"), t.Env.Identity().Codename, t.Env.HostName()),
		Repo:     cc.String("repo"),
		Config:   cc.String("config"),
		Timeout:  cmp.Or(cc.Duration("timeout"), mcp.DefaultTimeout),
	})

	if err == nil {
		err = mcp.Serve(cc.Context, server, t.In, t.Out)
	}

	if err != nil {
		return cli.At("mcp", "", cli.Advise(fmt.Errorf("talk to the client: %w", err),
			answer.Advice("start it from a client: docs/mcp.md")))
	}

	return nil
}

// RunTool runs a command line with streams of its own, and nobody to ask.
func RunTool(ctx context.Context, t cli.Terminal, words []string, input string) mcp.Outcome {
	var out, said stream
	t.In, t.Out, t.Err, t.Env.Stderr = strings.NewReader(input), &out, &said, &said
	t.Env.Server, t.Env.Waiting = true, setup.Waits(mcp.Progress(ctx))
	err := cli.Execute(ctx, append([]string{"label-state"}, words...), t)
	o := mcp.Outcome{Code: cli.ExitCode(err), Problem: cli.ProblemOf(err), Notes: said.lines()}
	for _, line := range out.lines() {
		o.Objects = append(o.Objects, json.RawMessage(line))
	}

	return o
}

// A stream keeps what several goroutines write.
type stream struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps p.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// lines are what was written, without the program's name.
func (s *stream) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for line := range strings.Lines(s.text.String()) {
		out = append(out, strings.TrimPrefix(strings.TrimRight(line, "\n"), "label-state: "))
	}

	return out
}
