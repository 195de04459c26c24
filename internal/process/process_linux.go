package process

import (
	"bytes"
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

	machine, err := os.ReadFile("/etc/machine-id")
	id := strings.TrimSpace(string(machine))
	if err != nil || id == "" || strings.ContainsAny(id, " /\n") {
		id = unnamed
	}

	return id + "/" + strings.TrimSpace(string(boot)) + "/" + space
}

const unnamed = "-"

// rebooted reports whether this is the machine of that place, started again since.
func rebooted(was, now string) bool {
	machine, rest, _ := strings.Cut(was, "/")
	here, restNow, _ := strings.Cut(now, "/")
	boot, _, _ := strings.Cut(rest, "/")
	bootNow, _, _ := strings.Cut(restNow, "/")
	return machine != unnamed && machine == here && boot != bootNow
}

// look reads one process.
func look(pid int) (name, start string, above int, ok bool) {
	name, state, start, above, err := stat(pid)
	return name, start, above, err == nil && state != "Z" && state != "X"
}

// ended reports whether the number is no longer anybody's, or another process's.
func ended(p ID) bool {
	_, state, start, _, err := stat(p.PID)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return start != p.Start || state == "Z" || state == "X" // nobody has asked how a zombie ended
}

var errStat = errors.New("not as proc(5) says")

// stat reads /proc/PID/stat. The name is in parentheses and may have any character.
func stat(pid int) (name, state, start string, above int, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", "", "", 0, err
	}

	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return "", "", "", 0, errStat
	}

	// The fields after the name: state is the third of all, the parent the fourth, the start the
	// 22nd.
	words := strings.Fields(string(text[to+1:]))
	if len(words) < 20 {
		return "", "", "", 0, errStat
	}

	above, err = strconv.Atoi(words[1])
	return string(text[from+1 : to]), words[0], words[19], above, err
}
