package local

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/label-state/label-state/internal/cli"
)

// TestFileFailure: the hint is about the file where that is wrong, and about the machine where it
// did not allow what was tried.
func TestFileFailure(t *testing.T) {
	for _, c := range []struct {
		cause error
		want  string
	}{
		{errors.New("it is not valid JSON"), "fix that file, then run"},
		{syscall.ENOSPC, "check the permissions and the free space there, then run"},
		{syscall.EACCES, "check the permissions and the free space there, then run"},
	} {
		term := cli.Terminal{Typed: strings.Fields("label-state agent install")}
		got := term.Hint(fileFailure(fmt.Errorf("/home/me/settings.json: %w", c.cause)))
		if got != c.want+": label-state agent install" {
			t.Errorf("%v: %s", c.cause, got)
		}
	}
}
