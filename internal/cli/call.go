package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/work"
)

// A Call is one call of a verb: its streams, the parameters that all verbs share, and, once opened,
// its session.
type Call struct {
	Shared
	Verb Verb
	Terminal
	Session *setup.Session                 // before it is opened it knows no more than who works
	Source  config.WorkSource              // where the agent takes its work from
	Subject answer.Answer                  // what it is about, as far as is known
	Stands  answer.Command                 // shows where that stands, if it is not one issue
	No      func(answer.Answer, error) any // the JSON of a negative answer; nil is the answer itself
	Closed  bool                           // standard output is another program's, or full

	reported bool // each of its parts has said what went wrong there
}

// A Negative is what the JSON of an answer that is not yes has besides, in a view of its own.
type Negative struct {
	Answer answer.Word      `json:"answer,omitempty"` // where the view has none of its own
	Code   answer.Code      `json:"code,omitempty"`
	Error  string           `json:"error,omitempty"`
	Next   []answer.Command `json:"next,omitempty"`
}

// No is what a negative answer says.
func No(a answer.Answer) Negative { return Negative{a.Answer, a.Code, a.Error, a.Next} }

func (n *Negative) deny(no Negative) { *n = no }

// Decline answers with a problem: view, which embeds a Negative, is the JSON of what was found all
// the same, and text says it to people.
func (c *Call) Decline(problem error, text string, view interface{ deny(no Negative) }) error {
	c.No = func(a answer.Answer, _ error) any {
		view.deny(No(a))
		return view
	}
	return cmp.Or(c.Answer(nil, text), problem)
}

// newCall takes over what the verb's parameters have of the shared ones.
func newCall(t Terminal, v Verb, params any) *Call {
	c := &Call{Verb: v, Terminal: t, Session: &setup.Session{Worker: t.Env.Identity()}}
	from, to := reflect.ValueOf(params).Elem(), reflect.ValueOf(&c.Shared).Elem()
	for _, f := range reflect.VisibleFields(to.Type()) {
		if has, is := from.Type().FieldByName(f.Name); is && !f.Anonymous && has.Type == f.Type {
			to.FieldByIndex(f.Index).Set(from.FieldByIndex(has.Index))
		}
	}

	c.Subject.Issue = WithoutURL(c.Issue)
	if c.Issue == "" {
		c.Subject.Repo = WithoutURL(c.Repo)
	}

	return c
}

// Part is the call for one of several things that it is about, without a session.
func (c *Call) Part() *Call {
	part := *c
	part.Session, part.Subject = &setup.Session{Worker: c.Session.Worker}, answer.Answer{}
	return &part
}

// InEach carries a verb out for each repository, or for this clone's where none is named. One that
// fails does not keep the others from being done.
func InEach[P any](ctx context.Context, c *Call, repos []string, do Action[P],
	p *P,
) error {
	var failed []error
	for _, name := range OrHere(repos) {
		part := c.Part()
		part.Repo, part.Subject.Repo = name, WithoutURL(name)
		failed = append(failed, part.fail(ctx, do(ctx, part, p)))
		part.Close()
	}

	c.reported = true
	return errors.Join(failed...)
}

// Missing is the error of a call that had to leave repositories out, and answers for each of them.
// The object of each error is its repository.
func (c *Call) Missing(ctx context.Context, errs []error) error {
	var failed []error
	for _, err := range errs {
		part := c.Part()
		part.Subject.Repo = ProblemOf(err).Object
		failed = append(failed, part.fail(ctx, err))
	}

	c.reported = true
	return errors.Join(failed...)
}

// Close ends the connections of a session, if there is one. What goes wrong then changes nothing.
func (c *Call) Close() { _ = c.Session.Close() }

// Open makes the session of the call and notes what it is about, for messages. Without an issue
// there has to be a repository: the error is then a wrong call (exit 2); the others are those of
// setup.Open.
func (c *Call) Open(ctx context.Context, o setup.Options) error {
	s, err := setup.Open(ctx, c.Env, o)
	if s == nil {
		return err
	}

	switch {
	case o.Ref != "":
		c.Subject.Issue = s.Issue.String()
	case s.Repo != claim.Repo{}:
		c.Subject.Repo = s.Repo.String()
	}

	if err != nil {
		return err
	}

	c.Session = s
	if o.Ref == "" && s.Repo == (claim.Repo{}) {
		named := answer.Call("", answer.Again, "--repo", "OWNER/NAME")
		if why := c.Env.Nowhere(ctx); why != nil {
			wrong := c.Usagef("no repository is known here: %s; give --repo OWNER/NAME", OneLine(why.Error()))
			if says, is := errors.AsType[*answer.Problem](why); is && says.Next != nil {
				return Advise(wrong, says.Next...)
			}
			return Advise(wrong, named)
		}
		return Advise(c.Usagef("no repository is known here; give --repo OWNER/NAME, or run it inside a clone"), named)
	}

	return nil
}

// ReadFile reads the file that an option names, "-" being standard input, and no more of it than
// most bytes. One that cannot be read is a wrong call.
func (c *Call) ReadFile(option, name string, most int64) ([]byte, error) {
	from := c.In
	if name != "-" {
		f, err := os.Open(c.Env.Path(name))
		if err != nil {
			return nil, c.Usagef("--%s: %s", option, err)
		}
		defer f.Close()
		from = f
	}

	text, err := io.ReadAll(io.LimitReader(from, most))
	if err != nil {
		return nil, c.Usagef("--%s: %s", option, err)
	}

	return text, nil
}

