package app

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/process"
	"github.com/label-state/label-state/internal/setup"
)

// A processTable are the processes of a script: TEST_ABOVE has the numbers of those above the
// program, the nearest first, and TEST_GONE of those that have ended.
type processTable struct{ getenv func(string) string }

func (f processTable) Above() iter.Seq[process.Process] {
	return func(yield func(process.Process) bool) {
		for word := range strings.FieldsSeq(f.getenv("TEST_ABOVE")) {
			if !yield(process.Process{ID: member(word), Name: "host"}) {
				return
			}
		}
	}
}

func (f processTable) Gone(p process.ID) bool {
	return slices.Contains(strings.Fields(f.getenv("TEST_GONE")), strconv.Itoa(p.PID))
}

// member is the process with that number.
func member(word string) process.ID {
	pid, err := strconv.Atoi(word)
	if err != nil {
		return process.ID{}
	}
	return process.ID{PID: pid, Start: "1", Place: "test"}
}

var _ setup.Processes = processTable{}
