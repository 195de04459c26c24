package local

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/agentsetup"
	"github.com/label-state/label-state/internal/cli"
)

// placeParams say for whom a host is set up.
type placeParams struct {
	Host    string `arg:"HOST" only:"claude-code,codex,gemini,cursor,copilot,opencode"`
	User    bool   `flag:"user" text:"for every repository of yours, in your home folder"`
	Project bool   `flag:"project" text:"for everybody who works in this repository, in files to commit (default)"`
	Yes     bool   `flag:"yes,y" text:"do not ask"`
	DryRun  bool   `flag:"dry-run" text:"look and report, write nothing"`
	cli.Answering
}

type eventParams struct {
	Host    string `arg:"HOST" only:"claude-code,codex,gemini,cursor,copilot,opencode,..."`
	Ended   bool   `flag:"ended" text:"the session is over: release the holds under which nothing was done (its last event starts this itself)"`
	Expired bool   `flag:"expired" text:"claim the session's expired holds again (an event starts this itself)"`
}

// Agent are the verbs about hosts of coding agents.
func Agent() []cli.Verb {
	return []cli.Verb{
		{Name: "agent", Summary: "let an agent's host renew, guard and end its holds"},
		cli.Do(cli.Verb{
			Name:     "agent install",
			Summary:  "write the host's hooks and skill, and register the MCP server",
			About:    "Shows what it will write and asks. Your settings and hooks stay; uninstall puts every file back as it was.",
			Examples: "label-state agent install claude-code\nlabel-state agent install codex --user --yes\n",
		}, setHost(agentsetup.Place.Install, agentsetup.Place.Carry, afterInstall)),
		cli.Do(cli.Verb{
			Name:     "agent status",
			Summary:  "which hosts are here and set up; exit 1 when one lacks something",
			Examples: "label-state agent status --json\n",
		}, showHosts),
		cli.Do(cli.Verb{
			Name:     "agent uninstall",
			Summary:  "remove the host's hooks, skill and MCP server",
			About:    "A file that was not edited since is restored byte for byte. From an edited file only our lines are removed.",
			Examples: "label-state agent uninstall claude-code\n",
		}, setHost(agentsetup.Place.Uninstall, agentsetup.Place.TakeBack, func(agenthost.Host) string { return "" })),
		cli.Do(cli.Verb{
			Name:    "agent event",
			Summary: "answer one event of a host; its hooks call it",
			About: "Reads the host's JSON on standard input and answers in the host's own form. It renews what is due, denies a tool call " +
				"under a lost hold and a push under one that is not known to be valid, and allows everything else. The exit code is 0 for every event.",
			Examples: "label-state agent event claude-code <event.json\n",
		}, answerEvent),
	}
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
