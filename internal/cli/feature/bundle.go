// Package feature works on one feature in several repositories: bundle, worktree and chain.
package feature

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
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
)

// BundleName is which bundle a verb is about.
type BundleName struct {
	Name string `arg:"NAME" text:"name of the bundle, of a-z, 0-9 and -"`
}

type bundleClaimParams struct {
	BundleName
	Issues []string `arg:"ISSUE..." text:"each in a form that names an issue, such as owner/repo#7"`
	cli.Identity
	TTL time.Duration `flag:"ttl" text:"length of the leases, such as 2h (default: as configured)"`
	cli.Writing
}

// claimedBundle is a bundle that was claimed on this machine, and who did.
type claimedBundle struct {
	BundleName
	Codename string `flag:"codename" value:"NAME" text:"who claimed it (default: LABEL_STATE_CODENAME)"`
	FiringID string `flag:"firing-id" value:"ID" text:"run that claimed it; another run's bundle is left alone"`
}

type bundleRenewParams struct {
	claimedBundle
	cli.Rehearsal
	cli.Common
}

type bundleReleaseParams struct {
	claimedBundle
	Outcome string `flag:"outcome" value:"OUTCOME" text:"what came of the work (default: cancelled)" only:"success,failure,partial,no-commit,max-turns,error,rate-limit,worktree-failed,cancelled,already-implemented"`
	cli.Because
	cli.Rehearsal
	cli.Common
}

type bundleStatusParams struct {
	BundleName
	Issues []string `arg:"[ISSUE]..." text:"each in a form that names an issue, such as owner/repo#7"`
	cli.OneRepo
}

