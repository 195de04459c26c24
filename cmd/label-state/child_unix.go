//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// forwarded are the signals that are passed on to a running command.
func forwarded() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
}

// apart gives the command a process group of its own, so that what it starts is stopped with it. On
// a terminal it stays in ours: another group could not read from it.
func apart(cmd *exec.Cmd, terminal bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !terminal}
}

// tell passes a signal on. On a terminal the command has got it already.
func tell(cmd *exec.Cmd, s os.Signal) {
	n, ok := s.(syscall.Signal)
	if !ok || n == syscall.SIGINT && !cmd.SysProcAttr.Setpgid {
		return
	}
	send(cmd, n)
}

func terminate(cmd *exec.Cmd) { send(cmd, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { send(cmd, syscall.SIGKILL) }

// send signals the command and all of its group. One that has ended is no trouble.
func send(cmd *exec.Cmd, s syscall.Signal) {
	if cmd.SysProcAttr.Setpgid {
		_ = syscall.Kill(-cmd.Process.Pid, s) // the group may be gone
		return
	}
	_ = cmd.Process.Signal(s) // the command may be gone
}

// codeOf is the exit code as a shell has it: 128 and the number of a signal that ended it.
func codeOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
