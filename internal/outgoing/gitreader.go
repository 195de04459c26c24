package outgoing

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/git"
)

// maxArguments is how many object ids, and how many references, git gets as arguments at most:
// systems limit them.
const maxArguments = 500

// A gitReader asks the installed git about one push.
type gitReader struct {
	git.Git
	repository
	push     Push
	tracking tracking
}

// openGit finds git, and asks it for its configuration if that may not be a clone's. The commits of
// a push are those that git has, whatever git-replace(1) shows in their place.
func openGit(ctx context.Context, g git.Git, repo repository, p Push) (gitReader, error) {
	g.Env = append(slices.Clip(g.Env), "GIT_NO_REPLACE_OBJECTS=1")
	r := gitReader{Git: g, repository: repo, push: p}
	if err := r.Locate(); err != nil {
		return r, err
	}

	var ok bool
	if r.tracking, ok = repo.cloned(g, p); ok {
		return r, nil
	}
	remotes, err := r.remotes(ctx)
	r.tracking = trackingOf(remotes, p)

	return r, err
}

// unsureAtMost is how many wanted commits are reported before it is known that they leave: GitHub
// answers for so many issues in one request.
const unsureAtMost = 50

// commits is Commits. found are the wanted commits that may leave, if the loose objects have told
// all of them: complete. Else git is asked for them.
func (g gitReader) commits(ctx context.Context, found []Commit, complete bool) (_ []Commit, exact bool, err error) {
	few := g.fewReferences() && len(g.push.Updates) <= maxArguments
	if !complete {
		tips := g.allTips
		if !few {
			tips = func() []string { return g.likelyTips(g.tracking) }
		}

		found, err = g.list(ctx, tips())
		if err != nil || few || len(found) == 0 {
			return found, err == nil, err
		}
	}

	if !few && len(found) <= unsureAtMost {
		return found, false, nil
	}
	found, err = g.confirm(ctx, found)
	return found, err == nil, err
}

// configuresRemotes reports whether an environment has configuration of remotes, as "git -c" leaves
// it.
func configuresRemotes(env []string) bool {
	return slices.ContainsFunc(env, func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_CONFIG_") && strings.Contains(strings.ToLower(variable), "remote.")
	})
}

// remotes asks git for the remotes of the configuration of all its files.
func (g gitReader) remotes(ctx context.Context) ([]remoteConfig, error) {
	out, err := g.Ask(ctx, "config", "--null", "--get-regexp", `^remote\..*\.(url|pushurl|fetch)$`)
	if err != nil && git.Code(err) != 1 { // 1: there are none
		return nil, err
	}
	return parseRemotes(out), nil
}

// allTips are the arguments of git for the remote-tracking references that count. HEAD is a
// symbolic reference to one of them, which may be stale.
func (g gitReader) allTips() []string {
	var args []string
	for _, remote := range g.tracking.remotes {
		args = append(args, "--exclude="+remote+"/HEAD")
		for _, name := range g.tracking.inner {
			args = append(args, "--exclude="+name+"/*")
		}

		for _, name := range slices.Sorted(maps.Keys(g.tracking.stale)) {
			if name, ok := strings.CutPrefix(name, "refs/remotes/"); ok {
				args = append(args, "--exclude="+name)
			}
		}

		args = append(args, "--remotes="+remote)
	}

	return args
}

// list asks git for the commits that the push reaches and the tips do not, and returns those that
// are wanted. What is pushed must be there; of what the remote has, git leaves out what is missing.
func (g gitReader) list(ctx context.Context, tips []string) ([]Commit, error) {
	hide := remoteOIDs(g.push.Updates)
	args := []string{"rev-list", "--header", "--encoding=none", "--stdin", "--ignore-missing", "--not"}
	args = append(args, hide[:min(len(hide), maxArguments)]...)
	args = append(args, tips...)

	var commits []Commit
	inexact := map[string]int{} // places in commits
	err := g.Stream(ctx, lines(pushed(g.push.Updates)), args, func(in *bufio.Reader) error {
		headers := newHeaderReader(in)
		for {
			c, exact, err := headers.next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}

			switch {
			case !exact:
				inexact[c.OID] = len(commits)
				commits = append(commits, Commit{})
			case g.push.wants(c):
				c.Message = bytes.Clone(c.Message) // the reader uses it again
				commits = append(commits, c)
			}
		}
	})
	if err != nil || len(inexact) == 0 {
		return commits, err
	}

	byteForByte := []string{"cat-file", "--batch", "--buffer"}
	err = g.Stream(ctx, lines(slices.Collect(maps.Keys(inexact))), byteForByte, func(in *bufio.Reader) error {
		return readObjects(in, func(c Commit) {
			if g.push.wants(c) {
				commits[inexact[c.OID]] = c
			}
		})
	})

	return slices.DeleteFunc(commits, func(c Commit) bool { return c.OID == "" }), err
}

// confirm asks git which of the commits nothing reaches that the remote has.
func (g gitReader) confirm(ctx context.Context, commits []Commit) ([]Commit, error) {
	tips := g.allTips()
	if len(g.push.Updates) > maxArguments {
		tips = g.likelyTips(g.tracking)
	}

	var input strings.Builder
	for _, c := range commits {
		input.WriteString(c.OID + "\n")
	}

	for _, oid := range remoteOIDs(g.push.Updates) {
		input.WriteString("^" + oid + "\n")
	}
	args := append([]string{"rev-list", "--ignore-missing", "--stdin", "--not"}, tips...)

	leaves := map[string]bool{}
	err := g.Stream(ctx, input.String(), args, func(in *bufio.Reader) error {
		for {
			line, err := in.ReadString('\n')
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}

			leaves[strings.TrimSuffix(line, "\n")] = true
		}
	})
	if err != nil {
		return nil, err
	}

	var leaving []Commit
	for _, c := range commits {
		if leaves[c.OID] {
			leaving = append(leaving, c)
		}
	}

	return leaving, nil
}

func lines(list []string) string { return strings.Join(list, "\n") + "\n" }

// readObjects reads what git cat-file --batch prints: "OID TYPE SIZE LF CONTENT LF" for each
// commit.
func readObjects(in *bufio.Reader, take func(Commit)) error {
	for {
		head, err := in.ReadString('\n')
		if err == io.EOF && head == "" {
			return nil
		}
		if err != nil {
			return cutOff(err)
		}

		fields := append(strings.Fields(head), "", "", "")
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || fields[3] != "" || !isOID(fields[0]) || fields[1] != "commit" {
			return fmt.Errorf("unexpected answer %.100q", head)
		}

		content := make([]byte, min(size, maxObject))
		if _, err = io.ReadFull(in, content); err == nil {
			_, err = in.Discard(size - len(content) + 1)
		}

		if err != nil {
			return cutOff(err)
		}
		_, message, _ := bytes.Cut(content, []byte("\n\n"))
		take(newCommit(fields[0], message, size >= maxObject))
	}
}

// cutOff is the error of an answer that ends too early.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
