// Package app composes the program label-state from its families of commands.
package app

import (
	"context"
	"io"
	"slices"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/feature"
	"github.com/label-state/label-state/internal/cli/hold"
	"github.com/label-state/label-state/internal/cli/local"
	"github.com/label-state/label-state/internal/cli/operate"
	"github.com/label-state/label-state/internal/cli/queue"
	"github.com/label-state/label-state/internal/cli/try"
	"github.com/label-state/label-state/internal/setup"
	urfave "github.com/urfave/cli/v2"
)

// Run executes one command line, args with the program's name first, and returns the exit code
// (cli.md#exit-codes).
func Run(ctx context.Context, args []string, build setup.Build, in io.Reader, out, errOut io.Writer,
	env setup.Environment,
) int {
	return cli.Run(ctx, args, cli.Terminal{
		In:       in,
		Out:      out,
		Err:      errOut,
		Env:      env,
		Build:    build,
		Commands: commands,
	})
}

// commands are all verbs, by family, in the order of the help.
func commands(t cli.Terminal) []*urfave.Command {
	return slices.Concat(
		family("hold",
			hold.NewClaimCommand(t), hold.NewRenewCommand(t), hold.NewReleaseCommand(t), hold.NewRunCommand(t),
			hold.NewPushCommand(t),
			hold.NewStatusCommand(t), hold.NewDedupCommand(t), hold.NewLogCommand(t)),
		family("queue",
			queue.NewNextCommand(t), queue.NewPlanCommand(t), queue.NewApproveCommand(t), queue.NewRejectCommand(t),
			queue.NewAdvanceCommand(t)),
		family("feature", feature.NewBundleCommand(t), feature.NewWorktreeCommand(t), feature.NewChainCommand(t)),
		family("operate",
			operate.NewBoardCommand(t), operate.NewStatsCommand(t), operate.NewSweepCommand(t),
			operate.NewReconcileCommand(t),
			operate.NewRepoCommand(t), operate.NewLabelsCommand(t)),
		family("local",
			local.NewInitCommand(t), local.NewDoctorCommand(t), local.NewHookCommand(t), local.NewAgentCommand(t),
			local.NewMCPCommand(t),
			local.NewCompletionCommand(t), local.NewManCommand(t), local.NewVersionCommand(t), cli.NewHelpCommand(t)),
		family("try", try.NewDemoCommand(t), try.NewSimCommand(t)),
	)
}

// family puts commands under a name, by which the help lists them.
func family(name string, commands ...*urfave.Command) []*urfave.Command {
	for _, c := range commands {
		c.Category = name
	}
	return commands
}