// Bundle are the verbs about several issues for one worker.
func Bundle() []cli.Verb {
	untrusted := "issues.labels issues.holder issues.reasons.text"
	return []cli.Verb{
		{Name: "bundle", Summary: "several issues for one worker: all or nothing"},
		cli.Do(cli.Verb{
			Name:    "bundle claim",
			Summary: "take every issue of the bundle, or none",
			About: "Everything is checked before the first write. If any issue cannot be taken, those already " +
				"taken are released with their labels as they were. " +
				"What a killed run left behind is released first. Holds are recorded in every worktree of the " +
				"feature that this folder belongs to.",
			Examples: "label-state bundle claim checkout-v2 acme/app#42 acme/web#7 --codename lucius\n" +
				"label-state bundle claim checkout-v2 42 acme/web#7 --dry-run\n",
			Tools: []cli.Tool{{
				Name:   "bundle_claim",
				Title:  "Claim several issues",
				Set:    cli.Bundle,
				Takes:  "name issues codename firing-id ttl repo",
				Worker: true,
				About: "Takes all of these issues or none: for work that belongs together, in one repository or " +
					"several. Answer no means that nothing was taken; result.issues says why. " +
					"Renew each of them; release them one by one as they are done, or what is left with bundle_release.",
				Untrusted: untrusted,
			}},
		}, claimBundle),
		cli.Do(cli.Verb{
			Name:    "bundle renew",
			Summary: "extend the lease of every issue of the bundle; exit 1 means stop work on those that are lost",
			About: "Of a bundle that was claimed on this machine. Holds that have ended already, as by a pull request, " +
				"are left alone.",
			Examples: "label-state bundle renew checkout-v2\n",
		}, renewBundle),
		cli.Do(cli.Verb{
			Name:    "bundle release",
			Summary: "release every issue of the bundle",
			About: "Of a bundle that was claimed on this machine. Holds that have ended already, as by a pull request, are left alone. " +
				"With --codename, only what that worker claimed is released.",
			Examples: "label-state bundle release checkout-v2 --outcome failure --reason 'no API'\n",
			Tools: []cli.Tool{{
				Name:     "bundle_release",
				Title:    "Release a bundle",
				Set:      cli.Bundle,
				Takes:    "name codename outcome reason",
				Worker:   true,
				Destroys: true,
				Repeats:  true,
				About: "Ends every hold of a bundle that you claimed on this machine. Holds that you have ended already are left alone. " +
					"Answer no means that one was lost before, or is another login's: result.issues says which. The others are released.",
				Untrusted: untrusted,
			}},
		}, releaseBundle),
		cli.Do(cli.Verb{
			Name:    "bundle status",
			Summary: "who holds the issues of a bundle",
			About:   "Its issues are those given, else those claimed on this machine, else the open ones of the repository that have its label.",
			Examples: "label-state bundle status checkout-v2\n" +
				"label-state bundle status checkout-v2 --repo acme/app --json\n",
			Tools: []cli.Tool{{
				Name:  "bundle_status",
				Title: "Who holds a bundle",
				Set:   cli.Bundle,
				Takes: "name issues repo",
				Reads: true,
				About: "Shows who holds each issue of a bundle, and whether one worker holds all of it. " +
					"Without issues, they are those claimed on this machine, else the open ones of the repository that have the bundle's label.",
				Untrusted: untrusted,
			}},
		}, showBundle),
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
		if strings.EqualFold(h.Issue, i.String()) {
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
	Title   string    `json:"-"` // of the issue
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
	Yours    bool       `json:"yours,omitempty"` // the one who asks had claimed it before it asked
	Whole    bool       `json:"whole"`
	Issues   []PartView `json:"issues"`

	cli.WithWarnings
	cli.Negative
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
	*cli.Call
	slug  string
	view  BundleView
	calls []*cli.Call // one for each issue, as they were named

	outcome, reason string // of a release
}

// onBundle carries a verb out on the bundle of that name, of issues where the call names them. The
// JSON of a no has the issues that stood in the way.
func onBundle(c *cli.Call, slug string, issues []string, do func(p *pack) error) error {
	p := &pack{Call: c, slug: slug, view: BundleView{Bundle: cli.OneLine(slug), Issues: []PartView{}}}
	defer p.close()
	c.Subject = answer.Answer{Feature: cli.OneLine(slug)}
	named := append([]string{slug}, issues...)
	if slices.ContainsFunc(issues, func(ref string) bool { return cli.WithoutURL(ref) == "" }) {
		named = named[:1] // a part of them would be taken for the whole
	}
	c.Stands = answer.Call("see its state", "bundle status", named...)
	c.No = p.no
	if err := labels.CheckSlug(slug); err != nil {
		return c.Usagef("bundle %s", err)
	}

	err := do(p)
	if busy, is := errors.AsType[*state.BusyError](err); is {
		err = cli.Advise(err, answer.Call("wait until it has finished, then see what it did", "bundle status",
			busy.Name))
	}

	return err
}

// close ends the sessions.
func (p *pack) close() {
	for _, one := range p.calls {
		one.Close()
	}
}

// no is the view with what a negative answer says.
func (p *pack) no(a answer.Answer, err error) any {
	p.view.Answer, p.view.Negative = string(a.Answer), cli.No(a)
	no, is := errors.AsType[*ledger.BundleError](err)
	if !is {
		return &p.view
	}

	p.view.Issues = nil
	for n, cause := range no.Causes {
		one := PartView{Issue: no.Issues[n].String(), Answer: "unknown"}
		var held *ledger.HeldError
		if errors.As(cause, &held) {
			one.Answer, one.Reasons = "held", trouble.Reasons(held.Verdict)
		}
		p.view.Issues = append(p.view.Issues, one)
	}

	return &p.view
}

// gather opens a session for each reference; those of one repository share it. Its error is that of
// every reference for which there is none; what is wrong with one configuration is said once.
func (p *pack) gather(ctx context.Context, refs []string, at string) error {
	var wrong []error
	for _, ref := range refs {
		c := p.known(ref)
		if c == nil {
			c = p.Part()
			o := p.Options()
			o.Ref, o.Host, o.First.Late = ref, at, true // what a killed run left is undone first, by another client
			if err := c.Open(ctx, o); err != nil {
				if !slices.ContainsFunc(wrong, func(said error) bool { return cli.SameConfiguration(said, err) }) {
					wrong = append(wrong, err)
				}
				continue
			}
		}

		p.calls = append(p.calls, c)
	}

	return errors.Join(wrong...)
}

// part is the call for another issue of a session's repository.
func (p *pack) part(s setup.Session, i claim.Issue) *cli.Call {
	c := p.Part()
	s.Issue = i
	c.Session = &s
	return c
}

// ofBundle is the issue of a call as a part of the bundle.
func ofBundle(c *cli.Call) ledger.Part {
	return ledger.Part{Issue: c.Session.Issue, Ledger: c.Session.Ledger}
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
			return p.part(*c.Session, i)
		}
	}

	return nil
}
