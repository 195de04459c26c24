package process_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/process"
)

// role is the variable by which the test program is a child: it prints the process that had a shell
// start it; or a host: it has a shell start such a child, and waits for the end of its input.
const role = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "child":
		_, _ = os.Stdout.WriteString(written(process.Starter(process.Running{}.Above())) + "\n")
	case "host":
		cmd := shell(os.Args[0], "child")
		cmd.Stdout = os.Stdout
		if cmd.Run() == nil {
			_, _ = io.ReadAll(os.Stdin)
		}
	default:
		os.Exit(m.Run())
	}
}

// shell has a shell start the test program, as hosts have it start hooks.
func shell(program, as string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", `true; "$0"; true`, program)
	cmd.Env = append(os.Environ(), role+"="+as)
	return cmd
}

func needsKnownSystem(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("processes of", runtime.GOOS, "are not looked at")
	}
}

// TestStarter: a program that a shell has started finds the program that had the shell start it,
// and none where a person types.
func TestStarter(t *testing.T) {
	needsKnownSystem(t)

	out, err := shell(os.Args[0], "child").Output()
	if err != nil {
		t.Fatal(err)
	}

	got := read(string(out))
	if got.PID != os.Getpid() {
		t.Errorf("started by %v, want %d", got, os.Getpid())
	}

	if (process.Running{}).Gone(got) {
		t.Error("this process is gone")
	}

	tmux := process.Process{ID: process.ID{PID: 2}, Name: "tmux"}
	for _, terminal := range []bool{false, true} {
		bash := process.Process{ID: process.ID{PID: 3}, Name: "bash", Terminal: terminal}
		got := process.Starter(slices.Values([]process.Process{bash, tmux}))
		if got.IsZero() != terminal {
			t.Errorf("started by %v; in a terminal's shell: %t", got, terminal)
		}
	}
}

// TestGone: a process that was killed is gone, on Linux also before its parent has asked how it
// ended, and so is one whose number another process has. Of another namespace nothing is
// known.
func TestGone(t *testing.T) {
	needsKnownSystem(t)

	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), role+"=host")
	in, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	defer in.Close()
	said, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	running, it := process.Running{}, read(line)
	if it.PID != host.Process.Pid || running.Gone(it) {
		t.Fatalf("the host is %v, want %d; gone: %t", it, host.Process.Pid, running.Gone(it))
	}

	other := it
	other.Start = "1"
	if !running.Gone(other) {
		t.Error("a process whose number another one has is not gone")
	}

	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	for end := time.Now().Add(20 * time.Second); runtime.GOOS == "linux" &&
		!running.Gone(it); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a killed process is not gone before it was waited for")
		}
	}

	_ = host.Wait() // it was killed
	if !running.Gone(it) {
		t.Error("a killed process is not gone")
	}

	for _, place := range []string{"another", "-/boot/pid:[1]", "machine/boot/pid:[1]"} {
		elsewhere := it
		elsewhere.Place = place
		if running.Gone(elsewhere) || running.Gone(process.ID{}) {
			t.Error("a process of another place, or none, is gone")
		}
	}
}

// written is the process as files have it.
func written(p process.ID) string {
	text, _ := p.MarshalText() // it never fails
	return string(text)
}

// read is the process that a text says, with what surrounds it.
func read(text string) (p process.ID) {
	_ = p.UnmarshalText([]byte(text)) // what is none is the zero ID
	return p
}

// TestText: what is written is read back, and nothing else is.
func TestText(t *testing.T) {
	for _, p := range []process.ID{{}, {PID: 1, Start: "12", Place: "boot/pid:[1]"}} {
		if got := read(written(p)); got != p {
			t.Errorf("%q is read as %v", written(p), got)
		}
	}

	for _, text := range []string{"7", "7 12", "x 12 boot", "99999999999999999999 12 boot", "0 12 boot", "-1 12 boot", "7 12 boot more"} {
		if got := read(text); !got.IsZero() {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
