package process

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// here is the machine, its boot and the namespace of process numbers; empty when they cannot be
// read. A machine without an id, as a container may be, is "-".
func here() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}

	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}

	machine, _ := os.ReadFile("/etc/machine-id")
	return machineID(string(machine)) + "/" + strings.TrimSpace(string(boot)) + "/" + space
}

const unnamed = "-"

// machineID is the id in a file's text, if that is one word.
func machineID(text string) string {
	words := strings.Fields(text)
	if len(words) != 1 || strings.Contains(words[0], "/") {
		return unnamed
	}
	return words[0]
}

// rebooted reports whether this is the machine of that place, started again since.
func rebooted(was, now string) bool {
	machine, rest, _ := strings.Cut(was, "/")
	here, restNow, _ := strings.Cut(now, "/")
	boot, _, _ := strings.Cut(rest, "/")
	bootNow, _, _ := strings.Cut(restNow, "/")
	return machine != unnamed && machine == here && boot != bootNow
}

// look reads one process.
func look(pid int) (p Process, above int, ok bool) {
	now, err := read(pid)
	p.Name, p.Start, p.Terminal = now.name, now.start, now.first
	return p, now.above, err == nil
}

// ended reports whether the number is no longer anybody's, or another process's.
func ended(p ID) bool {
	now, err := read(p.PID)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return now.start != p.Start || now.over
}

// A stat is what /proc/PID/stat says of a process.
type stat struct {
	name, start string
	above       int
	first       bool // it leads a session that has a terminal
	over        bool // it has ended, and nobody has asked how
}

// read reads /proc/PID/stat.
func read(pid int) (stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	return parse(string(text))
}

var errStat = errors.New("not as proc(5) says")

// parse reads the text of /proc/PID/stat. The name is in parentheses and may have any character.
func parse(text string) (stat, error) {
	pid, rest, _ := strings.Cut(text, " (")
	to := strings.LastIndexByte(rest, ')')
	if to < 0 {
		return stat{}, errStat
	}

	// The fields after the name: state is the third of all, the parent the fourth, the session the
	// sixth, the terminal the seventh, the start the 22nd.
	words := strings.Fields(rest[to+1:])
	if len(words) < 20 {
		return stat{}, errStat
	}

	above, err := strconv.Atoi(words[1])
	return stat{
		name:  rest[:to],
		start: words[19],
		above: above,
		first: words[3] == pid && words[4] != "0",
		over:  words[0] == "Z" || words[0] == "X",
	}, err
}
