// Package feature works on one feature in several repositories: bundle, worktree and chain.
package feature

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/internal/trouble"
	urfave "github.com/urfave/cli/v2"
)

// NewBundleCommand makes the command bundle.
func NewBundleCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "bundle", Usage: "several issues for one worker: all or nothing",
		Subcommands: []*urfave.Command{
			{
				Name:      "claim",
				Usage:     "take every issue of the bundle, or none",
				ArgsUsage: "NAME ISSUE...",
				Description: "Everything is looked at before the first write. When any issue cannot be had, those already taken are released with their labels as they were. " +
					"What a killed run has left is released first.\n\nNAME is 1 to 63 of a-z, 0-9 and -, and at most 50 with labels.bundle_prefix before it: 37, unless you changed the prefix. Holds are recorded in every worktree of the feature that this folder belongs to." + cli.IssueForms +
					"   label-state bundle claim checkout-v2 acme/app#42 acme/web#7 --codename lucius\n   label-state bundle claim checkout-v2 42 acme/web#7 --codename lucius --dry-run",
				Flags: cli.WriteFlags(append(cli.IdentityFlags(),
					&urfave.DurationFlag{
						Name:  "ttl",
						Usage: "length of the leases, at most claim.max_ttl (default: claim.ttl)",
					})...),
				Action: func(cc *urfave.Context) error { return runBundleClaim(t, cc) },
			},
			{
				Name:      "release",
				Usage:     "release every issue of the bundle",
				ArgsUsage: "NAME",
				Description: "Of a bundle that was claimed on this machine. Holds that have ended already, as by a pull request, are left alone. " +
					"Who says its codename releases only what that one claimed.\n\n   label-state bundle release checkout-v2 --outcome failure --reason 'API is missing'",
				Flags: cli.WriteFlags(
					&urfave.StringFlag{
						Name:  "codename",
						Usage: "`NAME` of the worker that claimed it (default: LABEL_STATE_CODENAME)",
					},
					&urfave.StringFlag{
						Name:  "firing-id",
						Usage: "`ID` of the run that claimed it; another run's bundle is left alone",
					},
					&urfave.StringFlag{Name: "outcome", Usage: "`OUTCOME` of the work (default: cancelled)"},
					&urfave.StringFlag{Name: "reason", Usage: "why, for people"},
				),
				Action: func(cc *urfave.Context) error { return runBundleRelease(t, cc) },
			},
			{
				Name:      "status",
				Usage:     "who holds the issues of a bundle",
				ArgsUsage: "NAME [ISSUE...]",
				Description: "Its issues are those given, else those claimed on this machine, else the open ones of the repository that have its label." + cli.IssueForms +
					"   label-state bundle status checkout-v2\n   label-state bundle status checkout-v2 --repo acme/app --json",
				Flags:  cli.RepoFlags(),
				Action: func(cc *urfave.Context) error { return runBundleStatus(t, cc) },
			},
		},
	}
}

// A bundlePage is what this machine remembers of a bundle. It is written before the first claim.
type bundlePage struct {
	Codename string     `json:"codename"`
	Firing   string     `json:"firing_id"`
	Nonce    string     `json:"nonce,omitempty"` // of the process that claims it; absent from pages of older versions
	Begun    time.Time  `json:"begun"`           // by this machine's clock, for people
	Taken    bool       `json:"taken"`           // false: being claimed, or left by a run that was killed
	Host     string     `json:"host"`
	Issues   []string   `json:"issues"`
	Holds    []pageHold `json:"holds"`
}

func (p bundlePage) worker() claim.Worker {
	return claim.Worker{Codename: p.Codename, FiringID: p.Firing}
}

// token is the fencing token of the hold on an issue; 0 when it is not known.
func (p bundlePage) token(i claim.Issue) int64 {
	for _, h := range p.Holds {
		if h.Issue == i.String() {
			return h.Token
		}
	}
	return 0
}

// A pageHold is a hold as the trees of a feature are told of it.
type pageHold struct {
	Issue   string    `json:"issue"`
	Comment int64     `json:"comment"`
	URL     string    `json:"url"`
	Token   int64     `json:"token"`
	TTL     int64     `json:"ttl_seconds"`
	Until   time.Time `json:"until,omitzero"`
}

func bundleJournal(t cli.Terminal) (state.Journal[bundlePage], error) {
	dir, err := t.Env.StateDir()
	return state.OpenJournal[bundlePage](filepath.Join(dir, "bundles")), err
}

