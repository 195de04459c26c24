package cli

import "syscall"

// dieTogether has the command killed when this program dies.
func dieTogether(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
