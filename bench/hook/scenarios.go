package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A scenario is a push, what the hook says to it, and how long it may take.
type scenario struct {
	name    string
	push    func(r *repository) (push, error)
	against func(p push) []string // what git does instead of asking for the likely tips
	hook    func(b binaries) string
	says    string           // part of what the hook says; empty is nothing at all
	limits  map[kind]float64 // how long the hook may take at most, as a multiple of git with the likely tips
}

// everyday are the limits of two commits on a branch that the remote has.
var everyday = map[kind]float64{small: 1.1, merges: 1.1, manyRefs: 1.8}

// first are those of the first push of a branch, and of one that moves it.
var first = map[kind]float64{small: 1.8, merges: 1.8, manyRefs: 1.8}

// start is how long the hook may take when there is nothing to do, as a multiple of git version.
var start = map[kind]float64{
	small:    1.5,
	merges:   1.5,
	large:    1.5,
	manyRefs: 1.5,
}

func scenarios() []scenario {
	one := func(branch, remote string) func(*repository) (push, error) {
		return func(r *repository) (push, error) { return r.push(branch, remote) }
	}
	nothing := func(*repository) (push, error) { return push{remote: "origin"}, nil }

	return []scenario{
		{
			name:    "an empty Go program, to compare",
			push:    nothing,
			against: version,
			hook:    binaries.nothing,
		},
		{
			name:    "nothing to push",
			push:    nothing,
			against: version,
			limits:  start,
		},
		{name: "2 commits, existing branch", push: one(existing, "refs/remotes/origin/"+existing), limits: everyday},
		{name: "2 commits, new branch", push: one(fresh, zero), limits: first},
		{name: "2 commits, forced, old id unknown", push: one(forced, gone), limits: first},
		{name: "2 commits, one merges main", push: one(merged, "refs/remotes/origin/"+merged), limits: first},
		{
			name: "an issue: until it is found",
			push: one(keyword, "refs/remotes/origin/"+keyword),
			hook: binaries.firstStage,
		},
		{
			name: "an issue: until the network",
			push: one(keyword, "refs/remotes/origin/"+keyword),
			says: "no connection",
		},
		{
			name:   "5,000 commits",
			push:   one(manyNew, "refs/remotes/origin/main"),
			limits: map[kind]float64{small: 1.3, merges: 1.3, manyRefs: 1.8},
		},
		{
			name:   "5,000 commits, 5 issues: until the network",
			push:   one(manyHits, "refs/remotes/origin/main"),
			says:   "no connection",
			limits: map[kind]float64{small: 1.3, merges: 1.3},
		},
		{
			name:   "100 new branches",
			push:   (*repository).branches,
			limits: map[kind]float64{small: 1.2, merges: 1.2, manyRefs: 1.8},
		},
		{
			name:   "new branch off an old base",
			push:   one(old, zero),
			limits: map[kind]float64{small: 1.8, merges: 1.8, manyRefs: 1.8},
		},
		{name: "first push of everything", push: (*repository).everything, says: "not checked"},
	}
}

// version is the least that git takes.
func version(push) []string { return []string{"git", "version"} }

// allTips has git find the commits that leave by all that the remote has.
func allTips(p push) []string {
	return append(append([]string{"git", "rev-list"}, p.oids...), "--not", "--remotes="+p.remote)
}

// likelyTips has git print the commits by what a push most often builds on, if the clone has it.
func likelyTips(p push) []string {
	args := append([]string{"git", "rev-list", "--header", "--encoding=none"}, p.oids...)
	args = append(append(args, "--not"), p.remotes...)
	if p.remote == origin {
		args = append(args, "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	}
	return args
}

// Binaries are the compiled hook in two folders: whole, and with a stand-in behind its first stage.
type binaries struct{ whole, stage string }

func (b binaries) firstStage() string { return filepath.Join(b.stage, "pre-push") }

// nothing is a program that does nothing: no hook written in Go starts faster.
func (b binaries) nothing() string { return filepath.Join(b.stage, "nothing") }

// programs are the hook, git with all tips and git with the likely tips, on the push of a scenario.
func (s scenario) programs(r *repository, b binaries) ([3]program, error) {
	p, err := s.push(r)
	if err != nil {
		return [3]program{}, err
	}

	hook := filepath.Join(b.whole, "pre-push")
	if s.hook != nil {
		hook = s.hook(b)
	}

	programs := [3]program{
		{[]string{hook, p.remote, "https://github.com/acme/app"}, p.lines, r.folder},
		{allTips(p), "", r.folder},
		{likelyTips(p), "", r.folder},
	}

	if s.against != nil {
		programs[1], programs[2] = program{}, program{s.against(p), "", r.folder}
	}

	return programs, nil
}

// check runs the hook and holds what it says against what it should say.
func (s scenario) check(hook program) error {
	said, err := hook.says()
	if err != nil || (s.says == "") != (said == "") || !strings.Contains(said, s.says) {
		return fmt.Errorf("%s: the hook says %q, want %q: %w", s.name, said, s.says, err)
	}
	return nil
}
