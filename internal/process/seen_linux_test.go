package process

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestPlace: only of a machine with an id is it known that it was started again, and from nowhere
// nothing is. Number 0 is nobody's.
func TestPlace(t *testing.T) {
	const now = "machine/boot/pid:[1]"
	for _, c := range []struct {
		was, now string
		want     bool
	}{
		{"machine/earlier/pid:[1]", now, true},
		{"machine/boot/pid:[2]", now, false},
		{"other/earlier/pid:[1]", now, false},
		{"another", now, false},
		{"-/earlier/pid:[1]", "-/boot/pid:[1]", false},
		{now, now, true},
		{"", now, false},
		{"", "", false},
	} {
		if gone(ID{Place: c.was}, c.now) != c.want {
			t.Errorf("%q, and now %q: want %t", c.was, c.now, c.want)
		}
	}

	for text, want := range map[string]string{
		"0123abcd\n": "0123abcd", "": "-", "\n": "-", "two words": "-", "a/b": "-",
	} {
		if got := machineID(text); got != want {
			t.Errorf("the machine of %q is %s, want %s", text, got, want)
		}
	}
}

// TestStat: what proc(5) says of a process, and nothing of a text that is none.
func TestStat(t *testing.T) {
	line := func(name, state, above string, zeros int) string {
		return "7 (" + name + ") " + state + " " + above + strings.Repeat(" 0", zeros) + " 99"
	}
	session := func(leader, terminal string) string {
		return "7 (sh) S 3 7 " + leader + " " + terminal + strings.Repeat(" 0", 14) + " 99"
	}
	for text, want := range map[string]stat{
		line("sh", "S", "3", 17):            {"sh", "99", 3, false, false},
		line("a) S 1 (b", "S", "3", 17):     {"a) S 1 (b", "99", 3, false, false},
		line("", "R", "3", 17):              {"", "99", 3, false, false},
		line("sh", "Z", "3", 17):            {"sh", "99", 3, false, true},
		line("sh", "X", "3", 17):            {"sh", "99", 3, false, true},
		line("sh", "S", "3", 17) + " 98 97": {"sh", "99", 3, false, false},
		session("7", "34816"):               {"sh", "99", 3, true, false},
		session("6", "34816"):               {"sh", "99", 3, false, false},
		session("7", "0"):                   {"sh", "99", 3, false, false},
		line("sh", "S", "3", 16):            {},
		line("sh", "S", "x", 17):            {name: "sh", start: "99"},
		"7 sh) S 3":                         {},
		"7 (sh S 3":                         {},
		"":                                  {},
	} {
		got, err := parse(text)
		if got != want || (err == nil) != (want.above > 0) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// TestClimb: up to the first process of all, or to one that is not to be seen.
func TestClimb(t *testing.T) {
	for _, c := range []struct {
		from, last int
		want       string
	}{
		{9, 0, "9 5 2 "},
		{9, 5, "9 5 "},
		{3, 0, ""},
		{1, 0, ""},
	} {
		got := ""
		look := func(pid int) (p Process, above int, ok bool) {
			above, ok = map[int]int{9: 5, 5: 2, 2: 1, 1: 0}[pid]
			return Process{}, above, ok
		}

		climb(c.from, "here", look, func(p Process) bool {
			got += fmt.Sprint(p.PID, " ")
			return p.PID != c.last
		})
		if got != c.want {
			t.Errorf("above %d: %s, want %s", c.from, got, c.want)
		}
	}

	if _, _, ok := look(0); ok {
		t.Error("there is a process 0")
	}
}

// TestUnread: a process that cannot be looked at, here for want of a file number, is not known to
// have ended.
func TestUnread(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: was.Max}); err != nil {
		t.Fatal(err)
	}

	over := ended(ID{PID: os.Getpid(), Start: "1"})
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil || over {
		t.Errorf("ended: %t, %v", over, err)
	}
}
