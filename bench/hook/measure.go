package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A program is one of those that are held against each other, ready to be run.
type program struct {
	args  []string
	stdin string
	in    folder
}

// run runs the program once. What it prints is dropped; peak is the most memory it had, in bytes, or this program's own
// memory if that is more, since that is what a process starts with.
func (p program) run() (took time.Duration, peak int64, err error) {
	cmd := p.command()
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = usage.Maxrss << 10
	}
	if err != nil {
		err = fmt.Errorf("run %s: %w", p.args[0], err)
	}
	return took, peak, err
}

func (p program) command() *exec.Cmd {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.in.path, p.in.env, strings.NewReader(p.stdin)
	return cmd
}

// says runs the program once and returns what it prints on standard error.
func (p program) says() (string, error) {
	cmd := p.command()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	return strings.TrimSpace(stderr.String()), err
}

// A sample is what was measured of the three programs, hook, git and shell.
type sample struct {
	took [3]time.Duration // medians
	git  float64          // median of how long the hook took, as a multiple of git
	sh   float64          // and of the shell hook
	peak int64            // of the hook, in bytes
}

// fewest is how many rounds there are at least, however long they take.
const fewest = 3

// compare runs the programs in turn, so that whatever else the machine does hits all of them, and takes medians. A program
// without arguments takes no part.
func compare(programs [3]program, rounds int, limit time.Duration) (s sample, err error) {
	var took [3][]time.Duration
	var git, sh []float64
	start := time.Now()
	for round := 0; round < rounds && (round < fewest || time.Since(start) < limit); round++ {
		var now [3]time.Duration
		for i := range programs {
			which := (i + round) % len(programs)
			if programs[which].args == nil {
				continue
			}
			t, peak, err := programs[which].run()
			if err != nil {
				return s, err
			}
			now[which] = t
			took[which] = append(took[which], t)
			if which == 0 {
				s.peak = max(s.peak, peak)
			}
		}
		git = append(git, ratio(now[0], now[1]))
		sh = append(sh, ratio(now[0], now[2]))
	}
	for i := range took {
		s.took[i] = median(took[i])
	}
	s.git, s.sh = median(git), median(sh)
	return s, nil
}

// ratio is 0 when there is nothing to compare with.
func ratio(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		var none T
		return none
	}
	return sorted[len(sorted)/2]
}
