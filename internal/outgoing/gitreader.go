package outgoing

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/git"
)

// A gitReader asks the installed git.
type gitReader struct{ git.Git }

// A question is what git is asked: which commits send has that hide does not have.
type question struct {
	send, hide []string // ids of commits, tags peeled
	// likely says that hide has the likely tips of a remote that has very many, so that it is worth asking with those alone
	// before all of them.
	likely bool
}

// readGit is Commits for the second reader.
func readGit(ctx context.Context, at Location, p Push, q question, yield func(Commit) bool) error {
	g, err := openGit(at)
	if err != nil || len(q.send) == 0 {
		return err
	}
	if q.likely && p.Keep != nil {
		found := false
		err := g.log(ctx, q, p.Keep, func(Commit) bool { found = true; return false })
		if err != nil || !found {
			return err
		}
	}
	tips, err := g.tracked(ctx, p)
	if err != nil {
		return err
	}
	q.hide = slices.Concat(q.hide, tips)
	return g.log(ctx, q, p.Keep, yield)
}

func openGit(at Location) (gitReader, error) {
	g := git.Git{Dir: at.Dir, Env: at.Env}
	err := g.Locate()
	return gitReader{g}, err
}

// questionOf asks git what the pushed objects, and those that the remote has, peel to, and keeps the commits. Of the former all must be
// there.
func questionOf(ctx context.Context, at Location, p Push) (q question, err error) {
	send := pushed(p.Updates)
	if len(send) == 0 {
		return q, nil
	}
	g, err := openGit(at)
	if err != nil {
		return q, err
	}
	all := append(send[:len(send):len(send)], remoteOIDs(p.Updates)...)
	out, err := g.Feed(ctx, strings.Join(all, "^{}\n")+"^{}\n", "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return q, err
	}
	answers := strings.Split(out, "\n")
	if len(answers) != len(all) {
		return q, fmt.Errorf("ask git cat-file: %d answers to %d questions", len(answers), len(all))
	}
	for i, answer := range answers {
		oid, kind, _ := strings.Cut(answer, " ")
		switch {
		case i < len(send) && !isOID(oid):
			return q, fmt.Errorf("read pushed object %s: it is not in the repository", send[i])
		case kind != "commit":
		case i < len(send):
			q.send = append(q.send, oid)
		default:
			q.hide = append(q.hide, oid)
		}
	}
	return q, nil
}

// tracked asks git what the remote-tracking references point at that say what the remote has. The configuration is all files' together.
func (g gitReader) tracked(ctx context.Context, p Push) (tips []string, err error) {
	out, err := g.Ask(ctx, "config", "--null", "--get-regexp", `^remote\..*\.(url|pushurl|fetch)$`)
	if err != nil && git.Code(err) != 1 {
		return nil, err
	}
	var cfg settings
	for entry := range strings.SplitSeq(out, "\x00") {
		name, value, _ := strings.Cut(entry, "\n")
		name = strings.TrimPrefix(name, "remote.")
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			cfg = append(cfg, setting{section: "remote", subsection: name[:dot], key: name[dot+1:], value: value})
		}
	}
	remotes := remotesOf(cfg)
	names := trackingNames(remotes, p)
	if len(names) == 0 {
		return nil, nil
	}
	skip := replaced(remotes, names, p.Updates)
	args := []string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}
	for _, name := range names {
		args = append(args, "refs/remotes/"+name+"/")
	}
	if out, err = g.Ask(ctx, args...); err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		fields := append(strings.Fields(line), "", "")
		if !skip[fields[1]] && !skip[fields[2]] {
			tips = append(tips, fields[0])
		}
	}
	return tips, nil
}

// log reports the answer to the question: git rev-list names the commits, git cat-file, which changes no byte of a message, prints them.
func (g gitReader) log(ctx context.Context, q question, keep func([]byte) bool, yield func(Commit) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var revisions strings.Builder
	for _, oid := range q.send {
		revisions.WriteString(oid + "\n")
	}
	for _, oid := range q.hide {
		revisions.WriteString("^" + oid + "\n")
	}
	var listErrors, readErrors bytes.Buffer
	list, err := g.Stream(ctx, &listErrors, revisions.String(), "rev-list", "--ignore-missing", "--stdin")
	if err != nil {
		return err
	}
	read, err := g.Stream(ctx, &readErrors, "", "cat-file", "--batch", "--buffer")
	if err != nil {
		return err
	}
	ids, err := list.StdoutPipe()
	if err != nil {
		return g.Failed(ctx, err, nil, "rev-list")
	}
	read.Stdin = ids
	objects, err := read.StdoutPipe()
	if err != nil {
		return g.Failed(ctx, err, nil, "cat-file")
	}
	if err := list.Start(); err != nil {
		return g.Failed(ctx, err, nil, "rev-list")
	}
	err = read.Start()
	// Only the two of them hold the pipe now, so that neither waits for one that has ended.
	ids.Close()
	if err != nil {
		stop()
		list.Wait()
		return g.Failed(ctx, err, nil, "cat-file")
	}
	enough, err := readObjects(objects, keep, yield)
	if enough || err != nil {
		stop()
	}
	readErr, listErr := read.Wait(), list.Wait()
	if enough || err != nil {
		return err
	}
	return errors.Join(g.Failed(ctx, listErr, listErrors.Bytes(), "rev-list"), g.Failed(ctx, readErr, readErrors.Bytes(), "cat-file"))
}

// readObjects reads what git cat-file --batch prints, "OID TYPE SIZE LF CONTENT LF" for each commit, until the end or
// until yield has enough.
func readObjects(r io.Reader, keep func([]byte) bool, yield func(Commit) bool) (enough bool, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		head, err := in.ReadString('\n')
		switch {
		case err == io.EOF && head == "":
			return false, nil
		case err == io.EOF:
			err = io.ErrUnexpectedEOF
			fallthrough
		case err != nil:
			return false, fmt.Errorf("read git cat-file: %w", err)
		}
		fields := append(strings.Fields(head), "", "", "")
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || fields[3] != "" || !isOID(fields[0]) || fields[1] != "commit" {
			return false, fmt.Errorf("read git cat-file: unexpected answer %.100q", head)
		}
		data := make([]byte, min(size, maxObject))
		if _, err = io.ReadFull(in, data); err == nil {
			_, err = in.Discard(size - len(data) + 1)
		}
		if err != nil {
			return false, fmt.Errorf("read git cat-file: %w", io.ErrUnexpectedEOF)
		}
		_, message, _ := bytes.Cut(data, []byte("\n\n"))
		c := Commit{OID: fields[0], Message: message[:min(len(message), maxMessage)], Cut: size > len(data) || len(message) > maxMessage}
		if (keep == nil || c.Cut || keep(c.Message)) && !yield(c) {
			return true, nil
		}
	}
}
