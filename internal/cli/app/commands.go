// Package app composes the program label-state from its families of verbs.
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
)

// Run executes one command line, args with the program's name first, and returns the exit code
// (cli.md#exit-codes).
func Run(ctx context.Context, args []string, build setup.Build, in io.Reader, out, errOut io.Writer,
	env setup.Environment,
) int {
	return cli.Run(ctx, args, cli.Terminal{
		In:    in,
		Out:   out,
		Err:   errOut,
		Env:   env,
		Build: build,
		Verbs: Verbs(),
	})
}

// Verbs are all verbs, by family, in the order of the help.
func Verbs() []cli.Verb {
	one := func(verbs ...cli.Verb) []cli.Verb { return verbs }
	return slices.Concat(
		family("hold", one(hold.Claim(), hold.Renew(), hold.Release(), hold.Run(), hold.Push(), hold.Status(),
			hold.DedupCheck(), hold.Log())),
		family("queue", one(queue.Next(), queue.Plan(), queue.Approve(), queue.Reject(), queue.Advance())),
		family("feature", feature.Bundle(), feature.Worktree(), feature.Chain()),
		family("operate", one(operate.Board(), operate.Stats(), operate.SweepClaims(), operate.Reconcile()),
			operate.Repo(), operate.Labels()),
		family("local", one(local.Init(), local.Doctor()), local.Hook(), local.Agent(),
			one(local.MCP(), local.Completion(), local.Man(), local.Version(), cli.Help())),
		family("try", one(try.Demo(), try.Sim())),
	)
}

// family puts verbs under a name, by which the help lists them.
func family(name string, groups ...[]cli.Verb) []cli.Verb {
	all := slices.Concat(groups...)
	for n := range all {
		all[n].Group = name
	}
	return all
}
