package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/label-state/label-state/internal/mcp"
	"github.com/label-state/label-state/internal/work"
)

func mcpCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "mcp", Usage: "the same verbs as tools for coding agents (MCP)",
		Description: "Speaks the Model Context Protocol until standard input ends. A client starts it in the clone that its agent works in: " +
			"claims are recorded for that work tree, so that the hook knows the agent.\n\n" +
			"   label-state mcp --codename lucius\n   label-state mcp --codename lucius --repo acme/app --operator",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "codename", Usage: "`NAME` of workers that do not say theirs (default: LABEL_STATE_CODENAME)"},
			&cli.BoolFlag{Name: "operator", Usage: "also offer what ends other people's work: pause, resume, force-release, approve, reject"},
			&cli.BoolFlag{Name: "approver", Usage: "of these, offer approve and reject"},
			&cli.StringFlag{Name: "repo", Aliases: []string{"R"}, Usage: "repository `OWNER/NAME` (default: this clone's)"},
			&cli.StringFlag{Name: "config", Usage: "configuration `FILE` (default: .github/label-state.yml of the repository)"},
			&cli.DurationFlag{Name: "timeout", Usage: "give up a call after this long (default: 2m)"},
		},
		Action: t.serveTools,
	}
}

func (t terminal) serveTools(cc *cli.Context) error {
	if cc.Args().Present() {
		return wrong("mcp", "mcp takes no arguments")
	}
	if cc.IsSet("timeout") && cc.Duration("timeout") <= 0 {
		return wrong("mcp", "--timeout %s: want more than nothing, such as 1m", cc.Duration("timeout"))
	}
	server, err := mcp.New(mcp.Options{
		Version: cc.App.Version, Program: t.program, Views: toolViews(), Operator: cc.Bool("operator"), Approver: cc.Bool("approver"),
		Codename: cmp.Or(cc.String("codename"), t.env.Identity().Codename), Repo: cc.String("repo"), Config: cc.String("config"),
		Timeout: cmp.Or(cc.Duration("timeout"), mcp.DefaultTimeout),
	})
	if err == nil {
		err = mcp.Serve(cc.Context, server, t.in, t.out)
	}
	if err != nil {
		return &failure{doing: "mcp", err: fmt.Errorf("talk to the client: %w", err), hint: "start it from a client: docs/mcp.md"}
	}
	return nil
}

func toolViews() mcp.Views {
	return mcp.Views{
		Reply: reply{}, Hold: holding{}, Move: move{}, Taken: itemView{}, Done: workDone{}, Status: statusView{},
		Entry: entryView{}, Item: work.Item{}, Pause: pauseView{},
		Plan: planView{}, Bundle: bundleView{}, Chain: chainView{}, Card: cardView{},
	}
}

// program runs a command line with streams of its own, and nobody to ask.
func (t terminal) program(ctx context.Context, words []string, input string) mcp.Outcome {
	var out, said stream
	t.in, t.out, t.err, t.env.Stderr = strings.NewReader(input), &out, &said, &said
	err := execute(ctx, append([]string{"label-state"}, words...), t)
	o := mcp.Outcome{Code: exitCode(err), Notes: said.lines()}
	for _, line := range out.lines() {
		o.Objects = append(o.Objects, json.RawMessage(line))
	}
	if err != nil {
		o.Problem, o.Hint = oneLine(strings.Join(problems(err), "; ")), oneLine(hintFor(err))
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
