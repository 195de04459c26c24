// Command label-state keeps two workers from doing the same issue: it claims, renews and releases
// issues, shows who holds them, sweeps dead claims and installs the pre-push hook.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/label-state/label-state/internal/cli/app"
	"github.com/label-state/label-state/internal/lease/services"
	"github.com/label-state/label-state/internal/setup"
)

// version is set by the linker for releases; see setup.Version.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	env := setup.OS()
	env.Stores = services.Openers()
	code := app.Run(ctx, os.Args, version, os.Stdin, os.Stdout, os.Stderr, env)
	stop()
	os.Exit(code)
}
