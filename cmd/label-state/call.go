package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

// A call is one invocation of a command: its flags, its streams and, once opened, its session.
type call struct {
	*cli.Context
	terminal
	*setup.Session
	source   config.WorkSource // where the agent takes its work from
	subject  reply             // what it is about, as far as is known
	answered bool              // standard output has its JSON
}

// A verb is the work of a command once its session is open.
type verb func(ctx context.Context, c *call) error

// session runs a verb on what the options name. Whatever goes wrong comes back as a *failure, and has
// been answered in JSON if that was asked for.
func (t terminal) session(cc *cli.Context, o setup.Options, do verb) error {
	ctx, cancel := deadline(cc)
	defer cancel()
	c := &call{Context: cc, terminal: t, subject: reply{Issue: typed(o.Ref)}}
	if o.Ref == "" {
		c.subject.Repo = typed(o.Repo)
	}
	err := c.open(ctx, o)
	defer c.close()
	if err == nil {
		err = do(ctx, c)
	}
	return c.failed(ctx, err)
}

// close ends the connections of a session, if there is one. What goes wrong then changes nothing.
func (c *call) close() {
	if c.Session != nil {
		_ = c.Close()
	}
}

func (c *call) open(ctx context.Context, o setup.Options) error {
	s, err := setup.Open(ctx, c.env, o)
	if err != nil {
		return err
	}
	c.Session = s
	switch {
	case o.Ref != "":
		c.subject.Issue = s.Issue.String()
	case s.Repo == ledger.Repo{}:
		return wrong(path(c.Context), "no repository is known here; give OWNER/NAME, or run it inside a clone")
	default:
		c.subject.Repo = s.Repo.String()
	}
	return nil
}

// typed is a name as it was typed, but not a URL: that may hold a token.
func typed(name string) string {
	if strings.ContainsAny(name, ":@") {
		return ""
	}
	return oneLine(name)
}

func (c *call) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = c.timed(ctx, err)
	f := &failure{doing: path(c.Context), object: cmp.Or(c.subject.Issue, c.subject.Repo, c.subject.Feature), err: err}
	if c.answered {
		return f
	}
	return errors.Join(f, c.answerJSON(c.subject.negative(f)))
}

// timed says so when it was --timeout or a signal that kept the answer from being found out.
func (c *call) timed(ctx context.Context, err error) error {
	switch {
	case exitCode(err) != exitUnknown || ctx.Err() == nil:
		return err
	case ctx.Err() == context.DeadlineExceeded:
		return &timeoutError{c.Duration("timeout"), err}
	case ctx.Err() == context.Canceled:
		return &interruptedError{err}
	}
	return err
}

func deadline(cc *cli.Context) (context.Context, context.CancelFunc) {
	if d := cc.Duration("timeout"); d > 0 {
		return context.WithTimeout(cc.Context, d)
	}
	return context.WithCancel(cc.Context)
}

func options(cc *cli.Context) setup.Options {
	return setup.Options{
		Repo: cc.String("repo"), Config: cc.String("config"),
		DryRun: cc.Bool("dry-run"), Verbose: cc.Bool("verbose"),
	}
}

// on is session for commands about one issue, the only argument.
func (t terminal) on(do func(ctx context.Context, c *call, i claim.Issue) error) cli.ActionFunc {
	return func(cc *cli.Context) error {
		if n := cc.Args().Len(); n != 1 {
			return wrong(path(cc), "%s: want one issue, got %d arguments", path(cc), n)
		}
		o := options(cc)
		if o.Ref = cc.Args().First(); o.Ref == "" {
			return wrong(path(cc), "%s: the issue is empty", path(cc))
		}
		return t.session(cc, o, func(ctx context.Context, c *call) error { return do(ctx, c, c.Issue) })
	}
}

// inRepo is session for commands about one repository: the argument, --repo, or this clone's.
func (t terminal) inRepo(do verb) cli.ActionFunc {
	return func(cc *cli.Context) error {
		o, err := inOneRepo(cc)
		if err != nil {
			return err
		}
		return t.session(cc, o, do)
	}
}

// inOneRepo are the options of a command whose only argument, if any, is a repository.
func inOneRepo(cc *cli.Context) (setup.Options, error) {
	o := options(cc)
	switch cc.Args().Len() {
	case 0:
	case 1:
		o.Repo = cc.Args().First()
	default:
		return o, wrong(path(cc), "%s: want one repository, got %d arguments", path(cc), cc.Args().Len())
	}
	return o, nil
}

// answer prints what was found: v as JSON when asked, else text.
func (c *call) answer(v any, text string) error {
	c.answered = true
	if c.Bool("json") {
		enc := json.NewEncoder(c.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	}
	_, err := fmt.Fprint(c.out, text)
	return err
}

// tell answers with sentences, which break between words where a person's terminal ends.
func (c *call) tell(v any, text string) error {
	return c.answer(v, wrap(text, c.env.Width(c.out)))
}

// A reply is the JSON of an answer about one issue or repository. Keys are stable.
type reply struct {
	Issue   string   `json:"issue,omitempty"`
	Repo    string   `json:"repo,omitempty"`
	Feature string   `json:"feature,omitempty"`
	Answer  string   `json:"answer"`
	Reasons []reason `json:"reasons,omitempty"`
	Error   string   `json:"error,omitempty"`
}

type reason struct {
	Code  string `json:"code"`
	Text  string `json:"text"`
	URL   string `json:"url,omitempty"`
	Until string `json:"until,omitempty"`
}

// negative is the answer to a command that failed: held, lost, no, refused or unknown.
func (r reply) negative(f *failure) reply {
	r.Answer, r.Error = "unknown", oneLine(f.reason())
	var held *ledger.HeldError
	var lost *ledger.LostError
	switch exitCode(f) {
	case exitCalled:
		r.Answer = "refused"
	case exitNo:
		r.Answer = "no"
	case exitNoWork:
		r.Answer, r.Error = "none", ""
	}
	switch {
	case errors.As(f, &held):
		r.Answer, r.Reasons = "held", reasons(without(held.Verdict, lifecycle.CodeOwn))
		if held.Yielded == nil {
			r.Reasons = reasons(held.Verdict)
		}
	case errors.As(f, &lost) && !lost.Worker.IsZero():
		r.Answer = "lost"
	}
	return r
}

// late turns a real success whose labels could not be written into a warning.
func (c *call) late(err error) error {
	var late *ledger.LabelsError
	if !errors.As(err, &late) {
		return err
	}
	warn(c.err, "%s: the record counts; %s; the next sweep repairs them", late.Issue, late)
	return nil
}

// answerJSON answers only if JSON was asked for.
func (c *call) answerJSON(v any) error {
	if !c.Bool("json") {
		return nil
	}
	return c.answer(v, "")
}
