package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
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

// TestFoundOutInTime: an answer that was found out stays what it is, also when the time ends right after
// it; what was not is told as the time's or the signal's.
func TestFoundOutInTime(t *testing.T) {
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	interrupted, stop := context.WithCancel(t.Context())
	stop()

	for found, stays := range map[answer.Code]bool{
		answer.Held: true, answer.Usage: true, answer.NoWork: true, answer.Timeout: true, answer.Unread: false,
	} {
		for ctx, becomes := range map[context.Context]answer.Code{late: answer.Timeout, interrupted: answer.Interrupt} {
			c := cli.Call{Shared: cli.Shared{Common: cli.Common{Timeout: time.Second}}}
			if stays {
				becomes = found
			}

			err := c.Timed(ctx, &answer.Problem{Code: found, Why: "as it is"})
			if got := cli.ProblemOf(err).Code; got != becomes || strings.Contains(err.Error(), "as it is") != stays {
				t.Errorf("%s, %v: %s, %v; want %s", found, ctx.Err(), got, err, becomes)
			}
		}
	}
}
