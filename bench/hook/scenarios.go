package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A limit is how long the hook may take at most, as a multiple of what git and the shell hook take; 0 is no limit.
type limit struct{ git, shell float64 }

// Limits are those of one push in one kind of repository, without a commit-graph and with one.
type limits struct{ plain, graph limit }

func both(git, shell float64) limits { return limits{limit{git, shell}, limit{git, shell}} }

// A scenario is a push, what the hook says to it, and how long it may take.
type scenario struct {
	name    string
	push    func(r *repository) (push, error)
	against func(p push) []string // what git does instead; nil is rev-list
	hook    func(b binaries) string
	alone   bool   // the shell hook, which would take minutes, takes no part
	says    string // part of what the hook says; empty is nothing at all
	limits  map[kind]limits
}

// everyday are the limits of pushes of one to three commits.
var everyday = map[kind]limits{small: both(1.0, 0.25), large: both(0.35, 0.25), manyRefs: both(0.06, 0.6), merges: both(0.9, 0)}

// first are those of the first push of a branch, and of one that moves it.
var first = map[kind]limits{small: everyday[small], large: everyday[large], manyRefs: everyday[manyRefs], merges: both(1.1, 0)}

func scenarios() []scenario {
	one := func(branch, remote string) func(*repository) (push, error) {
		return func(r *repository) (push, error) { return r.push(branch, remote) }
	}
	return []scenario{
		{
			name: "an empty Go program, to compare", against: func(push) []string { return []string{"git", "version"} },
			push: func(*repository) (push, error) { return push{remote: "origin"}, nil }, hook: binaries.nothing,
		},
		{
			name: "nothing to push", against: func(push) []string { return []string{"git", "version"} },
			push:   func(*repository) (push, error) { return push{remote: "origin"}, nil },
			limits: map[kind]limits{small: both(1.1, 0.3), large: both(1.1, 0.3), manyRefs: both(1.1, 0.3), merges: both(1.5, 0)},
		},
		{name: "2 commits, existing branch", push: one(existing, "refs/remotes/origin/"+existing), limits: everyday},
		{name: "2 commits, new branch", push: one(fresh, zero), limits: first},
		{name: "2 commits, forced, old id unknown", push: one(forced, gone), limits: first},
		{name: "2 commits, one merges main", push: one(merged, "refs/remotes/origin/"+merged), limits: everyday},
		{
			name: "an issue: until it is found", push: one(keyword, "refs/remotes/origin/"+keyword), hook: binaries.firstStage,
			limits: map[kind]limits{small: both(1.3, 0.3), large: both(1.2, 0.5), manyRefs: {plain: limit{1.7, 0}, graph: limit{0.2, 0}}},
		},
		{name: "an issue: until the network", push: one(keyword, "refs/remotes/origin/"+keyword), says: "no connection"},
		{
			name: "5,000 commits", push: one(manyNew, "refs/remotes/origin/main"),
			limits: map[kind]limits{small: both(2.0, 0.9), large: both(1.9, 0.9), manyRefs: {plain: limit{1.1, 0}, graph: limit{0.5, 0}}},
		},
		{name: "5,000 commits, 5 issues: until the network", push: one(manyHits, "refs/remotes/origin/main"), says: "no connection", limits: map[kind]limits{small: both(2.0, 0), merges: both(2.0, 0)}},
		{
			name: "100 new branches", push: (*repository).branches,
			limits: map[kind]limits{small: both(1.3, 0.02), large: both(1.0, 0.02), manyRefs: {plain: limit{1.0, 0}, graph: limit{0.15, 0}}},
		},
		{
			name: "new branch off an old base", push: one(old, zero),
			limits: map[kind]limits{
				small:    {plain: limit{1.4, 0.95}, graph: limit{0.8, 0.2}},
				large:    {plain: limit{1.1, 1.0}, graph: limit{0.3, 0.25}},
				manyRefs: {plain: limit{0.8, 1.9}, graph: limit{0.1, 0.45}},
			},
		},
		{
			name: "first push of everything", push: (*repository).everything, against: logAndGrep, alone: true, says: "not checked",
			limits: map[kind]limits{small: both(1.3, 0), large: both(1.3, 0)},
		},
	}
}

func revList(p push) []string {
	return append(append([]string{"git", "rev-list"}, p.oids...), "--not", "--remotes=origin")
}

func logAndGrep(p push) []string {
	pipe := fmt.Sprintf(`git log --format=%%B %s --not --remotes=%s | grep -ciE '\b(close[sd]?|fix(es|ed)?|resolve[sd]?):? +#[0-9]+'`, p.oids[0], p.remote)
	return []string{"sh", "-c", pipe}
}

// Binaries are the compiled hook in two folders: whole, and with a stand-in behind its first stage.
type binaries struct{ whole, stage, shell string }

func (b binaries) firstStage() string { return filepath.Join(b.stage, "pre-push") }

// nothing is a program that does nothing: no hook written in Go starts faster.
func (b binaries) nothing() string { return filepath.Join(b.stage, "nothing") }

// programs are the hook, git and the shell hook on the push of a scenario.
func (s scenario) programs(r *repository, b binaries) ([3]program, error) {
	p, err := s.push(r)
	if err != nil {
		return [3]program{}, err
	}
	hook, against := filepath.Join(b.whole, "pre-push"), revList
	if s.hook != nil {
		hook = s.hook(b)
	}
	if s.against != nil {
		against = s.against
	}
	args := []string{p.remote, "https://github.com/acme/app"}
	programs := [3]program{
		{append([]string{hook}, args...), p.lines, r.folder},
		{against(p), "", r.folder},
		{append([]string{"bash", b.shell}, args...), p.lines, r.folder},
	}
	if s.alone {
		programs[2] = program{}
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
