//go:build !unix

package cli

import (
	"os"
	"os/exec"
)

// forwarded are the signals that are passed on to a running command.
var forwarded = []os.Signal{os.Interrupt}

// apart does nothing: there are no process groups.
func apart(*exec.Cmd, bool) (end func()) { return func() {} }

// Alone does nothing: there are no groups.
func Alone(*exec.Cmd) {}

// tell passes a signal on, where the system can; none but os.Kill may be what it knows.
func tell(cmd *exec.Cmd, s os.Signal) { _ = cmd.Process.Signal(s) }

func codeOf(s *os.ProcessState) int { return s.ExitCode() }