// A BundleView is the JSON of a bundle.
type BundleView struct {
	Bundle   string     `json:"bundle"`
	Answer   string     `json:"answer"`
	Codename string     `json:"codename,omitempty"`
	Firing   string     `json:"firing_id,omitempty"`
	Whole    bool       `json:"whole"`
	Issues   []PartView `json:"issues"`

	Code  answer.Code      `json:"code,omitempty"` // of an answer that is not yes
	Error string           `json:"error,omitempty"`
	Next  []answer.Command `json:"next,omitempty"`
}

// A PartView is the JSON of one issue of a bundle.
type PartView struct {
	Issue   string          `json:"issue"`
	Answer  string          `json:"answer"`
	Labels  []string        `json:"labels,omitempty"`
	Holder  string          `json:"holder,omitempty"`
	Until   string          `json:"until,omitempty"`
	Token   int64           `json:"token,omitempty"`
	URL     string          `json:"url,omitempty"`
	Reasons []answer.Reason `json:"reasons,omitempty"`
}

// A pack is a bundle in one command: a session for each of its repositories.
type pack struct {
	call  *cli.Call
	slug  string
	view  BundleView
	calls []*cli.Call // one for each issue, as they were named
}

// onBundle runs a verb on the bundle that the first argument names. Whatever goes wrong comes back
// as a
// *failure, and has been answered in JSON if that was asked for.
func onBundle(t cli.Terminal, cc *urfave.Context, do func(ctx context.Context, p *pack, refs []string) error) error {
	ctx, cancel := cli.Deadline(cc)
	defer cancel()
	p := &pack{call: &cli.Call{Flags: cc, Terminal: t}, slug: cc.Args().First()}
	defer func() {
		for _, c := range p.calls {
			c.Close()
		}
	}()
	p.view = BundleView{Bundle: cli.OneLine(p.slug), Issues: []PartView{}}
	err := labels.CheckSlug(p.slug)
	if err != nil {
		err = cli.Usagef(cli.CommandPath(cc), "bundle %s", err)
	} else {
		err = do(ctx, p, cc.Args().Tail())
	}

	if err == nil {
		return nil
	}
	err = p.call.Timed(ctx, err)
	if busy, is := errors.AsType[*state.BusyError](err); is {
		err = cli.Advise(err, answer.Call("wait until it has finished, then see what it did", "bundle status",
			busy.Name))
	}

	f := cli.ProblemOf(cli.At(cli.CommandPath(cc), cli.OneLine(p.slug), err))
	if p.call.Answered {
		return f
	}

	no := p.call.Negative(f)
	p.view.Answer, p.view.Error, p.view.Code, p.view.Next = string(no.Answer), no.Error, no.Code, no.Next
	if no, is := errors.AsType[*ledger.BundleError](err); is { // the issues that stood in the way
		p.view.Issues = nil
		for n, cause := range no.Causes {
			one := PartView{Issue: no.Issues[n].String(), Answer: "unknown"}
			var held *ledger.HeldError
			if errors.As(cause, &held) {
				one.Answer, one.Reasons = "held", trouble.Reasons(held.Verdict)
			}
			p.view.Issues = append(p.view.Issues, one)
		}
	}

	return errors.Join(f, p.call.AnswerJSON(p.view))
}

// gather opens a session for each reference; those of one repository share it.
func (p *pack) gather(ctx context.Context, refs []string, at string) error {
	for _, ref := range refs {
		o := cli.SetupOptions(p.call.Flags)
		o.Ref, o.Host, o.First.Late = ref, at, true // what a killed run left is undone first, by another client
		if c := p.known(ref); c != nil {
			p.calls = append(p.calls, c)
			continue
		}

		s, err := setup.Open(ctx, p.call.Terminal.Env, o)
		if err != nil {
			return err
		}

		p.calls = append(p.calls, &cli.Call{Flags: p.call.Flags, Terminal: p.call.Terminal, Session: s})
	}

	return nil
}

// known is a reference of a repository that has a session already.
func (p *pack) known(ref string) *cli.Call {
	if len(p.calls) == 0 {
		return nil
	}
	i, err := host.ParseIssue(ref, p.calls[0].Session.Defaults)
	if err != nil {
		return nil
	}

	for _, c := range p.calls {
		if strings.EqualFold(c.Session.Issue.Slug(), i.Slug()) {
			s := *c.Session
			s.Issue = i
			return &cli.Call{Flags: c.Flags, Terminal: c.Terminal, Session: &s}
		}
	}

	return nil
}
