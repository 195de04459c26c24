// Package gitpush pushes one branch with the git program, under conditions that the receiving
// repository checks: the branch is where it was seen to be, and a second reference moves in the
// same step or neither does.
//
// It never forces. What it says of a push is one of three answers: it has landed, it was refused
// and cannot land any more, or nobody knows.
package gitpush

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/git"
)

// A Push is what is to be pushed, and under which conditions.
type Push struct {
	Remote  string // its name, or a URL
	Branch  string // name at the remote, without refs/heads/
	Source  string // object id of the commit
	With    *Step  // moves together with the branch; nil pushes the branch alone
	Options Options
}

// A Step is a reference at the remote that moves, in the same atomic update as the branch, from
// Before to a new commit with Message on Before's tree.
type Step struct {
	Ref     string // full name
	Before  string // object id of a commit
	Message string
}

// ref is the branch's full name.
func (p Push) ref() string { return "refs/heads/" + p.Branch }

// moved is that the branch is elsewhere. An address may have a password and is not named.
func (p Push) moved(at string) error {
	e := &MovedError{Ref: p.ref(), At: at}
	if at != "" && !strings.ContainsAny(p.Remote, ":/") {
		e.Remote = p.Remote
	}
	return e
}

// A Result says what a push that was not refused has come to.
type Result int

const (
	Landed Result = iota + 1 // the branch was moved
	There                    // the branch was there already; nothing was sent
)

// A MovedError is a reference of the remote that is not where the push needs it: nothing was moved.
type MovedError struct {
	Ref    string
	At     string // where it is; empty when it is not there
	Remote string // name of the remote whose branch it is; empty when the remote has none
}

func (e *MovedError) Error() string {
	if e.At == "" {
		return e.Ref + " is not there"
	}
	return e.Ref + " is at " + e.At + ", which this push does not build on"
}

// notLet is a push that a hook of this clone or the remote did not let through: nothing was moved.
// The reason is as git told it, other people's text; empty when it was a hook of this clone.
func notLet(reason string) error {
	why := "git push: the pre-push hook of this clone refused it"
	if reason != "" {
		why = "git push: refused: " + reason
	}
	return &answer.Problem{Code: answer.NotPushed, Why: why}
}

// unclear is a push of which nobody knows whether it landed, or still will; err came in between.
func unclear(err error) error {
	look := answer.Call("see what has arrived, and push again if nothing has", "push", "--issue", answer.TheObject)
	return &answer.Problem{Code: answer.Unread, Next: []answer.Command{look}, Cause: err}
}

// errUnchanged is a step that goes nowhere. Git would leave it out of the push, and its condition
// with it.
var errUnchanged = errors.New("the second reference would stay where it is, and so guard nothing")

// Push pushes. Beside its own types of errors it returns a wrong call and *git.Error for what could
// not be found out before anything was sent.
func (g Git) Push(ctx context.Context, p Push) (Result, error) {
	seen, err := g.look(ctx, p)
	switch {
	case err != nil:
		return 0, err
	case seen.branch == p.Source:
		return There, nil
	case p.With != nil && seen.second != p.With.Before:
		return 0, &MovedError{Ref: p.With.Ref, At: seen.second}
	}

	if seen.branch != "" { // the push takes nothing away that is in the branch
		if _, err := g.Ask(ctx, "cat-file", "-e", seen.branch+"^{commit}"); no(err) {
			return 0, p.moved(seen.branch)
		}
		_, err := g.Ask(ctx, "merge-base", "--is-ancestor", seen.branch, p.Source)
		switch {
		case no(err):
			return 0, p.moved(seen.branch)
		case err != nil:
			return 0, err
		}
	}

	next, err := g.successor(ctx, p)
	if err != nil {
		return 0, err
	}

	return g.send(ctx, p, seen.branch, next)
}

// successor makes the commit that the second reference moves to, empty without one, on the tree of
// its parent. That has to be here, or git could not tell what to send. Its author is nobody in
// particular, so that it needs no settings of the user's.
func (g Git) successor(ctx context.Context, p Push) (string, error) {
	if p.With == nil {
		return "", nil
	}
	before := p.With.Before
	if _, err := g.Ask(ctx, "cat-file", "-e", before+"^{commit}"); err != nil {
		at, err := g.readable(ctx, p.Remote)
		if err != nil {
			return "", err
		}

		// its commits come into no reference and no file
		_, _, err = g.talk(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
			"--no-auto-maintenance", at, p.With.Ref)
		if err == nil {
			_, err = g.Ask(ctx, "cat-file", "-e", before+"^{commit}")
		}

		if err != nil {
			return "", err
		}
	}

	g.Env = slices.Clone(g.Env)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		g.Env = append(g.Env, "GIT_"+who+"_NAME=label-state", "GIT_"+who+"_EMAIL=label-state@users.noreply.github.com")
	}

	return g.Feed(ctx, p.With.Message, "commit-tree", before+"^{tree}", "-p", before, "-F", "-")
}

// lookTime is how long it may take to see what became of a push that was cut short.
const lookTime = 20 * time.Second

// send pushes and finds out what came of it; next is what the second reference moves to.
func (g Git) send(ctx context.Context, p Push, seen, next string) (Result, error) {
	args, err := p.command(seen, next)
	if err != nil {
		return 0, err
	}

	out, code, err := g.talk(ctx, args...)
	switch {
	case err == nil && arrived(out, p, next):
		return Landed, nil
	case code == 1 && out == "":
		return 0, notLet("")
	case err == nil:
		err = &git.Error{Repository: g.Dir, Operation: "push"}
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	reason, refused := refusal(out, p)
	now, unseen := g.look(ctx, p)
	switch {
	case now.branch == p.Source:
		return Landed, nil
	case !refused:
		return 0, unclear(err)
	case unseen == nil && p.With != nil && now.second != p.With.Before:
		return 0, &MovedError{Ref: p.With.Ref, At: now.second}
	case unseen == nil && now.branch != seen:
		return 0, p.moved(now.branch)
	}

	return 0, notLet(reason)
}

// command is git's command line. Each reference that moves has a condition, and all move or none
// does.
func (p Push) command(seen, next string) ([]string, error) {
	args := append([]string{"push", "--porcelain"}, p.Options.git...)
	args = append(args, "--force-with-lease="+p.ref()+":"+seen)
	updates := []string{p.Source + ":" + p.ref()}
	if p.With != nil && next == p.With.Before {
		return nil, errUnchanged
	}

	if p.With != nil {
		args = append(args, "--atomic", "--force-with-lease="+p.With.Ref+":"+p.With.Before)
		updates = append([]string{next + ":" + p.With.Ref}, updates...)
	}

	return append(append(args, p.Remote), updates...), nil
}

// A sight is where the remote's references were at one moment; empty is not there.
type sight struct{ branch, second string }

// look asks the remote, at the address that is pushed to.
func (g Git) look(ctx context.Context, p Push) (sight, error) {
	at, err := g.readable(ctx, p.Remote)
	if err != nil {
		return sight{}, err
	}

	args := []string{"ls-remote", "--quiet", at, p.ref()}
	second := ""
	if p.With != nil {
		second = p.With.Ref
		args = append(args, second)
	}

	out, _, err := g.talk(ctx, args...)
	var s sight
	for line := range strings.Lines(out) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch name {
		case p.ref():
			s.branch = oid
		case second:
			s.second = oid
		}
	}

	return s, err
}