// WithoutURL is a name as it was typed, but not a URL: that may hold a token.
func WithoutURL(name string) string {
	if strings.ContainsAny(name, ":@") {
		return ""
	}
	return OneLine(name)
}

// fail is the error that the verb ends with: a problem that says what was being done to what. With
// --json the negative answer is printed, after whatever was answered before. nil stays nil.
func (c *Call) fail(ctx context.Context, err error) error {
	if err == nil || c.reported {
		return err
	}

	err = c.Timed(ctx, err)
	p := ProblemOf(err)
	if p.Doing == "" {
		p = ProblemOf(At(c.Verb.Name, cmp.Or(c.Subject.Issue, c.Subject.Repo, c.Subject.Feature), err))
	}

	if c.Closed {
		return p
	}

	a := c.negative(p, c.Subject.Issue)
	a.Repo, a.Feature = c.Subject.Repo, c.Subject.Feature
	if none, is := errors.AsType[*work.NoWorkError](p); is {
		a.Queue, a.Passed = &none.Queue, none.Passed
	}

	if c.No != nil {
		return errors.Join(p, c.Answer(c.No(a, err), ""))
	}

	return errors.Join(p, c.Answer(a, ""))
}

// Failed is what the view of one of several things says that failed, where the call goes on.
func (c *Call) Failed(err error) Negative { return No(c.negative(ProblemOf(err), "")) }

// Timed says so when it was --timeout or a signal that kept the answer from being found out.
func (c *Call) Timed(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if p := ProblemOf(err); p.Code == answer.Timeout || p.Code.Meaning().Exit != answer.ExitUnknown {
		return err // as was found out before
	}
	if ctx.Err() == context.DeadlineExceeded {
		return c.late(err)
	}

	return &answer.Problem{
		Code:  answer.Interrupt,
		Why:   "interrupted" + aftermath(err),
		Next:  c.standing(),
		Cause: err,
	}
}

// standing is how to see what became of the issue that the call is about, if it is about one.
func (c *Call) standing() []answer.Command {
	if c.Subject.Issue == "" {
		return nil
	}
	return []answer.Command{answer.Call("see its state", "status", c.Subject.Issue)}
}

// late is what --timeout did not leave time for.
func (c *Call) late(err error) error {
	p := &answer.Problem{
		Code: answer.Timeout, Why: "no answer within " + printable.Exact(c.Timeout),
		Cause: err,
	}
	longer := answer.Call("then", answer.AgainLonger)
	store, is := errors.AsType[*lease.Error](err)
	switch {
	case is:
		p.Code = answer.Store
		p.Why += " from the lease store " + store.Kind
	case c.Subject.Issue != "":
		p.Next = append(c.standing(), longer)
	case c.Stands.Verb != "":
		p.Next = []answer.Command{c.Stands, longer}
	}

	p.Why += aftermath(err)
	return p
}

// Deadline is the context of a call: it ends with the program, and after --timeout where that is
// given.
func (c *Call) Deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout > 0 {
		return context.WithTimeout(ctx, c.Timeout)
	}
	return context.WithCancel(ctx)
}

// Awaits begins to say what the call waits for, and until when at the latest, as soon as it has
// taken a while; stop ends that.
func (c *Call) Awaits(ctx context.Context, what string, until time.Time) (stop func()) {
	if end, ends := ctx.Deadline(); ends && (until.IsZero() || end.Before(until)) {
		until = end
	}

	v := clock.Watch(c.Env.Waiting)
	v.For(what, until)
	return v.End
}

// Options are what the shared parameters say about the session. This host's own file goes by a
// guess: that needs no answer of GitHub's, because the file is there for when there is none.
func (c *Call) Options() setup.Options {
	var guess *config.Config
	if c.Local {
		guess = new(config.Default())
	}

	return setup.Options{
		Repo:    c.Repo,
		Config:  c.Config,
		DryRun:  c.DryRun,
		Verbose: c.Verbose,
		View:    c.Verb.Shows,
		Guess:   guess,
	}
}

// Usagef is a wrong call of this verb.
func (c *Call) Usagef(format string, args ...any) error { return Usagef(c.Verb.Name, format, args...) }

// Option is how an option of this verb is called where it was called from.
func (c *Call) Option(name string) string {
	if c.Terminal.Option != nil {
		return c.Terminal.Option(name)
	}
	return "--" + name
}

// Live reports whether a person sits at both ends.
func (c *Call) Live() bool {
	in, typed := c.In.(io.Writer) // a file; only its descriptor is looked at
	return !c.JSON && typed && c.Env.IsTerminal(in) && c.Env.IsTerminal(c.Out)
}

// WarnLate turns a real success whose labels could not be written into a warning.
func (c *Call) WarnLate(err error) error {
	var late *ledger.LabelsError
	if !errors.As(err, &late) {
		return err
	}
	c.Warnf("%s: the record counts; %s; the next sweep repairs them", late.Issue, late)
	return nil
}

// Rules are those of the session's repository.
func (c *Call) Rules() lifecycle.Rules { return c.Session.Ledger.Rules() }
