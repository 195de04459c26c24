package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/work"
	"github.com/urfave/cli/v2"
)

// A Call is one invocation of a command: its flags, its streams and, once opened, its session.
type Call struct {
	Flags    *cli.Context
	Terminal Terminal
	Session  *setup.Session
	Source   config.WorkSource // where the agent takes its work from
	Subject  answer.Answer     // what it is about, as far as is known
	Answered bool              // standard output has its JSON
}

// A verb is the work of a command once its session is open.
type verb func(ctx context.Context, c *Call) error

// WithSession runs a verb on what the options name. Whatever goes wrong comes back as a problem,
// and has been answered in JSON if that was asked for.
func (t Terminal) WithSession(cc *cli.Context, o setup.Options, do verb) error {
	ctx, cancel := Deadline(cc)
	defer cancel()
	c := &Call{Flags: cc, Terminal: t, Subject: answer.Answer{Issue: WithoutURL(o.Ref)}}
	if o.Ref == "" {
		c.Subject.Repo = WithoutURL(o.Repo)
	}

	err := c.Open(ctx, o)
	defer c.Close()
	if err == nil {
		err = do(ctx, c)
	}

	return c.Fail(ctx, err)
}

// Close ends the connections of a session, if there is one. What goes wrong then changes nothing.
func (c *Call) Close() {
	if c.Session != nil {
		_ = c.Session.Close()
	}
}

// Open makes the session of the call and notes what it is about, for messages. Without an issue
// there has to be a repository: the error is then a wrong call (exit 2); the others are those of
// setup.Open.
func (c *Call) Open(ctx context.Context, o setup.Options) error {
	s, err := setup.Open(ctx, c.Terminal.Env, o)
	if err != nil {
		return err
	}

	c.Session = s
	switch {
	case o.Ref != "":
		c.Subject.Issue = s.Issue.String()
	case s.Repo == ledger.Repo{}:
		return Usagef(CommandPath(c.Flags), "no repository is known here; give OWNER/NAME, or run it inside a clone")
	default:
		c.Subject.Repo = s.Repo.String()
	}

	return nil
}

// WithoutURL is a name as it was typed, but not a URL: that may hold a token.
func WithoutURL(name string) string {
	if strings.ContainsAny(name, ":@") {
		return ""
	}
	return OneLine(name)
}

// Fail is the error that the command ends with: a problem that says what was being done to what.
// With --json the negative answer is printed, unless the command has answered. nil stays nil.
func (c *Call) Fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = c.Timed(ctx, err)
	p := ProblemOf(At(CommandPath(c.Flags), cmp.Or(c.Subject.Issue, c.Subject.Repo, c.Subject.Feature), err))
	if c.Answered {
		return p
	}

	return errors.Join(p, c.AnswerJSON(c.Negative(p)))
}

// Negative is the answer to a command that failed, about what the call is about.
func (c *Call) Negative(p *answer.Problem) answer.Answer {
	a := p.Answer(c.Subject.Issue)
	a.Repo, a.Feature = c.Subject.Repo, c.Subject.Feature
	a.Error = OneLine(a.Error)
	a.Next = c.Terminal.Resolve(a.Next)
	if none, is := errors.AsType[*work.NoWorkError](p); is {
		a.Error, a.Queue, a.Passed = "", &none.Queue, none.Passed
	}

	return a
}

// Timed says so when it was --timeout or a signal that kept the answer from being found out.
func (c *Call) Timed(ctx context.Context, err error) error {
	if ExitCode(err) != answer.ExitUnknown || ctx.Err() == nil {
		return err
	}
	if ctx.Err() == context.DeadlineExceeded {
		return c.late(err)
	}

	p := &answer.Problem{Code: answer.Interrupt, Why: "interrupted" + aftermath(err), Cause: err}
	if c.Subject.Issue != "" {
		p.Next = []answer.Command{answer.Call("see where it stands", "status", c.Subject.Issue)}
	}

	return p
}

// late is what --timeout did not leave time for.
func (c *Call) late(err error) error {
	p := &answer.Problem{
		Code: answer.Timeout, Why: "no answer within " + printable.Exact(c.Flags.Duration("timeout")),
		Cause: err,
	}
	longer := answer.Call("then", answer.AgainLonger)
	store, is := errors.AsType[*lease.Error](err)
	switch {
	case is:
		p.Code = answer.Store
		p.Why += " from the lease store " + store.Kind
	case c.Subject.Issue != "":
		p.Next = []answer.Command{answer.Call("see where it stands", "status", c.Subject.Issue), longer}
	case c.Subject.Feature != "":
		p.Next = []answer.Command{answer.Call("see what is missing", "chain status", "--feature",
			c.Subject.Feature), longer}
	}

	p.Why += aftermath(err)
	return p
}

