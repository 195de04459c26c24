//go:build !unix

package worktree

import "os/exec"

// apart has nothing to do where there are no sessions.
func apart(*exec.Cmd) {}
