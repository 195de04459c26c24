package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
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

// run runs the program once. What it prints is dropped.
func (p program) run() (time.Duration, error) {
	cmd := p.command()
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("run %s: %w", p.args[0], err)
	}
	return time.Since(start), nil
}

// peakCommand, as the first argument, makes this program run the command that follows and print its
// peak.
const peakCommand = "peak"

// peak is the most memory the program had, in bytes. A process begins with the peak of the one that
// started it, so that is done by a fresh copy of this program, which has done nothing yet.
func (p program) peak() (bytes int64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}

	p.args = append([]string{self, peakCommand}, p.args...)
	said, err := p.command().Output()
	if err != nil {
		return 0, fmt.Errorf("measure the memory of %s: %w", p.args[2], err)
	}

	_, err = fmt.Sscan(string(said), &bytes)
	return bytes, err
}

func printPeak(args []string, stdin io.Reader, out io.Writer) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = stdin
	if err := cmd.Run(); err != nil {
		return err
	}

	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not tell how much memory a process had")
	}

	_, err := fmt.Fprintln(out, usage.Maxrss<<10)
	return err
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

// A sample is what was measured of the three programs: the hook, git with all tips, and git with
// the likely tips.
type sample struct {
	took   [3]time.Duration // medians
	all    float64          // median of how long the hook took, as a multiple of git with all tips
	likely float64          // and with the likely tips
	peak   int64            // of the hook, in bytes
}

// fewest is how many rounds there are at least, however long they take.
const fewest = 3

// compare runs the programs in turn, so that whatever else the machine does hits all of them, and
// takes medians. A program without arguments takes no part.
func compare(programs [3]program, rounds int, limit time.Duration) (s sample, err error) {
	var took [3][]time.Duration
	var all, likely []float64
	start := time.Now()
	for round := 0; round < rounds && (round < fewest || time.Since(start) < limit); round++ {
		var now [3]time.Duration
		for i := range programs {
			which := (i + round) % len(programs)
			if programs[which].args == nil {
				continue
			}

			t, err := programs[which].run()
			if err != nil {
				return s, err
			}

			now[which] = t
			took[which] = append(took[which], t)
		}

		all = append(all, ratio(now[0], now[1]))
		likely = append(likely, ratio(now[0], now[2]))
	}

	for i := range took {
		s.took[i] = median(took[i])
	}
	s.all, s.likely = median(all), median(likely)
	s.peak, err = programs[0].peak()

	return s, err
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
