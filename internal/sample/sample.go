// Package sample says how much of a long test is played: a sample in an ordinary run, everything
// with LABEL_STATE_TEST=all, as "make test-all" sets it, and a small sample with LABEL_STATE_TEST=few,
// as "make race" does. It is of tests only.
package sample

import (
	"flag"
	"hash/fnv"
	"os"
	"strconv"
)

// All reports whether everything is played.
func All() bool { return os.Getenv("LABEL_STATE_TEST") == "all" }

// Few reports whether less is played than in an ordinary run.
func Few() bool { return os.Getenv("LABEL_STATE_TEST") == "few" }

// Size is how many cases are played: some in an ordinary run, otherwise all.
func Size[N int | uint64](some, all N) N {
	if All() {
		return all
	}
	return some
}

// Steps returns where a loop over numbered cases starts and how far apart the played ones are:
// every case with All, otherwise one in every so many. The start is between 1 and every and depends
// on the name alone, so that loops of different names play different cases and each run plays the
// same.
func Steps(name string, every int) (first, stride int) {
	if All() {
		return 1, 1
	}
	return 1 + number(name, every), every
}

// Plays reports whether the case of that name is played as the n-th of so many kinds, which are
// counted from 0: always with All, otherwise as the one kind that its name decides. Where there is
// one kind only, Plays(name, 0, 4) plays every fourth case.
func Plays(name string, n, kinds int) bool { return All() || number(name, kinds) == n }

func number(name string, below int) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % uint32(below))
}

// A test is the part of testing.TB that is needed here.
type test interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
}

// Checks has rapid check the properties of a test so many times in an ordinary run, until the test
// ends. With All, or where a flag or RAPID_CHECKS says how many, nothing changes. It is not for
// tests that run in parallel.
func Checks(t test, some int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if checks == nil {
		t.Fatal("no test of this program uses rapid")
	}

	if All() || os.Getenv("RAPID_CHECKS") != "" || checks.Value.String() != checks.DefValue {
		return
	}

	if err := checks.Value.Set(strconv.Itoa(some)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) }) // it was valid before
}
