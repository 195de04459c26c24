// Command pre-push is the hook that git runs before a push (githooks(5)): it stops a push that finishes someone else's
// work.
//
// It is the first of two stages. It reads the messages of the commits that leave, and when none of them may close an issue,
// as is so for most pushes, that was all, unless a configuration file speaks of hook.pull_requests. Else, and whenever it is not sure, it hands everything over to the second stage,
// the program pre-push-check, which makes up its own mind from the same arguments and input and the commits that the first one read. The first stage is linked with
// as little as that takes, since it is the time to start that costs; it never reads a token or the network, nor understands a configuration.
package main

import (
	"context"
	"os"
	"time"
)

func main() {
	s := stage{args: os.Args[1:], environ: os.Environ(), start: time.Now()}
	if s.quiet(context.Background()) {
		return
	}
	os.Exit(s.handOver())
}
