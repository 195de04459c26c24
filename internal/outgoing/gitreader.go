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
	push Push
}

func openGit(at Location, r repository, p Push) (gitReader, error) {
	g := git.Git{Dir: at.Dir, Env: at.Env}
	err := g.Locate()
	return gitReader{g, r, p}, err
}

// commits returns the commits that leave and are wanted, the newest first. found are those that may
// leave, if the loose objects have told all of them: complete. Else git is asked for them.
func (g gitReader) commits(ctx context.Context, found []Commit, complete bool) ([]Commit, error) {
	t, err := g.tracking(ctx)
	if err != nil {
		return nil, err
	}

	all := g.likelyTips(t)
	if len(g.push.Updates) <= maxArguments {
		all = allTips(t)
	}

	if !complete {
		exact := g.fewReferences(t.remotes)
		tips := all
		if !exact {
			tips = g.likelyTips(t)
		}

		found, err = g.list(ctx, tips)
		if err != nil || exact && len(remoteOIDs(g.push.Updates)) <= maxArguments {
			return found, err
		}
	}

	if len(found) == 0 {
		return nil, nil
	}

	return g.confirm(ctx, found, all)
}

// tracking looks at the files that git is going to read, and returns which references count. Git is
// asked for its configuration only if that may not be a clone's.
func (g gitReader) tracking(ctx context.Context) (tracking, error) {
	if err := g.checkFiles(); err != nil {
		return tracking{}, err
	}
	t := trackingOf(nil, g.push)
	if len(t.remotes) == 0 || configuresRemotes(g.Env) || !g.clonesConfig() {
		remotes, err := g.remotes(ctx)
		if err != nil {
			return tracking{}, err
		}
		t = trackingOf(remotes, g.push)
	}

	return t, g.checkReferences(t.remotes)
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
func allTips(t tracking) []string {
	var args []string
	for _, remote := range t.remotes {
		args = append(args, "--exclude="+remote+"/HEAD")
		for _, name := range t.inner {
			args = append(args, "--exclude="+name+"/*")
		}

		for _, name := range slices.Sorted(maps.Keys(t.stale)) {
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
	var inexact []string
	err := g.read(ctx, lines(pushed(g.push.Updates)), args, func(in *bufio.Reader) error {
		headers := newHeaderReader(in)
		for {
			c, exact, err := headers.next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if !exact {
				commits = append(commits, Commit{OID: c.OID})
				inexact = append(inexact, c.OID)
				continue
			}

			if g.push.wants(c) {
				c.Message = bytes.Clone(c.Message) // the reader uses it again
				commits = append(commits, c)
			}
		}
	})

	if err != nil || len(inexact) == 0 {
		return commits, err
	}

	return g.reread(ctx, commits, inexact)
}

// reread has git print some of the commits byte for byte, and leaves out those that are not wanted.
func (g gitReader) reread(ctx context.Context, commits []Commit, oids []string) ([]Commit, error) {
	read := map[string]Commit{}
	err := g.read(ctx, lines(oids), []string{"cat-file", "--batch", "--buffer"}, func(in *bufio.Reader) error {
		return readObjects(in, func(c Commit) {
			if g.push.wants(c) {
				read[c.OID] = c
			}
		})
	})
	if err != nil {
		return nil, err
	}

	again := map[string]bool{}
	for _, oid := range oids {
		again[oid] = true
	}

	var wanted []Commit
	for _, c := range commits {
		whole, ok := read[c.OID]
		switch {
		case ok:
			wanted = append(wanted, whole)
		case !again[c.OID]:
			wanted = append(wanted, c)
		}
	}

	return wanted, nil
}

// confirm asks git which of the commits neither the tips nor the objects that the remote has reach.
func (g gitReader) confirm(ctx context.Context, commits []Commit, tips []string) ([]Commit, error) {
	var input strings.Builder
	for _, c := range commits {
		input.WriteString(c.OID + "\n")
	}

	for _, oid := range remoteOIDs(g.push.Updates) {
		input.WriteString("^" + oid + "\n")
	}
	args := append([]string{"rev-list", "--ignore-missing", "--stdin", "--not"}, tips...)

	leaves := map[string]bool{}
	err := g.read(ctx, input.String(), args, func(in *bufio.Reader) error {
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

// read runs git with an input, and hands on what it prints.
func (g gitReader) read(ctx context.Context, input string, args []string, parse func(*bufio.Reader) error) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var said bytes.Buffer
	cmd, err := g.Stream(running, &said, input, args...)
	if err != nil {
		return err
	}

	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}

	if err != nil {
		return g.Failed(ctx, err, nil, args...)
	}

	parseErr := parse(bufio.NewReaderSize(out, 64<<10))
	if parseErr != nil && !errors.Is(parseErr, io.ErrUnexpectedEOF) {
		stop() // it may have more to print
		_ = cmd.Wait()
		return g.Failed(ctx, parseErr, nil, args...)
	}
	if err := cmd.Wait(); err != nil {
		return g.Failed(ctx, err, said.Bytes(), args...)
	}

	return g.Failed(ctx, parseErr, nil, args...)
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
