package local

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/mcp"
)

type mcpParams struct {
	Codename string        `flag:"codename" value:"NAME" text:"name of workers that do not say theirs (default: LABEL_STATE_CODENAME)"`
	Toolsets []string      `flag:"toolset" value:"SET" text:"tools to offer, several with commas (default: core,work)" only:"core,work,plan,bundle,chain,all" split:","`
	Operator bool          `flag:"operator" text:"also offer what ends other people's work: pause, resume, force_release, approve, reject"`
	Approver bool          `flag:"approver" text:"of these, offer approve and reject"`
	Repo     string        `flag:"repo,R" value:"OWNER/NAME" text:"repository (default: this clone's)"`
	Config   string        `flag:"config" value:"FILE" text:"configuration (default: .github/label-state.yml of the repository)"`
	PerCall  time.Duration `flag:"timeout" text:"give up a call after this long (default: 2m)"`
}

// MCP serves the verbs as tools.
func MCP() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "mcp",
		Summary: "the same verbs as tools for coding agents (MCP)",
		About: "Speaks the Model Context Protocol until standard input ends. A client starts it in the clone that its agent works in: " +
			"claims are recorded for that worktree, so that the hook knows the agent.",
		Examples: "label-state mcp --codename lucius\nlabel-state mcp --codename lucius --repo acme/app --toolset core,work,plan\nlabel-state mcp --operator\n",
	}, serveMCP)
}

func serveMCP(ctx context.Context, c *cli.Call, p *mcpParams) error {
	var sets []cli.Toolset // none are the server's default
	for _, name := range p.Toolsets {
		if name == "all" {
			sets = append(sets, cli.Toolsets()...)
		} else {
			sets = append(sets, cli.Toolset(name))
		}
	}

	t := c.Terminal
	if p.Repo != "" {
		if err := t.Env.CheckRepo(ctx, p.Repo); err != nil {
			return err
		}
	}

	if outside, err := os.MkdirTemp("", "label-state-"); err == nil { // else nothing is remembered outside of a clone
		defer os.RemoveAll(outside)
		t.Env.Outside = outside
	}

	server, err := mcp.New(mcp.Options{
		Terminal: t,
		Toolsets: sets,
		Operator: p.Operator,
		Approver: p.Approver,
		Codename: cmp.Or(p.Codename, t.Env.Identity().Codename, t.Env.HostName()),
		Repo:     p.Repo,
		Config:   p.Config,
		Timeout:  p.PerCall,
	})
	if err == nil {
		err = mcp.Serve(ctx, server, t.In, t.Out)
	}

	if err != nil {
		return cli.Advise(fmt.Errorf("talk to the client: %w", err),
			answer.Advice("start it from a client: docs/mcp.md"))
	}

	return nil
}
