package leasetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Program is a server that a test runs, kills and runs again with the same arguments.
type Program struct {
	t     testing.TB
	path  string
	args  []string
	ready func() error

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has ended
	out  lines
}

// Find returns where the program is. Without it the test skips with the reason, or fails where
// required, a list with commas, promises what.
func Find(t testing.TB, required, what, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	promised := slices.ContainsFunc(strings.Split(required, ","),
		func(s string) bool { return strings.TrimSpace(s) == what })
	switch {
	case err == nil:
	case promised:
		t.Fatalf("needs %s, which LABEL_STATE_REQUIRE promises: %v", program, err)
	default:
		t.Skipf("needs %s: %v", program, err)
	}

	return path
}

// New returns a server that is not started yet and ends with the test. ready says, by an error
// while it is not, when it answers.
func New(t testing.TB, ready func() error, path string, args ...string) *Program {
	t.Helper()
	p := &Program{
		t:     t,
		path:  path,
		args:  args,
		ready: ready,
	}
	t.Cleanup(p.Kill)

	return p
}

// Start returns a server that runs.
func Start(t testing.TB, ready func() error, path string, args ...string) *Program {
	t.Helper()
	p := New(t, ready, path, args...)
	p.Run()
	return p
}

// Run starts the server and waits until it is ready.
func (p *Program) Run() {
	p.Begin()
	p.Ready()
}

// Begin starts the server and does not wait.
func (p *Program) Begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.done = make(chan struct{})
	if err := p.cmd.Start(); err != nil {
		p.t.Errorf("start %s: %v", p.path, err)
		close(p.done)
		return
	}

	go func(cmd *exec.Cmd, done chan struct{}) {
		defer close(done)
		_ = cmd.Wait() // it is killed in the end
	}(p.cmd, p.done)
}

// Ready waits until the server is ready, and reports what it wrote when it does not become so.
func (p *Program) Ready() {
	deadline := time.Now().Add(patience)
	for {
		err := p.ready()
		if err == nil {
			return
		}

		p.mu.Lock()
		done := p.done
		p.mu.Unlock()
		ended := time.Now().After(deadline)
		select {
		case <-done:
			ended = true
		default:
		}

		if ended {
			p.t.Errorf("%s does not come up: %v\n%s", p.path, err, p.out.tail())
			return
		}

		time.Sleep(20 * time.Millisecond)
	}
}

// Kill ends the server as a power cut would: it has no time to write anything.
func (p *Program) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}

	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
}

// FreePorts returns loopback ports that nobody listens on. They are below those that systems give
// to connections and to listeners that ask for any: a server that a test kills and runs again would
// find such a port taken. Two tests that draw the same one at the same time are still possible, and
// rare.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	const lowest, span = 15000, 15000
	var ports []int
	for range 100 * n {
		port := lowest + rand.IntN(span)
		l, err := net.Listen("tcp", Loopback(port))
		if err != nil {
			continue
		}

		defer l.Close() // all at once, so that none is drawn twice
		if ports = append(ports, port); len(ports) == n {
			return ports
		}
	}

	t.Fatalf("found %d of %d free ports from %d on", len(ports), n, lowest)
	return nil
}

// Loopback is an address of this machine.
func Loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// lines keeps what a server writes.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()
	return text[max(0, len(text)-4000):]
}
