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
func look(pid int) (p Process, above int, ok bool) {
	const first = 0x01 | 0x02 // EPROC_CTTY and EPROC_SLEADER of <sys/sysctl.h>: it has a terminal, and leads its session
	now, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(now.Proc.P_pid) != pid {
		return Process{}, 0, false
	}

	at := now.Proc.P_starttime
	p.Start, p.Name = fmt.Sprintf("%d.%06d", at.Sec, at.Usec), unix.ByteSliceToString(now.Proc.P_comm[:])
	p.Terminal = now.Eproc.Flag&first == first
	return p, int(now.Eproc.Ppid), true
}

// ended reports whether the number is no longer anybody's, or another process's.
func ended(p ID) bool {
	if errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
		return true
	}
	now, _, ok := look(p.PID)
	return ok && now.Start != p.Start
}