// Deadline is the context of a call: it ends with the program, and after --timeout where that is
// given.
func Deadline(cc *cli.Context) (context.Context, context.CancelFunc) {
	if d := cc.Duration("timeout"); d > 0 {
		return context.WithTimeout(cc.Context, d)
	}
	return context.WithCancel(cc.Context)
}

// SetupOptions are what the flags of every command say about the session.
func SetupOptions(cc *cli.Context) setup.Options {
	shows := []string{"status", "log", "stats"} // nobody starts or ends work by what they say of whose records count
	return setup.Options{
		Repo:    cc.String("repo"),
		Config:  cc.String("config"),
		DryRun:  cc.Bool("dry-run"),
		Verbose: cc.Bool("verbose"),
		View:    slices.Contains(shows, CommandPath(cc)),
	}
}

// OnIssue is session for commands about one issue, the only argument.
func (t Terminal) OnIssue(do func(ctx context.Context, c *Call, i claim.Issue) error) cli.ActionFunc {
	return func(cc *cli.Context) error {
		o, err := onOneIssue(cc)
		if err != nil {
			return err
		}
		return t.WithSession(cc, o, func(ctx context.Context, c *Call) error { return do(ctx, c, c.Session.Issue) })
	}
}

// onOneIssue are the options of a command whose only argument is an issue.
func onOneIssue(cc *cli.Context) (setup.Options, error) {
	o := SetupOptions(cc)
	if n := cc.Args().Len(); n != 1 {
		return o, Usagef(CommandPath(cc), "%s: want one issue, got %d arguments", CommandPath(cc), n)
	}
	if o.Ref = cc.Args().First(); o.Ref == "" {
		return o, Usagef(CommandPath(cc), "%s: the issue is empty", CommandPath(cc))
	}

	return o, nil
}

// InRepo is session for commands about one repository: the argument, --repo, or this clone's.
func (t Terminal) InRepo(do verb) cli.ActionFunc {
	return func(cc *cli.Context) error {
		o, err := InOneRepo(cc)
		if err != nil {
			return err
		}
		return t.WithSession(cc, o, do)
	}
}

// InRepos is session for commands about several repositories: the arguments and --repo, or this
// clone's. One that fails does not keep the others from being done.
func (t Terminal) InRepos(do verb) cli.ActionFunc {
	return func(cc *cli.Context) error {
		names := NamedRepos(cc)
		if len(names) == 0 {
			names = []string{""}
		}

		var failed []error
		for _, name := range names {
			o := SetupOptions(cc)
			o.Repo = name
			failed = append(failed, t.WithSession(cc, o, do))
		}

		return errors.Join(failed...)
	}
}

// InOneRepo are the options of a command whose only argument, if any, is a repository.
func InOneRepo(cc *cli.Context) (setup.Options, error) {
	o := SetupOptions(cc)
	switch cc.Args().Len() {
	case 0:
	case 1:
		o.Repo = cc.Args().First()
	default:
		return o, Usagef(CommandPath(cc), "%s: want one repository, got %d arguments", CommandPath(cc), cc.Args().Len())
	}

	return o, nil
}

// Answer prints what was found: v as JSON when asked, with nothing in it that does not show, else
// text.
func (c *Call) Answer(v any, text string) error {
	c.Told()
	if c.Flags.Bool("json") {
		return c.unwritten(c.Terminal.write(v))
	}
	_, err := fmt.Fprint(c.Terminal.Out, text)
	return c.unwritten(err)
}

// unwritten says of an answer that nobody can read that what was done stays.
func (c *Call) unwritten(err error) error {
	if err == nil {
		return nil
	}

	p := &answer.Problem{
		Code:  answer.Machine,
		Why:   "the answer could not be written: " + err.Error() + "; what was done stays done",
		Cause: err,
	}

	if c.Subject.Issue != "" {
		p.Next = []answer.Command{answer.Call("see where it stands", "status", c.Subject.Issue)}
	}

	return p
}

// Told notes that standard output has an answer, or is another program's from now on.
func (c *Call) Told() {
	c.Answered = true
	if c.Terminal.told != nil {
		*c.Terminal.told = true
	}
}

// Tell answers with sentences, which break between words where a person's terminal ends.
func (c *Call) Tell(v any, text string) error {
	return c.Answer(v, Wrap(text, c.Terminal.Env.Width(c.Terminal.Out)))
}

// WarnLate turns a real success whose labels could not be written into a warning.
func (c *Call) WarnLate(err error) error {
	var late *ledger.LabelsError
	if !errors.As(err, &late) {
		return err
	}
	Warnf(c.Terminal.Err, "%s: the record counts; %s; the next sweep repairs them", late.Issue, late)
	return nil
}

// AnswerJSON answers only if JSON was asked for.
func (c *Call) AnswerJSON(v any) error {
	if !c.Flags.Bool("json") {
		return nil
	}
	return c.Answer(v, "")
}
