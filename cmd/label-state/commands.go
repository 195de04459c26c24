package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"
)

// commands are all verbs, in the order of the help.
func commands(t terminal) []*cli.Command {
	return []*cli.Command{
		demoCommand(t),
		simCommand(t),
		initCommand(t),
		nextCommand(t),
		workCommand(t),
		runCommand(t),
		claimCommand(t),
		renewCommand(t),
		pushCommand(t),
		releaseCommand(t),
		advanceCommand(t),
		planCommand(t),
		approveCommand(t),
		rejectCommand(t),
		dedupCommand(t),
		statusCommand(t),
		bundleCommand(t),
		worktreeCommand(t),
		chainCommand(t),
		logCommand(t),
		boardCommand(t),
		statsCommand(t),
		sweepCommand(t),
		reconcileCommand(t),
		repoCommand(t),
		labelsCommand(t),
		migrateCommand(t),
		doctorCommand(t),
		hookCommand(t),
		mcpCommand(t),
		completionCommand(t),
		manCommand(t),
		versionCommand(t),
		helpCommand(t),
	}
}

// A versionView is the JSON of version.
type versionView struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func versionCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"}},
		Action: func(cc *cli.Context) error {
			c := &call{Context: cc, terminal: t}
			v := versionView{cc.App.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return c.answer(v, fmt.Sprintf("label-state %s (%s, %s)\n", v.Version, v.Go, v.System))
		},
	}
}
