// Package testmain runs the tests of a package so that they cost a machine little. It is of tests
// only.
package testmain

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// Garbage is how far the heap of tests may grow before it is collected, in percent: what a test
// makes is small and dies young.
const Garbage = 1000

// Tests are those of one package.
type Tests struct {
	Play func() int // m.Run of TestMain, or what calls it

	// AtOnce is how many parallel tests run at once at least, where they wait more than they
	// compute. 0 is as Go has it: one for each processor.
	AtOnce int
}

// Run is for TestMain, which exits with what it returns. The folders of the tests lie in memory if
// the machine has a file system for it (folder says which), and garbage is collected less often.
// TMPDIR and "go test -parallel" win over all this, and benchmarks measure the machine as it is.
// GOGC does not: a result that is cached would count under one value of it alone.
func (t Tests) Run() int {
	if t.AtOnce > runtime.GOMAXPROCS(0) { // before the flags are parsed, so that the caller's own wins
		if err := flag.Set("test.parallel", strconv.Itoa(t.AtOnce)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}

	if flag.Parse(); flag.Lookup("test.bench").Value.String() != "" {
		return t.Play()
	}

	debug.SetGCPercent(Garbage)
	if os.Getenv("TMPDIR") == "" {
		if dir, remove, ok := folder(memory); ok {
			defer remove()
			if err := os.Setenv("TMPDIR", dir); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
	}

	return t.Play()
}
