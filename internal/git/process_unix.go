//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// apart gives git a session of its own: no terminal, so no questions, and no signals but ours. It
// is asked to stop before it is killed, because then it removes what it has half made.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return stop(cmd) }
}

// stop asks git to end.
func stop(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGTERM) }
