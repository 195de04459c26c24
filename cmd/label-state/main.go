// Command label-state keeps two workers from doing the same issue: it claims, renews and releases
// issues, shows who holds them, sweeps dead claims and installs the pre-push hook.
package main

import (
	"context"
	"os"
	"time"

	"github.com/label-state/label-state/internal/cli/app"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/redis"
	"github.com/label-state/label-state/internal/setup"
)

// The linker sets these for releases; see setup.Built.
var (
	version = "dev"
	commit  string
	date    string // of the commit, RFC 3339
)

func main() {
	ctx, stop := app.UntilSignal(context.Background())
	env := setup.OS()
	env.Stores = map[string]lease.Opener{lease.Redis: redis.Open}
	built, _ := time.Parse(time.RFC3339, date) // zero where there is none
	build := setup.Built(setup.Build{Version: version, Commit: commit, Date: built.UTC()})
	code := app.Run(ctx, os.Args, build, os.Stdin, os.Stdout, os.Stderr, env)
	stop()
	os.Exit(code)
}
