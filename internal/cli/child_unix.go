//go:build unix

package cli

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// forwarded are the signals that are passed on to a running command.
var forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
	syscall.SIGUSR2,
}

// watchdog is a shell's program that kills its process group when its standard input ends without a
// word.
const watchdog = `trap "" HUP INT QUIT TERM USR1 USR2; read -r word; [ "$word" = ended ] || kill -KILL 0`

// apart gives the command a process group of its own, so that what it starts is stopped with it,
// also when this program is killed: the group is that of a watchdog, which waits for the end of a
// pipe from here. On a terminal the command stays in our group, because another could not read from
// it, and nothing is watched. What apart returns ends the watch.
func apart(cmd *exec.Cmd, terminal bool) (end func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !terminal}
	dieTogether(cmd.SysProcAttr)
	if terminal {
		return func() {}
	}

	dog := exec.Command("/bin/sh", "-c", watchdog)
	dog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	leash, err := dog.StdinPipe()
	if err == nil {
		err = dog.Start()
	}

	if err != nil { // without a shell there is no watch
		return func() {}
	}
	cmd.SysProcAttr.Pgid = dog.Process.Pid

	return func() {
		_, _ = io.WriteString(leash, "ended\n") // a watchdog that is gone kills nothing
		_ = leash.Close()
		_ = dog.Wait()
	}
}

// Alone lets the command live on when the group that started it ends.
func Alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// tell signals the command and all of its group. A command on a terminal has got an interrupt
// already; one that has ended is not a problem.
func tell(cmd *exec.Cmd, s os.Signal) {
	n, ok := s.(syscall.Signal)
	switch group := cmd.SysProcAttr.Setpgid; {
	case !ok || n == syscall.SIGINT && !group:
	case group:
		_ = syscall.Kill(-cmp.Or(cmd.SysProcAttr.Pgid, cmd.Process.Pid), n) // the group may be gone
	default:
		_ = cmd.Process.Signal(n) // the command may be gone
	}
}

// codeOf is the exit code as a shell has it: 128 and the number of a signal that ended it.
func codeOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
