// Command pre-push-check is the second stage of the hook, as a program of its own: package
// pushcheck. The first stage, pre-push, runs it for the pushes that may finish something at all. It
// starts faster than label-state, which does the same ("label-state hook pre-push").
package main

import (
	"context"
	"os"
	"time"

	"github.com/label-state/label-state/internal/pushcheck"
	"github.com/label-state/label-state/internal/setup"
)

// version is set by the linker for releases; see setup.Built.
var version = "dev"

func main() {
	start := time.Now()
	env := setup.OS()
	h := pushcheck.Hook{
		Args:    os.Args[1:],
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  env.Logged(os.Stderr),
		Env:     env,
		Start:   start,
		Version: setup.Built(setup.Build{Version: version}).Version,
	}
	os.Exit(h.Run(context.Background()))
}
