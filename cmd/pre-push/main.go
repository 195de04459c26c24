// Command pre-push is the hook that git runs before a push (githooks(5)): it stops a push that
// finishes someone else's work.
//
// It is the first of two stages. It reads the messages of the commits that leave. If none may close
// an issue, it exits, as for most pushes, unless a configuration file mentions hook.pull_requests.
// Otherwise, and whenever it is not sure, it hands over to the second stage, the program
// pre-push-check, which decides from the same arguments and input, and from the commits that the
// first stage read.
//
// The first stage is linked with as little as that takes, because starting is what costs. It reads
// no token, sends no request, and does not understand a configuration.
package main

import (
	"context"
	"os"
	"time"
)

func main() {
	args := os.Args[1:]
	if len(args) > 1 && args[0] == "hook" && args[1] == "pre-push" { // as scripts call label-state, too
		args = args[2:]
	}

	s := stage{args: args, environ: os.Environ(), start: time.Now()}
	if s.quiet(context.Background()) {
		return
	}
	os.Exit(s.handOver())
}
