//go:build !unix

package git

import "os/exec"

// apart has nothing to do where there are no sessions.
func apart(*exec.Cmd) {}

// stop ends git: there is no way to ask it.
func stop(cmd *exec.Cmd) error { return cmd.Process.Kill() }
