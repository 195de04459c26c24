package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/worktree"
)

// TestAftermath: whoever runs out of time is told what was undone, as one who is interrupted is.
func TestAftermath(t *testing.T) {
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	interrupted, stop := context.WithCancel(t.Context())
	stop()

	for _, ctx := range []context.Context{late, interrupted} {
		c := cli.Call{Shared: cli.Shared{Common: cli.Common{Timeout: time.Second}}}
		err := c.Timed(ctx, &worktree.UndoneError{Cause: ctx.Err()})
		if !strings.HasSuffix(err.Error(), "; everything was undone") {
			t.Errorf("%v: %v", ctx.Err(), err)
		}
	}
}
