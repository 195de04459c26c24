// Package process tells which programs have started this one, and whether a program that was seen
// earlier is still there.
package process

import (
	"fmt"
	"iter"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// An ID is one process. The zero value is none.
type ID struct {
	PID   int
	Start string // when it was started, in the system's own units
	Place string // where PID means this process: the machine, its boot and the namespace
}

// IsZero reports whether p is no process.
func (p ID) IsZero() bool { return p == ID{} }

// MarshalText returns the process in one line.
func (p ID) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d %s %s", p.PID, p.Start, p.Place), nil
}

// UnmarshalText reads what MarshalText wrote. What it did not write is the zero ID.
func (p *ID) UnmarshalText(text []byte) error {
	*p = ID{}
	words := strings.Fields(string(text))
	if len(words) != 3 {
		return nil
	}

	if pid, err := strconv.Atoi(words[0]); err == nil && pid > 0 {
		*p = ID{PID: pid, Start: words[1], Place: words[2]}
	}

	return nil
}

// A Process is one that is running.
type Process struct {
	ID
	Name     string // of its program, without folders
	Terminal bool   // it is the first one of its terminal, and so what opened the terminal is above it
}

// Running looks at the processes of this machine.
type Running struct{}

// Above returns the processes above this one, the nearest first, as far as they can be seen: none
// on a system that this package does not know.
func (Running) Above() iter.Seq[Process] {
	return func(yield func(Process) bool) {
		if place := here(); place != "" {
			climb(os.Getppid(), place, look, yield)
		}
	}
}

// climb yields a process and those above it, but for the first of all, which has started no program
// on its own account.
func climb(pid int, place string, look func(int) (p Process, above int, ok bool), yield func(Process) bool) {
	for pid > 1 {
		p, above, ok := look(pid)
		p.ID = ID{pid, p.Start, place}
		if !ok || !yield(p) {
			return
		}
		pid = above
	}
}

// Gone reports whether the process has ended. What cannot be found out is false: about another
// machine or container, or a system that this package does not know.
func (Running) Gone(p ID) bool { return gone(p, here()) }

// gone is Gone, seen from a place; the empty one is none.
func gone(p ID, now string) bool {
	switch {
	case now == "":
		return false
	case p.Place != now:
		return rebooted(p.Place, now)
	}
	return ended(p)
}

// Starter returns the program that had a shell start this one: the nearest of those above that is
// no shell. It is zero when there is none, as in the shell of a terminal, where a person types:
// what opened that one opens others as well.
func Starter(above iter.Seq[Process]) ID {
	for p := range above {
		if !slices.Contains(shells(), path.Base(p.Name)) {
			return p.ID
		}
		if p.Terminal {
			break
		}
	}
	return ID{}
}

// shells are the names of programs that only start others, or take in those whose parent has ended.
func shells() []string {
	return []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "busybox", "timeout", "systemd"}
}
