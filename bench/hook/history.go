package main

import (
	"bufio"
	"fmt"
	"io"
)

// A shape is what a repository is made of; the same shape gives the same object ids everywhere.
type shape struct {
	commits  int // of main, a tenth of which merge a branch of two commits
	branches int // of the remote besides main, each one commit beside main, spread evenly over its history
	// every change comes to main by a merge of a branch of one to five commits, as in
	// kubernetes-sigs/prow
	merges bool
	graph  bool // has a commit-graph, as "git gc" or "git commit-graph write --reachable" leave one
}

// minute is how far apart commits are, and epoch when the first one was made.
const (
	minute = 60
	epoch  = 1_400_000_000
)

// stream writes what git fast-import reads.
type stream struct {
	*bufio.Writer
	marks int
}

func newStream(w io.Writer) *stream { return &stream{Writer: bufio.NewWriterSize(w, 256<<10)} }

// A commit is one to be made. Its parents and its tree come from a mark or a full name.
type commit struct {
	ref     string
	time    int
	message string
	parents []string
	change  string // the new content of a file, if it changes one
}

// commit returns the mark of the commit.
func (s *stream) commit(c commit) string {
	s.marks++
	fmt.Fprintf(s, "commit %s\nmark :%d\ncommitter Ann Example <ann@example.com> %d +0000\n", c.ref, s.marks, c.time)
	fmt.Fprintf(s, "data %d\n%s\n", len(c.message), c.message)

	for i, parent := range c.parents {
		fmt.Fprintf(s, "%s %s\n", []string{"from", "merge"}[min(i, 1)], parent)
	}

	if c.change != "" {
		fmt.Fprintf(s, "M 100644 inline d%d/file\ndata %d\n%s\n", s.marks%64, len(c.change), c.change)
	}

	return fmt.Sprint(":", s.marks)
}

func (s *stream) reset(ref, to string) { fmt.Fprintf(s, "reset %s\nfrom %s\n\n", ref, to) }

// history writes all that the remote has: main, and refs/remotes/origin/* as a fetch leaves them.
func (s *stream) history(sh shape) {
	const mainRef = "refs/heads/main"
	if sh.merges {
		s.merged(sh, mainRef)
		return
	}

	var line, side string // the tips of main and of the branch that goes beside it
	every := sh.commits + 1
	if sh.branches > 0 {
		every = max(1, sh.commits/sh.branches)
	}

	for i := range sh.commits {
		c := commit{ref: mainRef, time: epoch + i*minute, message: oldMessage(i)}
		if i%8 == 0 {
			c.change = fmt.Sprintln(i)
		}

		c.parents = parents(i, line, side)
		switch tip := s.commit(c); i % 10 {
		case 5, 6:
			side = tip
		default:
			line = tip
		}

		if i%every == every-1 {
			ref := fmt.Sprintf("refs/remotes/origin/topic-%d", i/every)
			s.commit(commit{
				ref:     ref,
				time:    c.time,
				message: oldMessage(i),
				parents: []string{line},
			})
		}
	}

	s.reset(mainRef, line)
	s.reset("refs/remotes/origin/main", line)
}

// merged is a history in which main consists of merges only. A branch leaves main up to three
// merges before it comes back.
func (s *stream) merged(sh shape, mainRef string) {
	at := func(i int) int { return epoch + i*minute }
	line := []string{s.commit(commit{ref: mainRef, time: at(0), message: oldMessage(0)})}
	every := max(1, sh.commits/(mergedEvery*max(1, sh.branches)))
	for i := 1; i < sh.commits; {
		side := line[max(0, len(line)-1-len(line)%4)]
		for range 1 + len(line)%5 {
			c := commit{
				ref:     mainRef,
				time:    at(i),
				message: oldMessage(i),
				parents: []string{side},
			}

			if i%8 == 0 {
				c.change = fmt.Sprintln(i)
			}
			side = s.commit(c)
			i++
		}

		tip := s.commit(commit{
			ref:     mainRef,
			time:    at(i),
			message: oldMessage(i),
			parents: []string{line[len(line)-1], side},
		})
		line = append(line, tip)
		i++
		if sh.branches > 0 && len(line)%every == 0 {
			ref := fmt.Sprintf("refs/remotes/origin/topic-%d", len(line)/every)
			s.commit(commit{
				ref:     ref,
				time:    at(i),
				message: oldMessage(i),
				parents: []string{tip},
			})
		}
	}

	s.reset(mainRef, line[len(line)-1])
	s.reset("refs/remotes/origin/main", line[len(line)-1])
}

// mergedEvery is how many commits there are for each one on main: a merge, and three on its branch
// as a rule.
const mergedEvery = 4

// parents has the sixth and seventh commit of ten leave main, and the tenth merge them.
func parents(i int, line, side string) []string {
	switch {
	case i == 0:
		return nil
	case i%10 == 6:
		return []string{side}
	case i%10 == 9:
		return []string{line, side}
	}

	return []string{line}
}

// oldMessage is a message of an ordinary length; in every tenth one there is an issue to be found
// by whoever looks at commits that the remote has.
func oldMessage(i int) string {
	closes := ""
	if i%10 == 3 {
		closes = fmt.Sprintf("Closes #%d\n", 1+i%7919)
	}

	return fmt.Sprintf(`Teach part %d to answer sooner

It used to wait for the whole batch. Now it hands on what it has and comes
back for the rest, as was asked for in #%d.

%sSigned-off-by: Ann Example <ann@example.com>
`, i%977, 1+i%4000, closes)
}
