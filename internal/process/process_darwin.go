package process

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// here is the boot; empty when it cannot be read.
func here() string {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(boot)
}

// rebooted is not found out here: nothing names the machine.
func rebooted(was, now string) bool { return false }

// look reads one process.
func look(pid int) (name, start string, above int, ok bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return "", "", 0, false
	}
	at := p.Proc.P_starttime
	return unix.ByteSliceToString(p.Proc.P_comm[:]), fmt.Sprintf("%d.%06d", at.Sec, at.Usec), int(p.Eproc.Ppid), true
}

// ended reports whether the number is no longer anybody's, or another process's.
func ended(p ID) bool {
	if errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
		return true
	}
	_, start, _, ok := look(p.PID)
	return ok && start != p.Start
}
