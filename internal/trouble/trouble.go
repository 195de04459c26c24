// Package trouble is which problem an error comes to: its code, and what to do next. It also has
// what a snapshot shows about an issue, as an answer.
//
// It knows the kinds of errors of the packages that the command line and the Go package share; a
// front end adds those of its own.
package trouble

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// Of is any error as the one problem that it comes to, with a code and with what to do next. more
// are the kinds of the caller's own. nil stays nil.
//
// What is said closest to the cause counts first: a command knows better than the kind of error,
// and that better than its code.
func Of(err error, more ...Kind) *answer.Problem {
	if err == nil {
		return nil
	}
	all := kinds(more)
	p := named(err)
	p.Code = codeIn(err, all)
	p.Reasons = reasonsOf(err)
	p.Next = nextOf(p, all)

	return p
}

// Advises reports whether more is known to do next than what the code of the error says.
func Advises(err error, more ...Kind) bool {
	for p := range problemsIn(err) {
		if len(p.Next) > 0 {
			return true
		}
	}

	for _, k := range kinds(more) {
		if _, next, is := k(err, &answer.Problem{Cause: err}); is && len(next) > 0 {
			return true
		}
	}

	return false
}

// Reasons are a verdict's, in their order and fit for one line each; nil without any.
func Reasons(v lifecycle.Verdict) []answer.Reason {
	var out []answer.Reason
	for _, r := range v.Reasons {
		out = append(out, answer.Reason{
			Code:  string(r.Code),
			Text:  printable.Line(r.Text),
			URL:   r.URL,
			Until: r.Until.UTC().Truncate(time.Second),
		})
	}

	return out
}

// named is the problem without what is known of its kind: what was being done, to what, and why.
func named(err error) *answer.Problem {
	top := err
	for { // an error that is joined with none is that error
		joined, is := top.(interface{ Unwrap() []error })
		if !is || len(joined.Unwrap()) != 1 {
			break
		}
		top = joined.Unwrap()[0]
	}

	p, is := top.(*answer.Problem)
	if !is {
		return &answer.Problem{Why: err.Error(), Cause: err}
	}

	bare := *p
	bare.Doing, bare.Object = "", ""
	return &answer.Problem{
		Doing:  p.Doing,
		Object: p.Object,
		Why:    withoutObject(bare.Error(), p.Object),
		Cause:  err,
	}
}

// withoutObject is the text of a cause without the object, which is named already.
func withoutObject(text, object string) string {
	for _, kind := range []string{"read ", "bundle ", "feature "} {
		text = strings.TrimPrefix(text, kind+object+": ")
	}
	return text
}

// codeIn is the code of an error. Of several the caller's own mistake counts first, then no work,
// then no; a no hides nothing that could not be found out.
func codeIn(err error, all []Kind) answer.Code {
	var found []answer.Code
	for p := range problemsIn(err) {
		if p.Code != "" {
			found = append(found, p.Code)
		}
	}

	for _, k := range all {
		if code, _, is := k(err, &answer.Problem{}); is {
			found = append(found, code)
		}
	}

	for _, exit := range []int{answer.ExitWrong, answer.ExitNoWork, answer.ExitNo, answer.ExitUnknown} {
		if n := slices.IndexFunc(found, func(c answer.Code) bool { return c.Meaning().Exit == exit }); n >= 0 {
			return found[n]
		}
	}

	return answer.Unread
}

// reasonsOf are the reasons of a hold that stands in the way; nil for every other error.
func reasonsOf(err error) []answer.Reason {
	held, is := errors.AsType[*ledger.HeldError](err)
	if !is {
		return nil
	}

	reasons := Reasons(held.Verdict)
	if held.Yielded != nil { // its own claim is over, and no reason any longer
		own := string(lifecycle.CodeOwn)
		reasons = slices.DeleteFunc(reasons, func(r answer.Reason) bool { return r.Code == own })
	}

	return reasons
}

// nextOf is what to do about a problem. It is never empty.
func nextOf(p *answer.Problem, all []Kind) (next []answer.Command) {
	for one := range problemsIn(p.Cause) {
		if len(one.Next) > 0 {
			next = filled(p, one.Next) // of one inside another the inner one
		}
	}

	for n := 0; n < len(all) && len(next) == 0; n++ {
		_, next, _ = all[n](p.Cause, p)
	}

	if len(next) == 0 {
		next = usual(p)
	}

	if _, spent := errors.AsType[*ledger.SpentError](p.Cause); spent {
		for n := range next {
			if next[n].Verb == answer.Again {
				next[n].Verb = answer.AgainNewID
			}
		}
	}

	return next
}

// usual is what the code of a problem says to do, about this problem's object. What is about an
// issue nobody knows is left out.
func usual(p *answer.Problem) []answer.Command {
	next := filled(p, p.Code.Meaning().Next)
	if len(next) == 0 {
		return []answer.Command{answer.Call("fix the cause, then run", answer.Again)}
	}

	return next
}

// filled puts what p is about in the place of placeholders. A command for an issue is left out
// where p is about none.
func filled(p *answer.Problem, all []answer.Command) (next []answer.Command) {
	for _, c := range all {
		fits := true
		c.Args = slices.Clone(c.Args)
		for n, arg := range c.Args {
			switch arg {
			case answer.TheIssue:
				c.Args[n], fits = p.Object, strings.Contains(p.Object, "#")
			case answer.TheObject:
				c.Args[n] = p.Object
			case answer.TheRepo:
				c.Args[n] = repoOf(p)
			}
		}

		c.Args = slices.DeleteFunc(c.Args, func(arg string) bool { return arg == "" })
		if c.Verb == answer.TheVerb {
			c.Verb = p.Doing
		}

		if fits {
			next = append(next, c)
		}
	}

	return next
}

// problemsIn are the problems in the tree of an error, the outer before the inner.
func problemsIn(err error) func(yield func(*answer.Problem) bool) {
	return func(yield func(*answer.Problem) bool) {
		for queue := []error{err}; len(queue) > 0; {
			first := queue[0]
			queue = queue[1:]
			if p, is := first.(*answer.Problem); is && !yield(p) {
				return
			}

			switch e := first.(type) {
			case interface{ Unwrap() error }:
				if inner := e.Unwrap(); inner != nil {
					queue = append([]error{inner}, queue...)
				}
			case interface{ Unwrap() []error }:
				queue = append(slices.Clone(e.Unwrap()), queue...)
			}
		}
	}
}

// repoOf is the repository that a problem is about, as far as it is known.
func repoOf(p *answer.Problem) string {
	if strings.Contains(p.Object, "/") {
		repo, _, _ := strings.Cut(p.Object, "#")
		return repo
	}
	if e, is := errors.AsType[*ledger.UnknownError](p.Cause); is {
		return e.Issue.Slug()
	}
	if e, is := errors.AsType[*github.NotFoundError](p.Cause); is {
		switch e.What.Kind {
		case github.RepositoryObject, github.IssueObject, github.PullObject:
			repo, _, _ := strings.Cut(e.What.Name, "#")
			return repo
		}
	}

	return ""
}

// doctor examines the repository that a problem is about.
func doctor(when string, p *answer.Problem) answer.Command {
	return answer.Call(when, "doctor", strings.Fields(repoOf(p))...) // a board may be of several
}
