package local

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/agentsetup"
	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// NewAgentCommand makes the command agent.
func NewAgentCommand(t cli.Terminal) *urfave.Command {
	json := &urfave.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"}
	return &urfave.Command{
		Name: "agent", Usage: "let an agent's host renew, guard and end its holds",
		Subcommands: []*urfave.Command{
			{
				Name:      "install",
				Usage:     "write the host's hooks and skill, and register the MCP server",
				ArgsUsage: "HOST",
				Description: "HOST is one of " + hostNames() +
					". Shows what it will write and asks. Settings and hooks of yours stay; " +
					"uninstall puts every file back as it was.\n\n" +
					"   label-state agent install claude-code\n   label-state agent install codex --user --yes",
				Flags: append(placeFlags(), &urfave.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
					cli.DryRunFlag(), json),
				Action: setHost(t, agentsetup.Place.Install, agentsetup.Place.Carry, afterInstall),
			},
			{
				Name:        "status",
				Usage:       "which hosts are here and set up; exit 1 when one lacks something",
				Description: "   label-state agent status --json",
				Flags: []urfave.Flag{
					json,
					&urfave.DurationFlag{Name: "timeout", Usage: "give up after this long, such as 30s"},
				},
				Action: func(cc *urfave.Context) error { return runAgentStatus(t, cc) },
			},
			{
				Name:      "uninstall",
				Usage:     "take the host's hooks, skill and MCP server away again",
				ArgsUsage: "HOST",
				Description: "A file that nobody has touched since becomes what it was, byte for byte; of one that was edited only what is ours goes.\n\n" +
					"   label-state agent uninstall claude-code",
				Flags: append(placeFlags(), &urfave.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
					cli.DryRunFlag(), json),
				Action: setHost(t, agentsetup.Place.Uninstall, agentsetup.Place.TakeBack,
					func(agenthost.Host) string { return "" }),
			},
			{
				Name:      "event",
				Usage:     "answer one event of a host; its hooks call it",
				ArgsUsage: "HOST",
				Description: "Reads the host's JSON on standard input and answers in the host's own form. It renews what is due, denies a tool call " +
					"under a hold that is lost, a push without a hold that stands, and lets everything else go on: the exit code is 0, whatever happens.\n\n" +
					"   label-state agent event claude-code <event.json",
				Flags: []urfave.Flag{
					&urfave.BoolFlag{
						Name:  "ended",
						Usage: "the session is over: release the holds under which nothing was done (its last event starts this itself)",
					},
					&urfave.BoolFlag{
						Name:  "expired",
						Usage: "claim the session's expired holds again (an event starts this itself)",
					},
				},
				Action: func(cc *urfave.Context) error { return runAgentEvent(t, cc) },
			},
		},
	}
}

func hostNames() string {
	var names []string
	for _, h := range agenthost.Hosts() {
		names = append(names, string(h))
	}
	return strings.Join(names, ", ")
}

// detach has a part of an event done by a process of its own, which outlives the host: a host waits
// about a second for the end of a session, and an edit is not to wait for a claim.
func detach(host string, part Part, event []byte) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}

	r, w, err := os.Pipe()
	if err != nil {
		return err
	}

	defer r.Close()
	defer w.Close()
	cmd := exec.Command(program, "agent", "event", "--"+string(part), host)
	cmd.Args[0], cmd.Stdin = os.Args[0], r
	cli.Alone(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	if _, err := w.Write(event); err != nil {
		return err
	}

	return cmd.Process.Release()
}
