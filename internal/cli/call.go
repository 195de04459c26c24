package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
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
	Subject  Reply             // what it is about, as far as is known
	Answered bool              // standard output has its JSON
}

// A verb is the work of a command once its session is open.
type verb func(ctx context.Context, c *Call) error

// WithSession runs a verb on what the options name. Whatever goes wrong comes back as a *failure, and has
// been answered in JSON if that was asked for.
func (t Terminal) WithSession(cc *cli.Context, o setup.Options, do verb) error {
	ctx, cancel := Deadline(cc)
	defer cancel()
	c := &Call{Flags: cc, Terminal: t, Subject: Reply{Issue: WithoutURL(o.Ref)}}
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

// Open makes the session of the call and notes what it is about, for messages. Without an issue there has to be a repository: the error is then a
// *UsageError (exit 2); the others are those of setup.Open.
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

// Fail is the error that the command ends with: a *Failure that says what was being done to what. With --json the negative answer is printed, unless
// the command has answered. nil stays nil.
func (c *Call) Fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = c.Timed(ctx, err)
	f := &Failure{Doing: CommandPath(c.Flags), Object: cmp.Or(c.Subject.Issue, c.Subject.Repo, c.Subject.Feature), Err: err}
	if c.Answered {
		return f
	}
	return errors.Join(f, c.AnswerJSON(c.Subject.Negative(f)))
}

// Timed says so when it was --timeout or a signal that kept the answer from being found out.
func (c *Call) Timed(ctx context.Context, err error) error {
	switch {
	case ExitCode(err) != ExitUnknown || ctx.Err() == nil:
		return err
	case ctx.Err() == context.DeadlineExceeded:
		late := &timeoutError{cause: cause{err}, after: c.Flags.Duration("timeout")}
		if e, is := errors.AsType[*lease.Error](err); is {
			late.store = e.Kind
		}
		return late
	case ctx.Err() == context.Canceled:
		return &interruptedError{cause{err}}
	}
	return err
}

// Deadline is the context of a call: it ends with the program, and after --timeout where that is given.
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
		Repo: cc.String("repo"), Config: cc.String("config"),
		DryRun: cc.Bool("dry-run"), Verbose: cc.Bool("verbose"), View: slices.Contains(shows, CommandPath(cc)),
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

// InRepos is session for commands about several repositories: the arguments and --repo, or this clone's. One that fails does not keep
// the others from being done.
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

// Answer prints what was found: v as JSON when asked, with nothing in it that does not show, else text.
func (c *Call) Answer(v any, text string) error {
	c.Answered = true
	if c.Flags.Bool("json") {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
		_, err := c.Terminal.Out.Write(printable.JSON(text.Bytes()))
		return err
	}
	_, err := fmt.Fprint(c.Terminal.Out, text)
	return err
}

// Tell answers with sentences, which break between words where a person's terminal ends.
func (c *Call) Tell(v any, text string) error {
	return c.Answer(v, Wrap(text, c.Terminal.Env.Width(c.Terminal.Out)))
}

// A Reply is the JSON of an answer about one issue or repository. Keys are stable.
type Reply struct {
	Issue   string   `json:"issue,omitempty"`
	Repo    string   `json:"repo,omitempty"`
	Feature string   `json:"feature,omitempty"`
	Answer  string   `json:"answer"`
	Reasons []Reason `json:"reasons,omitempty"`
	Error   string   `json:"error,omitempty"`

	Queue  *int              `json:"queue,omitempty"` // how many issues are ready; only beside answer none
	Passed []work.PassedOver `json:"passed_over,omitempty"`
}

type Reason struct {
	Code  string `json:"code"`
	Text  string `json:"text"`
	URL   string `json:"url,omitempty"`
	Until string `json:"until,omitempty"`
}

// Negative is the answer to a command that failed: held, lost, no, refused or unknown.
func (r Reply) Negative(f *Failure) Reply {
	r.Answer, r.Error = "unknown", OneLine(f.Reason())
	var held *ledger.HeldError
	var lost *ledger.LostError
	switch ExitCode(f) {
	case ExitCalled:
		r.Answer = "refused"
	case ExitNo:
		r.Answer = "no"
	case ExitNoWork:
		r.Answer, r.Error = "none", ""
		if none, is := errors.AsType[*work.NoWorkError](f); is {
			r.Queue, r.Passed = &none.Queue, none.Passed
		}
	}
	switch {
	case errors.As(f, &held):
		r.Answer, r.Reasons = "held", Reasons(held.Verdict)
		if held.Yielded != nil { // its own claim is over, and no reason any more
			r.Reasons = slices.DeleteFunc(r.Reasons, func(why Reason) bool { return why.Code == string(lifecycle.CodeOwn) })
		}
	case errors.As(f, &lost) && !lost.Worker.IsZero():
		r.Answer = "lost"
	}
	return r
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
