// Package sample says how much of a long test is played: a sample in an ordinary run, everything with LABEL_STATE_TEST=all, as
// "make test-all" sets it. It is of tests only.
package sample

import (
	"hash/fnv"
	"os"
)

// All reports whether everything is played.
func All() bool { return os.Getenv("LABEL_STATE_TEST") == "all" }

// Size is how many cases are played: some in an ordinary run, otherwise all.
func Size[N int | uint64](some, all N) N {
	if All() {
		return all
	}
	return some
}

// Steps returns where a loop over numbered cases starts and how far apart the played ones are: every case with All, otherwise one
// in every so many. The start is between 1 and every and depends on the name alone, so that loops of different names play
// different cases and each run plays the same.
func Steps(name string, every int) (first, stride int) {
	if All() {
		return 1, 1
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return 1 + int(h.Sum32()%uint32(every)), every
}
