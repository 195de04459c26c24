//go:build !unix

package cli

import (
	"os"
	"os/exec"
)

// forwarded are the signals that are passed on to a running command.
func forwarded() []os.Signal { return []os.Signal{os.Interrupt} }

// apart does nothing: there are no process groups.
func apart(*exec.Cmd, bool) (end func()) { return func() {} }

// Alone does nothing: there are no groups.
func Alone(*exec.Cmd) {}

// tell passes a signal on, where the system can.
func tell(cmd *exec.Cmd, s os.Signal) { _ = cmd.Process.Signal(s) }

// terminate does nothing: there is no signal that asks; kill follows.
func terminate(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func codeOf(s *os.ProcessState) int { return s.ExitCode() }
